"""Is the final answer correct? Extraction, comparison, and a Score that states what was compared and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from grpo_env.core import Case, Completion, Example, Format, Score, Status, Verifier
from grpo_env.errors import UsageError
from grpo_env.killable_worker import START_TIMEOUT
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier

from .answer_text import check_sources
from .answers.codes.spelling import MAX_LENGTH as MAX_CODE
from .answers.codes.spelling import plain
from .answers.compare import Notation, Percent, Rules, Verdict, compare
from .answers.equivalents import has_same_form
from .answers.extract import (
    SOURCES,
    ExtractedAnswer,
    Source,
    final_answer,
    uses_other_language,
)
from .answers.formulas.algebra import DeadlineError, TimeLimit, UnreadableError
from .answers.formulas.definitions import written_out
from .answers.gold import Gold, Golds, read_golds
from .answers.hedging import hedging, is_relative, unevaluated, without_reason
from .answers.kinds import Kind, read_as, read_gold
from .answers.languages.translated import day_first, is_date, may_be_translated, unit_in_english, whole_amount
from .answers.notation import as_tuple, brackets_may_be_left_out, is_one_of_choices
from .answers.parse import MAX_LENGTH, exact_part, parse, parse_list
from .answers.parsed import Code, Formula, Group, JsonText, ParsedAnswer, Words
from .answers.quantities.number import Number, OverLimitError
from .answers.quantities.units import factor_at_start, measure_at_start
from .answers.rewordings import (
    in_text,
    is_below_zero,
    part_of_gold,
    rewordings,
    same_numeral,
    shorter_gold,
)
from .answers.rewordings.at_end import said_at_end
from .answers.rewordings.in_english import fills_blanks_otherwise, is_day_first, readings
from .answers.rewordings.sentences import stated
from .answers.sciences.logic import same_logic
from .answers.sciences.logic_reader import Logic
from .answers.spelling.normal import normal, same_text
from .answers.structures import by_structure
from .answers.times.dates import Date
from .answers.words.sequences import is_in_another_order
from .options import Named, named_options

Unevaluated = Literal["wrong", "correct"]
Brackets = Literal["optional", "required"]

_AS_TEXT = (Code, Date, JsonText)  # what is compared as it is written
_LETTERS = "ABCDEFGHIJ"
_TIME_WITH_POINT = lazy_compile(r"(?:0\d|1[3-9]|2[0-3])\.[0-5]\d")  # no number is written like the first
MAX_ANSWERS = 20
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
            try:
                verdict = self._verdict_of(golds, final, self._rules())
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
        is_unmarked = final.source in ("none", "last_line") and "last_line" in self.sources and not final.denied
        if value == 0 and is_unmarked and (said := self._said_at_end(golds, final.text)):
            value, status, answer, why = 1.0, "scored", said[0], f"last_line: {said[1].reason}"
        gold = _shown([gold.answer.text for gold in golds if not gold.is_translated])
        return Score(value, status, answer=answer, gold=gold, kind=golds[0].kind, explanation=why)

    def problem(self, example: Example) -> str | None:
        return self._golds(example)[1] or None

    def _golds(self, example: Example) -> tuple[tuple[Gold, ...], str]:
        return read_golds(example.answer, self.golds, self.kind, max(self.timeout, GOLD_TIMEOUT))

    def _verdict_of(self, golds: Sequence[Gold], final: ExtractedAnswer, rules: Rules) -> Verdict:
        """The verdict on an extracted answer or, if that is not right, on the object or sentence that it stands in."""
        failure: UnreadableError | None = None
        if fills_blanks_otherwise(golds[0].answer.text, final):
            return Verdict(False, "several different answers")
        if self._is_in_another_order(golds, final):
            return Verdict(False, "different elements")
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

    def _rules(self) -> Rules:
        time = TimeLimit(self.timeout, total=self.timeout)
        return Rules(self.rel_tol or None, self.decimals, self.percent, self.ignore_case, self.notation, time)

    def _said_at_end(self, golds: Sequence[Gold], text: str) -> tuple[str, Verdict] | None:
        """What the last sentence of a text says, if that is right, and the verdict."""
        rules = self._rules()
        for gold in golds:
            for said in said_at_end(gold.answer.text, gold.kind, text, _may_have_unit(gold)):
                if verdict := self._accepted(gold, said, rules):
                    return said, verdict
        return None

    def _is_in_another_order(self, golds: Sequence[Gold], final: ExtractedAnswer) -> bool:
        """Whether the answer has the items of every gold answer in an order that matters, and in none of theirs."""
        if len(final.answers) != 1 or not any(gold.kind in ("words", "code") for gold in golds):
            return False
        before = final.text[: final.end] if final.end else final.text
        return all(is_in_another_order(gold.answer.text, final.answers[0], before) for gold in golds)

    def _translated(
        self, golds: Sequence[Gold], final: ExtractedAnswer, rules: Rules, is_marked: bool
    ) -> Verdict | None:
        """The verdict on an answer in another language that is right in English, or as the end of its sentence."""
        if len(final.answers) != 1 or not may_be_translated(final.answers[0], final.text):
            return None
        for reading in readings(
            final,
            in_english=self.kind is None,
            with_end=is_marked,
            with_unit=any(map(_may_have_unit, golds)),
            without_dates=all(gold.kind == "number" for gold in golds),
        ):
            if reading != final.answers[0] and (verdict := self._first_accepted(golds, reading, rules)):
                return verdict
            if verdict := self._as_time(golds, reading, final.text, rules):
                return verdict
            if verdict := self._as_day(golds, reading, final.text, rules):
                return verdict
        return None

    def _as_time(self, golds: Sequence[Gold], text: str, all_text: str, rules: Rules) -> Verdict | None:
        """The verdict on a time if it is that of a gold answer with a point, ``14.30``, in another language."""
        if ":" not in text or not _TIME_WITH_POINT.fullmatch(golds[0].answer.text) or not uses_other_language(all_text):
            return None
        return self._accepted(Gold(*read_gold(golds[0].answer.text.replace(".", ":"), None)), normal(text), rules)

    def _as_day(self, golds: Sequence[Gold], text: str, all_text: str, rules: Rules) -> Verdict | None:
        """The verdict on a date with a month's name, where the gold answer is ``6.12.1917``, in another language."""
        date = day_first(golds[0].answer.text)
        if date is None or not is_date(text) or not is_day_first(all_text):
            return None
        return self._accepted(Gold(*read_gold(date, None)), text, rules)

    def _with_unit_behind(self, golds: Sequence[Gold], final: ExtractedAnswer, rules: Rules) -> Verdict | None:
        """The verdict on a box or bold number with the unit behind it, if any: ``\\boxed{45}`` radians for 45°."""
        if not final.unit or len(final.answers) != 1 or rules.notation == "strict":
            return None
        number = parse(final.answers[0]).content
        unit = factor_at_start(final.unit)
        if unit is None and any(map(_may_have_unit, golds)):
            unit = unit_in_english(final.unit) or measure_at_start(normal(final.unit))
        if not isinstance(number, Number) or number.unit or unit is None:
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
        """The verdict on one answer, by the kind of the gold answer."""
        if gold.logic:
            return _by_logic(gold, gold.logic, text)
        if gold.kind == "choice":
            return self._verdict_on_choice(gold, text, rules)
        return self._verdict_on_text(gold, text, rules)

    def _verdict_on_choice(self, gold: Gold, text: str, rules: Rules) -> Verdict:
        """The verdict where the gold answer is the letter of an option, perhaps with its text.

        Another answer beside the letter is wrong by the rules of ``choice``, and where the task says that these are
        choices, so is right what ``choice`` accepts ("C because B is too small"); otherwise the letter may be a name.
        """
        letter = gold.answer.text.strip("(). ").upper()
        named = named_options(text, _LETTERS) if len(letter) == 1 and letter in _LETTERS else Named()
        is_hedged = named.more or len(named.letters) > 1
        if self.kind == "choice" and self.ignore_case and named.letters == {letter} and not is_hedged:
            return Verdict(True, "the same choice")
        verdict = self._verdict_on_text(gold, text, rules)
        return Verdict(False, "hedged") if verdict.correct and is_hedged else verdict

    def _verdict_on_text(self, gold: Gold, text: str, rules: Rules) -> Verdict:
        """The verdict on one answer as it stands or, if that is not right, in another form of the same."""
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
        if rules.notation == "flexible" and same_numeral(gold.answer.text, plain(text[:MAX_CODE])):
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
        except (DeadlineError, OverLimitError, UnreadableError):
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


def _may_have_unit(gold: Gold) -> bool:
    """Whether a gold answer is more than a number without a unit."""
    return not isinstance(gold.answer.content, Number) or bool(gold.answer.content.unit)


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


def _in_square_brackets(gold: ParsedAnswer, text: str) -> tuple[ParsedAnswer, ParsedAnswer] | None:
    """A gold answer ``2, 3, 5`` and an answer ``[2, 3, 5]`` in the same brackets, unless these may be an interval."""
    if not text.lstrip(" $\\").startswith("[") or (one := as_tuple(gold, "[]")) is None:
        return None
    try:
        answer = parse(text)
    except OverLimitError:
        return None
    return (one, answer) if brackets_may_be_left_out(answer) else None
