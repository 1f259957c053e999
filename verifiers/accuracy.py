"""Is the final answer right? Extraction, comparison, and a Score that says what was compared and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Literal, get_args

from grpo_env.core import Case, Completion, Example, Format, Score, Status, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .answers.algebra import DeadlineError, UnreadableError, formula_problem, spent
from .answers.compare import Rules, Verdict, compare
from .answers.exact import Number, OverLimitError
from .answers.extract import SOURCES, Source, final_answer, inside
from .answers.hedging import unevaluated, unsure
from .answers.intervals import INFINITIES
from .answers.parse import MAX_LENGTH, read, read_list, together
from .answers.parsed import Group, Reading

Golds = Literal["one", "any", "all"]
Unevaluated = Literal["wrong", "right"]

MAX_ANSWERS = 20
MAX_SHOWN = 300  # characters of an answer that a score keeps
GOLD_TIMEOUT = 5.0  # seconds to read a gold answer at least, which is done once


@verifier("accuracy")
@dataclass(frozen=True)
class Accuracy(Verifier):
    r"""1 if the completion's final answer equals the example's answer, else 0.

    Which text is the final answer is told in ``extract``, what is equal in ``compare``: exact values, never an
    absolute tolerance. The gold answer may be bare (``\frac12``, ``$18``), in dollars, boxed, or a worked solution
    that ends in ``#### 18`` or has one box; one that cannot be read is *unscored* with status ``bad_gold``. No answer,
    a too large one and one that takes longer than ``timeout`` are worth 0 with a status that says so.

    Source: TRL's ``accuracy_reward`` and what else is built on math-verify; there: rounded to six decimals (3.14159265
    is pi, and 10^-20 is 10^-18), ``2+2`` is 4, ``not \boxed{4}`` and a box inside the reasoning count, a bare gold
    ``\frac12`` or ``(1,2)`` cannot be read, hostile answers take seconds and the signal that ends them raises off the
    main thread; here: exact values, one final answer, every gold is read or reported, a process that can be killed.
    """

    format: Format = field(default_factory=Format)
    rel_tol: float | None = None
    """Numbers are equal if they differ by at most this share of the larger one (0 to 1); formulas stay exact."""
    decimals: int | None = None
    """Numbers are equal if they are when both are rounded to so many decimals (0 to 100), a tie in either direction."""
    percent: bool = False
    """Whether 50% also equals 0.5. It equals 50 in any case: the sign may be left out."""
    ignore_case: bool = True
    """Whether upper and lower case are the same in answers in words and in choice letters."""
    unevaluated: Unevaluated = "wrong"
    """What 2+2, a sum, integral, limit, gcd is where its value was asked: ``wrong`` or ``right``."""
    golds: Golds = "one"
    """``any`` or ``all`` of a JSON list (``{{ answers | tojson }}``) that is the gold answer then, or ``one``."""
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
        Case("\\boxed{12 m}", 0.0, "a contradicting unit", "12 cm"),
        Case("\\boxed{16, 17 or 18}", 0.0, "a list that holds the gold", "18"),
        Case("\\boxed{2+2}", 0.0, "the question, not its answer", "4"),
        Case("<think>\\boxed{18}", 0.0, "the reasoning is not closed: no answer", "18"),
    )

    def __post_init__(self) -> None:
        if self.rel_tol is not None and not 0 < self.rel_tol < 1:
            raise UsageError(f"accuracy: rel_tol: {self.rel_tol:g} is not between 0 and 1")
        if self.decimals is not None and not 0 <= self.decimals <= 100:
            raise UsageError(f"accuracy: decimals: {self.decimals} is not between 0 and 100")
        if self.rel_tol is not None and self.decimals is not None:
            raise UsageError("accuracy: set rel_tol or decimals, not both")
        if self.timeout <= 0:
            raise UsageError(f"accuracy: timeout: {self.timeout:g} seconds are not enough")
        if not self.sources or not set(self.sources) <= set(SOURCES) or len(set(self.sources)) < len(self.sources):
            raise UsageError(f"accuracy: sources: one or more of {', '.join(SOURCES)}, each once, not {self.sources!r}")
        for name, value, known in (("unevaluated", self.unevaluated, Unevaluated), ("golds", self.golds, Golds)):
            if value not in get_args(known):
                raise UsageError(f"accuracy: {name}: {value!r} is none of {', '.join(get_args(known))}")

    def __call__(self, example: Example, completion: Completion) -> Score:
        golds, problem = self._golds(example)
        if problem:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        found = final_answer(self.format, completion, self.sources)
        status: Status = "scored"
        value = 0.0
        if not found.answers:
            status, why = "no_answer", found.reason
        elif found.denied:
            why = f"{found.source}: denied"
        else:
            try:
                deadline = spent() + self.timeout
                rules = Rules(self.rel_tol, self.decimals, self.percent, self.ignore_case, self.timeout, deadline)
                verdict = self._judge(golds, found.answers, rules)
                value, why = float(verdict.right), f"{found.source}: {verdict.reason}"
            except UnreadableError:  # the golds can be read: that was tried
                why = f"{found.source}: the answer cannot be read as mathematics"
            except OverLimitError as error:
                status, why = "over_limit", f"{found.source}: {error}"
            except DeadlineError:
                status, why = "timeout", f"{found.source}: no verdict within {self.timeout:g} s"
        answer = " | ".join(found.answers[:MAX_ANSWERS])[:MAX_SHOWN] if found.answers else None
        shown = " | ".join([gold.text for gold in golds])[:MAX_SHOWN]
        return Score(value, status, answer=answer, gold=shown, explanation=why)

    def problem(self, example: Example) -> str | None:
        return self._golds(example)[1] or None

    def _golds(self, example: Example) -> tuple[tuple[Reading, ...], str]:
        return _read_golds(example.answer, self.golds, max(self.timeout, GOLD_TIMEOUT))

    def _judge(self, golds: Sequence[Reading], answers: Sequence[str], rules: Rules) -> Verdict:
        """The verdict on the first gold that accepts the answers, or on the last one."""
        if len(golds) == 1:
            return self._judge_one(golds[0], answers, rules)
        verdict, failure = None, None
        for gold in golds:
            try:
                verdict = self._judge_one(gold, answers, rules)
            except (DeadlineError, OverLimitError, UnreadableError) as error:
                failure = error
            if verdict and verdict.right:
                return verdict
        if failure:
            raise failure
        assert verdict is not None
        return verdict

    def _judge_one(self, gold: Reading, answers: Sequence[str], rules: Rules) -> Verdict:
        if len(answers) == 1:
            return self._compare(gold, answers[0], rules)
        if len(answers) > MAX_ANSWERS:
            return Verdict(False, "several different answers")
        if sum(map(len, answers)) > MAX_LENGTH:
            raise OverLimitError(f"{len(answers)} answers of {sum(map(len, answers))} characters are too long")
        verdicts = [self._compare(gold, answer, rules) for answer in answers]
        if all(verdict.right for verdict in verdicts):
            return verdicts[0]
        joined = ", ".join(answers)
        if isinstance(gold.shape, Group) and isinstance(read(joined).shape, Group):
            verdict = self._compare(gold, joined, rules)
            if verdict.right:
                return verdict
        return Verdict(False, "several different answers")

    def _compare(self, gold: Reading, text: str, rules: Rules) -> Verdict:
        answer = read(text)
        if self.golds == "all" and isinstance(gold.shape, Group) and not isinstance(answer.shape, Group):
            answer = read_list(text)
        try:
            verdict = compare(gold, answer, rules)
        except UnreadableError:
            if reason := unsure(gold.text, answer.text):
                return Verdict(False, reason)
            raise
        if isinstance(answer.shape, Number):
            return verdict
        if verdict.right and self.unevaluated == "wrong" and unevaluated(gold, answer):
            return Verdict(False, "not evaluated")
        if verdict.right:
            return verdict
        reason = unsure(gold.text, answer.text)
        return Verdict(False, reason) if reason else verdict


@lru_cache(maxsize=16384)
def _read_golds(text: str | None, golds: Golds, timeout: float) -> tuple[tuple[Reading, ...], str]:
    """The gold answers as they are to be met, or none and the reason."""
    if text is None or not text.strip():
        return (), "the gold answer is missing"
    texts = [text] if golds == "one" else _listed(text)
    if not texts:
        return (), f"with golds: {golds} the gold answer is a JSON list of texts or numbers, not {text[:60]!r}"
    readings = []
    for one in texts:
        try:
            readings.append(_read_gold(one, timeout))
        except (ValueError, UnreadableError, DeadlineError) as error:
            return (), f"the gold answer {one[:60]!r}: {error}"
    if golds == "all" and len(readings) > 1:
        readings = [together(tuple(readings))]
    return tuple(readings), ""


def _listed(text: str) -> list[str]:
    try:
        found = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) and all(isinstance(one, str) and one.strip() for one in found) else []


def _read_gold(text: str, timeout: float) -> Reading:
    """The gold answer within what a data set gives as one. Raises ``ValueError`` with what is wrong."""
    if "####" in text:
        text = text.rpartition("####")[2]
    readings = [read(answer) for answer in inside(text).answers]
    if not readings:
        raise ValueError("it is empty")
    reading = readings[0]
    if not all(compare(reading, other, Rules(timeout=timeout)).right for other in readings[1:]):
        raise ValueError(f"{len(readings)} different answers")
    for formula in reading.formulas():
        if formula.text not in INFINITIES and (problem := formula_problem(formula.text, timeout)):
            raise ValueError(problem)
    return reading
