"""Is the final answer correct? Extraction, comparison, and a Score that states what was compared and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple, get_args

from grpo_env.core import Case, Completion, Example, Format, Score, Status, Verifier
from grpo_env.errors import UsageError
from grpo_env.killable_worker import START_TIMEOUT
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier

from .answer_text import check_sources
from .answers.algebra import DeadlineError, TimeLimit, UnreadableError, formula_problem
from .answers.amounts import change, points, variance
from .answers.arrangements import acidity, by_how_much, dose
from .answers.asked import value_asked
from .answers.brackets import items
from .answers.codes import MAX_LENGTH as MAX_CODE
from .answers.codes import plain
from .answers.compare import Notation, Percent, Rules, Verdict, compare
from .answers.dates import Date
from .answers.definitions import written_out
from .answers.equivalents import Form, Forms, forms, has_same_form, money, radix, spoken_hour
from .answers.extract import (
    SOURCES,
    ExtractedAnswer,
    Source,
    final_answer,
    uses_commas,
    uses_other_language,
    values_at_end,
)
from .answers.frequency import how_often
from .answers.hedging import hedging, is_relative, unevaluated, without_reason
from .answers.hypotheses import distribution
from .answers.intervals import INFINITIES
from .answers.json_value import text_list
from .answers.kinds import Kind, gold_answers, is_text, read_as, read_gold
from .answers.logic import Logic, read_logic, same_logic
from .answers.normal import normal, same_text
from .answers.notation import as_tuple, brackets_may_be_left_out, is_one_of_choices, relations
from .answers.number import Number, OverLimitError
from .answers.parse import MAX_LENGTH, as_set, exact_part, parse, parse_list
from .answers.parsed import Code, Formula, Group, JsonText, ParsedAnswer, Words
from .answers.qualified import qualified
from .answers.rewordings import (
    in_text,
    is_below_zero,
    may_have_other_form,
    part_of_gold,
    rewordings,
    same_numeral,
    shorter_gold,
)
from .answers.sentences import stated
from .answers.structures import by_structure, is_structure, may_have_structure
from .answers.translated import (
    blanks,
    fills_blanks,
    has_magnitude,
    in_english,
    is_date,
    may_be_translated,
    only_in_english,
    unit_in_english,
    whole_amount,
    with_part_of_day,
)
from .answers.units import is_measure, read_unit

Golds = Literal["one", "any", "all"]
Unevaluated = Literal["wrong", "correct"]
Brackets = Literal["optional", "required"]

_AS_TEXT = (Code, Date, JsonText)  # what is compared as it is written
_AS_WRITTEN = ("date", "time", "code", "json")
_SEPARATOR = lazy_compile(r"\d[.,]\d")
_TIME_WITH_POINT = lazy_compile(r"(?:0\d|1[3-9]|2[0-3])\.[0-5]\d")  # no number is written like the first
_AMOUNT = lazy_compile(r"-?\d[\d.,]* ?(?:[A-Za-z]{1,12}(?:[/^][a-z\d]{1,4})?|[%°]C?)?")
_NO_UNITS = frozenset("in as at am pm ms an on".split())  # noqa: SIM905  (words, right behind a box)
_DIGITS = "-0123456789,."
MAX_ANSWERS = 20
MAX_JOINED = 160  # characters of a gold answer that may be a list in another language
MAX_SHOWN = 300  # characters of an answer in a score
GOLD_TIMEOUT = 5.0  # seconds to read a gold answer at least, which is done once


class _UndecidedError(UnreadableError):
    """The gold answer can only be compared as a text, and the texts differ."""


@verifier("accuracy")
@dataclass(frozen=True)
class Accuracy(Verifier):
    r"""1 if the completion's final answer equals the gold answer, else 0.

    ``answers.extract`` lists where the final answer is looked for, ``answers.compare`` what counts as equal: exact
    values, never an absolute tolerance. The gold answer may be bare (``\frac12``, ``$18``), in dollars, boxed, or a
    worked solution that ends in ``#### 18`` or has one box; if it cannot be read the score is *unscored* with status
    ``bad_gold``. A missing answer, one that is too large and one that takes longer than ``timeout`` score 0, with a
    status of their own.

    Source: TRL's ``accuracy_reward`` and others built on math-verify. There: values are rounded to six decimals
    (3.14159265 is pi, and 10^-20 is 10^-18), ``2+2`` is 4, ``not \boxed{4}`` and a box inside the reasoning count, a
    bare gold ``\frac12`` or ``(1,2)`` cannot be read, hostile answers take seconds, and the signal that ends them
    raises outside of the main thread. Here: exact values, one final answer, gold answers that are read or reported, and
    a process that can be killed.
    """

    format: Format = field(default_factory=Format)
    rel_tol: float | None = None
    """Numbers are equal if they differ by at most this fraction of the larger one (0 to 1); formulas stay exact."""
    decimals: int | None = None
    """Numbers are equal if both round to the same value at this many decimals (0 to 100), ties in either direction."""
    percent: Percent = "equal"
    """``equal``: 50%, 0.5 and 1/2 are one value. ``strict``: 50% is 50, the sign left out, and never 0.5."""
    ignore_case: bool = True
    """Whether upper and lower case are the same in answers in words, in choice letters and in most codes."""
    unevaluated: Unevaluated = "wrong"
    """Whether 2+2, a sum, integral, limit or gcd is ``wrong`` or ``correct`` where the gold answer is its value."""
    notation: Notation = "flexible"
    r"""Whether degrees for radians, ``b >= a`` for ``a <= b``, ``x=2, y=-1`` for ``(2,-1)``, ``\{5\}`` for 5, "a
    parabola" for "parabola", 1.5 days for 36 hours and XIV for 14 are equal (``flexible``), or have to be written like
    the gold answer (``strict``)."""
    brackets: Brackets = "optional"
    """Whether ``5, 12, 13`` is correct for the tuple ``(5,12,13)``. Pairs that may be intervals need theirs anyway."""
    golds: Golds = "one"
    """``any`` or ``all`` of a JSON list (``{{ answers | tojson }}``) that is the gold answer then, or ``one``."""
    kind: Kind | None = None
    """What the gold answers are: ``number``, ``formula``, ``set`` (or interval), ``tuple``, ``words``, ``choice``,
    ``date``, ``time``, ``code`` or ``json``. By default each gold answer decides."""
    sources: tuple[Source, ...] = SOURCES
    """Where a final answer is looked for; the first one present decides. ``[boxed]`` reads boxes and nothing else."""
    timeout: float = 1.0
    """Seconds of processor time that computer algebra may take for the answer; by the clock five times as long."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>9 * 2</think> So it is \\boxed{18 dollars}.", 1.0, "a unit may be left out", "18"),
        Case("The answer is 0.5.", 1.0, "exact values are compared, not texts", "\\frac12"),
        Case("<answer>x < 2</answer>", 1.0, "an inequality is its interval", "(-\\infty, 2)"),
        Case("\\boxed{(x-2)(x-3)}", 1.0, "polynomials, expanded or factored", "x^2-5x+6"),
        Case("\\boxed{3.14}", 1.0, "rounding, if the task allows it", "\\pi", options={"decimals": 2}),
        Case("\\boxed{0.333333}", 0.0, "rounded", "1/3"),
        Case("\\boxed{12 m}", 0.0, "a different unit", "12 cm"),
        Case("\\boxed{16, 17 or 18}", 0.0, "a list that contains the gold answer", "18"),
        Case("\\boxed{2+2}", 0.0, "the question instead of its answer", "4"),
        Case("<think>\\boxed{18}", 0.0, "no answer, since the reasoning is not closed", "18"),
    )

    def __post_init__(self) -> None:
        if self.rel_tol is not None and not 0 <= self.rel_tol < 1:
            raise UsageError(f"accuracy: rel_tol: {self.rel_tol:g} is not between 0 and 1")
        if self.decimals is not None and not 0 <= self.decimals <= 100:
            raise UsageError(f"accuracy: decimals: {self.decimals} is not between 0 and 100")
        if self.rel_tol is not None and self.decimals is not None:
            raise UsageError("accuracy: set rel_tol or decimals, not both")
        if self.timeout <= 0:
            raise UsageError(f"accuracy: timeout: {self.timeout:g} seconds is not more than 0")
        check_sources("accuracy", self.sources)
        for name, value, known in (
            ("unevaluated", self.unevaluated, Unevaluated),
            ("golds", self.golds, Golds),
            ("kind", self.kind or "number", Kind),
            ("percent", self.percent, Percent),
            ("notation", self.notation, Notation),
            ("brackets", self.brackets, Brackets),
        ):
            if value not in get_args(known):
                raise UsageError(f"accuracy: {name}: {value!r} is not one of {', '.join(get_args(known))}")

    @property
    def default_deadline(self) -> float:
        return 2 * START_TIMEOUT + 20 * max(self.timeout, GOLD_TIMEOUT)  # computer algebra may start twice

    def __call__(self, example: Example, completion: Completion) -> Score:
        golds, problem = self._golds(example)
        if problem:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        final = final_answer(self.format, completion, self.sources)
        status: Status = "scored"
        value: float | None = 0.0
        if not final.answers:
            status, why = "no_answer", final.reason
        elif final.denied:
            why = f"{final.source}: denied"
        else:
            time = TimeLimit(self.timeout, total=self.timeout)
            rules = Rules(self.rel_tol or None, self.decimals, self.percent, self.ignore_case, self.notation, time)
            try:
                verdict = self._verdict_of(golds, final, rules)
                value, why = float(verdict.correct), f"{final.source}: {verdict.reason}"
            except _UndecidedError as error:
                value, status, why = None, "bad_gold", str(error)
            except UnreadableError:
                why = f"{final.source}: the answer cannot be read as mathematics"
            except OverLimitError as error:
                status, why = "over_limit", f"{final.source}: {error}"
            except DeadlineError:
                status, why = "timeout", f"{final.source}: no verdict within {self.timeout:g} s"
        answer = _shown(final.answers) if final.answers else None
        gold = _shown([gold.answer.text for gold in golds if not gold.is_translated])
        return Score(value, status, answer=answer, gold=gold, kind=golds[0].kind, explanation=why)

    def problem(self, example: Example) -> str | None:
        return self._golds(example)[1] or None

    def _golds(self, example: Example) -> tuple[tuple[Gold, ...], str]:
        return _parse_golds(example.answer, self.golds, self.kind, max(self.timeout, GOLD_TIMEOUT))

    def _verdict_of(self, golds: Sequence[Gold], final: ExtractedAnswer, rules: Rules) -> Verdict:
        """The verdict on an extracted answer or, if that is not right, on the object or sentence that it stands in."""
        failure: UnreadableError | None = None
        if fills_blanks(final.text) and _fills_blanks_otherwise(golds, final.answers):
            return Verdict(False, "several different answers")
        if any(map(may_be_translated, final.answers)):
            final = final._replace(answers=tuple(whole_amount(answer) or answer for answer in final.answers))
        try:
            verdict = self._verdict(golds, final.answers, rules)
        except UnreadableError as error:
            verdict, failure = Verdict(False, "different words"), error
        if final.unit and (other := self._with_unit_behind(golds, final, rules)):
            verdict = other
        if verdict.correct:
            return verdict
        if final.whole and golds[0].kind == "json":
            return self._verdict(golds, [final.whole], rules)
        is_marked = final.source not in ("last_line", "last_number") or final.is_all
        if is_marked and len(final.answers) == 1 and " " in final.answers[0]:
            for gold in golds:
                for said in stated(gold.answer.text, gold.kind, in_text(final.answers[0]) or final.answers[0]):
                    if (other := self._accepted(gold, said, rules)) is not None:
                        return other
        if other := self._translated(golds, final, rules, is_marked):
            return other
        if len(final.answers) == 1 and len(golds) == 1 and isinstance(golds[0].answer.content, Formula):
            full = written_out(normal(final.answers[0]), golds[0].answer.text, final.text)
            if full and (other := self._accepted(golds[0], full, rules)):
                return other
        if failure:
            raise failure
        return verdict

    def _translated(
        self, golds: Sequence[Gold], final: ExtractedAnswer, rules: Rules, is_marked: bool
    ) -> Verdict | None:
        """The verdict on an answer in another language that is right in English, or as the end of its sentence."""
        if len(final.answers) != 1 or not may_be_translated(final.answers[0], final.text):
            return None
        answer = final.answers[0]
        texts = [answer]
        if is_marked and uses_other_language(final.text):
            texts += values_at_end(answer, without_unit=not any(map(_may_have_unit, golds)))
        if time := _with_part_of_day(final):
            texts.append(time)
        if final.source in ("phrase", "last_line") and (filled := blanks(final.text)):
            texts.append(filled)
        commas = _SEPARATOR.search(answer) is not None and uses_commas(final.text)
        for text in texts:
            reading = in_english(text, commas, commas) if self.kind is None else None
            if reading and is_date(reading) and all(gold.kind == "number" for gold in golds):
                return None
            is_more = reading is not None and has_magnitude(text)
            for other in (reading, reading if is_more else whole_amount(text) or text):
                if other and other != answer and (verdict := self._first_accepted(golds, other, rules)):
                    return verdict
                if other and (verdict := self._as_time(golds, other, final.text, rules)):
                    return verdict
            if _AMOUNT.fullmatch(reading or "") or _has_measure(text):
                return None
        return None

    def _as_time(self, golds: Sequence[Gold], text: str, all_text: str, rules: Rules) -> Verdict | None:
        """The verdict on a time if it is that of a gold answer with a point, ``14.30``, in another language."""
        if ":" not in text or not _TIME_WITH_POINT.fullmatch(golds[0].answer.text) or not uses_other_language(all_text):
            return None
        return self._accepted(Gold(*read_gold(golds[0].answer.text.replace(".", ":"), None)), normal(text), rules)

    def _with_unit_behind(self, golds: Sequence[Gold], final: ExtractedAnswer, rules: Rules) -> Verdict | None:
        """The verdict on a box with a number and the unit behind it, if any: ``\\boxed{45}`` radians for 45°."""
        if not final.unit or len(final.answers) != 1 or rules.notation == "strict":
            return None
        number = parse(final.answers[0]).content
        unit = unit_in_english(final.unit) or _measure(final.unit)
        if not isinstance(number, Number) or number.unit or unit is None or not any(map(_may_have_unit, golds)):
            return None
        return self._first_accepted(golds, f"{final.answers[0]} {unit}", rules) or Verdict(False, "a different unit")

    def _first_accepted(self, golds: Sequence[Gold], text: str, rules: Rules) -> Verdict | None:
        """The verdict by the first gold answer that accepts a text."""
        return next((verdict for gold in golds if (verdict := self._accepted(gold, text, rules))), None)

    def _verdict(self, golds: Sequence[Gold], answers: Sequence[str], rules: Rules) -> Verdict:
        """The verdict by the first gold answer that accepts the answers, or by the last one."""
        if len(golds) == 1:
            return self._verdict_by(golds[0], answers, rules)
        verdict, failure = None, None
        for gold in golds:
            try:
                of_gold = self._verdict_by(gold, answers, rules)
                verdict = of_gold if of_gold.correct or not (verdict and gold.is_translated) else verdict
            except (DeadlineError, OverLimitError, UnreadableError) as error:
                failure = failure if isinstance(failure, _UndecidedError) else error
            if verdict and verdict.correct:
                return verdict
        if failure:
            raise failure
        assert verdict is not None
        return verdict

    def _verdict_by(self, gold: Gold, answers: Sequence[str], rules: Rules) -> Verdict:
        """The verdict by one gold answer. Several answers have to be equal to it each, or together as a group."""
        if len(answers) == 1:
            return self._verdict_on(gold, answers[0], rules)
        if len(answers) > MAX_ANSWERS:
            return Verdict(False, "several different answers")
        if sum(map(len, answers)) > MAX_LENGTH:
            raise OverLimitError(f"{len(answers)} answers of {sum(map(len, answers))} characters are too long")
        verdicts = [self._verdict_on(gold, answer, rules) for answer in answers]
        if all(verdict.correct for verdict in verdicts):
            return verdicts[0]
        joined = ", ".join(answers)
        if isinstance(gold.answer.content, Group) and isinstance(parse(joined).content, Group):
            verdict = self._compare(gold, joined, rules)
            if verdict.correct:
                return verdict
        return Verdict(False, "several different answers")

    def _verdict_on(self, gold: Gold, text: str, rules: Rules) -> Verdict:
        """The verdict on one answer as it stands or, if that is not right, in another form of the same."""
        if gold.logic:
            return _by_logic(gold, gold.logic, text)
        try:
            verdict = self._compare(gold, text, rules)
        except UnreadableError:
            if other := self._in_other_words(gold, text, rules):
                return other
            raise
        if verdict.correct or verdict.reason == "not evaluated" or gold.has_no_other_form(text):
            return verdict
        return self._in_other_words(gold, text, rules) or verdict

    def _in_other_words(self, gold: Gold, text: str, rules: Rules) -> Verdict | None:
        """That an answer is right in another form, or without its label, gloss or sentence; else ``None``."""
        if gold.has_structure and (verdict := by_structure(gold.answer.text, text, rules)):
            return verdict
        bracketed = gold.kind == "number" and is_below_zero(text)
        if gold.forms and not bracketed and len(text) <= MAX_CODE and has_same_form(gold.forms, plain(text)):
            return Verdict(True, "the same code")
        if rules.notation == "flexible" and same_numeral(gold.answer.text, text):
            return Verdict(True, "the same number")
        if gold.kind == "set" and self.brackets == "optional" and (listed := _in_square_brackets(gold.answer, text)):
            verdict = compare(*listed, rules)
            return verdict if verdict.correct else None
        if inner := in_text(text):
            verdict = self._verdict_on(gold, inner, rules)
            return verdict if verdict.correct else None
        for other in rewordings(gold.answer.text, gold.kind, text):
            if (gold.forms and has_same_form(gold.forms, plain(other))) or self._accepts(gold, other, rules):
                return Verdict(True, "the same words" if gold.kind == "words" else "the same text")
        if part := part_of_gold(gold.answer.text, gold.kind, text):
            verdict = self._verdict_on(Gold(*read_gold(part, None)), text, rules)
            return verdict if verdict.correct else None
        if gold.kind == "words" and (shorter := shorter_gold(gold.answer.text, text)):
            verdict = self._compare(gold._replace(answer=ParsedAnswer(shorter, Words(shorter))), text, rules)
            return verdict if verdict.correct else None
        return None

    def _accepted(self, gold: Gold, text: str, rules: Rules) -> Verdict | None:
        """The verdict on one answer if it is right."""
        try:
            verdict = self._verdict_on(gold, text, rules)
        except (OverLimitError, UnreadableError):
            return None
        return verdict if verdict.correct else None

    def _accepts(self, gold: Gold, text: str, rules: Rules) -> bool:
        try:
            return self._compare(gold, text, rules).correct
        except (OverLimitError, UnreadableError):
            return False

    def _compare(self, by: Gold, text: str, rules: Rules) -> Verdict:
        """The verdict on one answer, with what makes it wrong whatever its value: ``2+2`` for 4, ``4 or 5``."""
        gold = by.answer
        if by.kind == "number" and self.kind is None and not by.spelling:
            answer = parse(text)
            both_numbers = isinstance(gold.content, Number) and isinstance(answer.content, Number)
            if both_numbers and (text.isdecimal() or not is_relative(gold.text, answer.text)):
                return compare(gold, answer, rules)
        elif isinstance(gold.content, _AS_TEXT):
            if by.spelling and same_text(normal(text), by.spelling):
                return Verdict(True, "the same text")
            return compare(gold, ParsedAnswer(text, Words(text)), rules)
        if by.unreadable or by.spelling:
            spelling = normal(text)
            if same_text(spelling, by.spelling or by.answer.text):
                return Verdict(True, "the same text")
            if by.unreadable and not hedging(by.answer.text, spelling):
                raise _UndecidedError("gold", f"the gold answer: {by.unreadable}, and the texts differ")
            text = exact_part(spelling)
        elif by.kind == "words":
            text = without_reason(gold.text, text)
        answer = read_as(by.kind, text, self.kind is not None)
        if self.brackets == "optional" and brackets_may_be_left_out(gold):
            assert isinstance(gold.content, Group)
            answer = as_tuple(answer, gold.content.kind) or answer
        if self.golds == "all" and isinstance(gold.content, Group) and not isinstance(answer.content, Group):
            answer = parse_list(text)
        if is_relative(gold.text, answer.text):
            return Verdict(False, "a range")
        if is_one_of_choices(gold, answer):
            return Verdict(False, "hedged")
        try:
            verdict = compare(gold, answer, rules)
        except UnreadableError:
            if reason := hedging(gold.text, answer.text):
                return Verdict(False, reason)
            raise
        if isinstance(answer.content, Number):
            return verdict
        if verdict.correct:
            not_evaluated = self.unevaluated == "wrong" and unevaluated(gold, answer)
            return Verdict(False, "not evaluated") if not_evaluated else verdict
        reason = hedging(gold.text, answer.text)
        return Verdict(False, reason) if reason else verdict


def _has_measure(text: str) -> bool:
    """Whether a text is a number with a unit of measure, so that no less of it may be read."""
    try:
        number = parse(text).content
    except OverLimitError:
        return True
    return isinstance(number, Number) and any(is_measure(name) for name, _ in number.unit)


def _with_part_of_day(final: ExtractedAnswer) -> str | None:
    """A time in a box in English with what stands beside the box: ``\\boxed{8:45}`` (上午)."""
    if final.source != "boxed" or ":" not in final.answers[0]:
        return None
    start = final.text.rfind("\\boxed", 0, final.end)
    return with_part_of_day(
        final.text[max(0, start - 20) : start], final.answers[0], final.text[final.end : final.end + 40]
    )


def _fills_blanks_otherwise(golds: Sequence[Gold], answers: Sequence[str]) -> bool:
    """Whether answers, of which one may be a list, are those of a gold answer in another order."""
    if len(answers) == 1:
        answers = items(answers[0])
    parts = items(golds[0].answer.text)
    return len(parts) == len(answers) > 1 and any(
        not same_text(normal(part), normal(answer)) and any(same_text(normal(part), normal(other)) for other in answers)
        for part, answer in zip(parts, answers, strict=True)
    )


def _may_have_unit(gold: Gold) -> bool:
    """Whether a gold answer is more than a number without a unit."""
    return not isinstance(gold.answer.content, Number) or bool(gold.answer.content.unit)


def _measure(text: str) -> str | None:
    """The unit of measure that a text begins with, in letters that can be no other word: ``km``, ``radians``."""
    word = re.split(r"[.,;:!?)]", text)[0]
    names = read_unit(f" {word}", 0) if word not in _NO_UNITS else None
    return word if names and (len(word) > 1 or word in "mghL") and all(is_measure(name) for name, _ in names) else None


def _by_logic(gold: Gold, formula: Logic, text: str) -> Verdict:
    """The verdict on one answer where the gold answer is a formula of logic."""
    if same_text(normal(text), normal(gold.answer.text)):
        return Verdict(True, "the same text")
    for other in (text, in_text(text) or "", *rewordings(gold.answer.text, gold.kind, text)):
        if (same := same_logic(formula, other)) is not None:
            return Verdict(same, "equal by algebra" if same else "not equal by algebra")
    return Verdict(False, "not equal by algebra")


def _shown(texts: Sequence[str]) -> str:
    """Texts as a score shows them."""
    return (texts[0] if len(texts) == 1 else " | ".join(texts[:MAX_ANSWERS]))[:MAX_SHOWN]


class Gold(NamedTuple):
    r"""A gold answer and its kind.

    ``spelling`` is all of ``exact \approx decimal`` or ``f' = value``, of which the answer is a part. ``unreadable`` is
    why a formula can only be compared as a text. ``forms`` are those of ``equivalents`` that it has, ``has_structure``
    whether it may be one of ``structures``. ``logic`` is a formula of logic, which is compared as such only.
    """

    answer: ParsedAnswer
    kind: Kind
    spelling: str = ""
    unreadable: str = ""
    forms: Forms = ()
    logic: Logic | None = None
    has_structure: bool = False
    is_translated: bool = False

    @property
    def is_in_digits(self) -> bool:
        """Whether it is a number such as -12 or 3,456.7."""
        return self.kind == "number" and not self.answer.text.strip(_DIGITS)

    def has_no_other_form(self, text: str) -> bool:
        """Whether it is a number in digits and a text that differs is not the same in other words."""
        if not self.is_in_digits:
            return False
        return not text.strip(_DIGITS) or (self.answer.text.isdecimal() and not may_have_other_form(text))


def _in_square_brackets(gold: ParsedAnswer, text: str) -> tuple[ParsedAnswer, ParsedAnswer] | None:
    """A gold answer ``2, 3, 5`` and an answer ``[2, 3, 5]`` in the same brackets, unless these may be an interval."""
    if not text.lstrip(" $\\").startswith("[") or (one := as_tuple(gold, "[]")) is None:
        return None
    try:
        answer = parse(text)
    except OverLimitError:
        return None
    return (one, answer) if brackets_may_be_left_out(answer) else None


@lru_cache(maxsize=16384)
def _parse_golds(text: str | None, golds: Golds, kind: Kind | None, timeout: float) -> tuple[tuple[Gold, ...], str]:
    """The gold answers to compare with, or none and the reason."""
    if text is None or not text.strip():
        return (), "the gold answer is missing"
    texts = [text] if golds == "one" else text_list(text)
    if not texts:
        return (), f"golds: {golds} needs a JSON list of texts or numbers as the gold answer, not {text[:60]!r}"
    answers = []
    for gold in texts:
        try:
            joined = only_in_english(gold) if kind is None and len(gold) <= MAX_JOINED else None
            parsed = _parse_gold(joined or gold, kind, timeout)
            if not parsed.is_in_digits:
                structure = parsed.kind not in _AS_WRITTEN and may_have_structure(parsed.answer.text)
                parsed = parsed._replace(has_structure=structure, forms=_forms(parsed))
            answers.append(parsed)
        except (ValueError, UnreadableError, DeadlineError) as error:
            return (), f"the gold answer {gold[:60]!r}: {error}"
    if golds != "all" and kind is None:
        answers += [translated for text in texts for translated in _translated_gold(text, timeout)]
    if golds == "all" and (unreadable := [gold.unreadable for gold in answers if gold.unreadable]):
        return (), unreadable[0]
    if golds == "all" and len(answers) > 1:
        answers = [Gold(as_set(tuple(gold.answer for gold in answers)), "set")]
    return tuple(answers), ""


def _translated_gold(text: str, timeout: float) -> list[Gold]:
    """A gold answer in another language as it is written in English, beside the one that it is as it stands."""
    answers = gold_answers(text)
    may_be_foreign = len(answers) == 1 and may_be_translated(answers[0])
    english = in_english(answers[0], comma=True) if may_be_foreign else None
    if english is None:
        return []
    try:
        gold = _parse_gold(english, None, timeout)
    except (ValueError, UnreadableError, DeadlineError):
        return []
    structure = gold.kind not in _AS_WRITTEN and may_have_structure(gold.answer.text)
    return [gold._replace(is_translated=True, has_structure=structure, forms=() if gold.is_in_digits else _forms(gold))]


def _forms(gold: Gold) -> Forms:
    """The fixed forms of a gold answer. Of a number only those that a number may have."""
    text = plain(gold.answer.text)
    if gold.kind != "number":
        return forms(text)
    readers: tuple[Form, ...] = (change,) if "%" in text or "cent" in text else (how_often,) if "times" in text else ()
    readers += (spoken_hour,) if ":" in text else (money,)
    readers += (qualified,) if re.search(r"[a-z]{3}", text) else ()
    readers += (variance,) if re.search(r"avou?r|adverse|[UF]\Z", text) else ()
    readers += (distribution,) if "distribut" in text else ()
    readers += (points,) if "point" in text or "bp" in text else (radix,) if "_" in text else ()
    readers += (acidity,) if "pH" in text else (dose, by_how_much) if text.count(" ") > 1 else ()
    return tuple((reader, value) for reader in readers if (value := reader(text)))


def _parse_gold(text: str, kind: Kind | None, timeout: float) -> Gold:
    """The gold answer in a data set's text, which may be a solution. Raises ``ValueError`` with what is wrong."""
    answers = gold_answers(text)
    if not answers:
        raise ValueError("it is empty")
    if kind in (None, "formula") and (logic := read_logic(answers[0])):
        return Gold(ParsedAnswer(answers[0], Formula(answers[0])), "formula", logic=logic)
    spelling = normal(answers[0]) if "approx" in answers[0] or "≈" in answers[0] else ""
    try:
        gold, gold_kind = read_gold(exact_part(spelling) or answers[0], kind)
    except OverLimitError as error:
        return _only_text(answers[0], str(error))
    rules = Rules(time=TimeLimit(timeout))
    if not all(compare(gold, read_as(gold_kind, other, kind is not None), rules).correct for other in answers[1:]):
        raise ValueError(f"{len(answers)} different answers")
    for formula in gold.formulas():
        if formula.text in INFINITIES:
            continue
        chain = relations(formula.text)
        problems = [formula_problem(side, timeout) for side in (chain.sides if chain else [formula.text])]
        if problem := next(filter(None, problems), None):
            if kind is None and is_text(answers[0]):
                return Gold(*read_gold(answers[0], "code"))
            if is_structure(gold.text):
                break
            if len(items(gold.text)) == 1 and (value := value_asked(gold.text)):
                return _parse_gold(value, kind, timeout)._replace(spelling=gold.text)
            return _only_text(answers[0], problem)
    return Gold(gold, gold_kind, spelling)


def _only_text(text: str, problem: str) -> Gold:
    """A formula that can only be compared as a text. Raises ``ValueError`` if its braces are not closed."""
    spelling = normal(text)
    if len(re.findall(r"(?<!\\)\{", spelling)) != len(re.findall(r"(?<!\\)\}", spelling)):
        raise ValueError("its braces are not closed")
    return Gold(ParsedAnswer(spelling, Formula(spelling)), "formula", unreadable=problem)
