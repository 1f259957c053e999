"""Is the final answer correct? Extraction, comparison, and a Score that states what was compared and what decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from grpo_env.core import Case, Completion, Example, Format, Score, Status, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier
from grpo_env.workers.killable_worker import START_TIMEOUT

from .answer_text import check_rel_tol, check_sources, check_timeout, shown
from .answers.comma import Decimal, with_points
from .answers.decide import ACCEPTS, by_digits, decide
from .answers.extract import final_answer
from .answers.extract.result import SOURCES, ExtractedAnswer, Source
from .answers.gold import Gold, Golds, read_golds
from .answers.kinds.mathematics import UndecidedError, several
from .answers.kinds.own_kind import own_kind
from .answers.kinds.which_kind import KINDS, Kind
from .answers.math.algebra import DeadlineError, TimeLimit, UnreadableError
from .answers.math.parse import MAX_LENGTH
from .answers.math.verdict import Brackets, Notation, Percent, Rules, Unevaluated, Verdict
from .answers.quantities.number import OverLimitError

MAX_ANSWERS = 20
GOLD_TIMEOUT = 5.0  # seconds to read a gold answer at least, which is done once


@verifier("accuracy")
@dataclass(frozen=True)
class Accuracy(Verifier):
    r"""1 if the completion's final answer equals the gold answer, else 0.

    The page on verdicts says where the answer is looked for, what a gold answer may be and what is equal;
    ``Score.rule`` names what decided. Values are exact: without ``rel_tol`` or ``decimals`` nothing is rounded. The
    gold answer may be bare (``\frac12``, ``$18``), in dollars, boxed, or a worked solution that ends in ``#### 18`` or
    has one box; if it cannot be read the score is *unscored* (``bad_gold``). A missing answer, one that is too large
    and one that takes longer than ``timeout`` score 0, with a status of their own.

    Source: the ``accuracy_reward`` of TRL and others built on math-verify, see ``math_verify``.
    """

    format: Format = field(default_factory=Format)
    rel_tol: float | None = None
    """Numbers are equal if they differ by at most this fraction of the larger one (below 1); formulas stay exact."""
    decimals: int | None = None
    """Numbers are equal if both round to the same value at this many decimals (0 to 100), ties in either direction."""
    decimal: Decimal = "point"
    """``comma``: ``33,75`` is 33.75 and ``9.612`` is 9612, in gold answers and answers."""
    percent: Percent = "equal"
    """``equal``: 50%, 0.5 and 1/2 are one value. ``strict``: 50% is 50, the sign left out, and never 0.5."""
    ignore_case: bool = True
    """Whether upper and lower case are the same in texts and choice letters."""
    unevaluated: Unevaluated = "wrong"
    """Whether 2+2, a sum, integral, limit or gcd is ``wrong`` or ``correct`` where the gold answer is its value."""
    notation: Notation = "flexible"
    """Whether ``b >= a`` for ``a <= b`` and ``x=2, y=-1`` for ``(2,-1)`` are equal (``flexible``), or have to be
    written like the gold answer (``strict``)."""
    brackets: Brackets = "optional"
    """Whether ``5, 12, 13`` is correct for the tuple ``(5,12,13)``. Pairs that may be intervals need theirs anyway."""
    golds: Golds = "one"
    """``any`` or ``all`` of a JSON list (``{{ answers | tojson }}``) that is the gold answer then, or ``one``."""
    kind: Kind | str | None = None
    """What the gold answers are: ``number``, ``formula``, ``set`` (or interval), ``tuple``, ``text``, ``truth``,
    ``choice``, ``date`` or ``literal``; or ``FILE.py:Class``, a kind of the task's own. By default each gold answer
    decides."""
    sources: tuple[Source, ...] = SOURCES
    """Where a final answer is looked for; the first one present decides, unless an answer behind it contradicts it."""
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
        check_rel_tol("accuracy", self.rel_tol)
        check_timeout("accuracy", self.timeout)
        if self.decimals is not None and not 0 <= self.decimals <= 100:
            raise UsageError(f"accuracy: decimals: {self.decimals} is not between 0 and 100")
        if self.rel_tol is not None and self.decimals is not None:
            raise UsageError("accuracy: set rel_tol or decimals, not both")
        check_sources("accuracy", self.sources)
        if self.kind and ":" in self.kind:
            own_kind(self.kind)
            if self.golds == "all":
                raise UsageError("accuracy: golds: all needs a kind of accuracy's own")
        elif self.kind is not None and self.kind not in KINDS:
            raise UsageError(f"accuracy: kind: {self.kind!r} is not one of {', '.join(KINDS)}")

    @property
    def default_deadline(self) -> float:
        return 2 * START_TIMEOUT + 20 * max(self.timeout, GOLD_TIMEOUT)  # computer algebra may start twice

    def __call__(self, example: Example, completion: Completion) -> Score:
        golds, problem = self._golds(example)
        if problem:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        kind = golds[0].kind
        final = final_answer(self.format, completion, self.sources, ACCEPTS.get(kind), kind)
        value: float | None = 0.0
        status: Status = "scored"
        rule = ""
        try:
            if not final.answers:
                status, why = "no_answer", final.reason
            else:
                verdict = Verdict(False, "the text denies it") if final.denied else self._verdict(golds, final)
                value, rule = float(verdict.correct), verdict.rule
                why = final.told(verdict.reason, verdict.correct)
        except UndecidedError as error:
            value, status, why = None, "bad_gold", str(error)
        except (OverLimitError, DeadlineError, UnreadableError) as error:
            status, why = _status(error), f"{final.source}: {error}"
        return Score(
            value,
            status,
            answer=shown(final.answers),
            gold=example.answer,
            kind=kind,
            explanation=why,
            rule=rule,
        )

    def problem(self, example: Example) -> str | None:
        return self._golds(example)[1] or None

    def _golds(self, example: Example) -> tuple[tuple[Gold, ...], str]:
        text = example.answer
        if text is not None and self.decimal == "comma":
            text = with_points(text)
        return read_golds(text, self.golds, self.kind, max(self.timeout, GOLD_TIMEOUT))

    def _verdict(self, golds: Sequence[Gold], final: ExtractedAnswer) -> Verdict:
        """The verdict by the first gold answer that accepts the final answer, or by the last one."""
        is_exact = not self.rel_tol and self.decimals is None and self.decimal == "point"
        if is_exact and len(golds) == 1 and (of_digits := by_digits(golds[0], final)):
            return of_digits
        rules = Rules(
            self.rel_tol or None, self.decimals, self.percent, self.ignore_case, self.notation, self.unevaluated,
            self.brackets, self.kind is not None, TimeLimit(self.timeout, total=self.timeout),
        )  # fmt: skip
        if self.decimal == "comma":
            final = final._replace(answers=tuple(map(with_points, final.answers)))
        verdict, failure = Verdict(False, "several different answers"), None
        for gold in golds:
            try:
                verdict = _verdict_by(gold, final, rules)
            except (DeadlineError, OverLimitError, UnreadableError) as error:
                failure = failure if isinstance(failure, UndecidedError) else error
            if verdict.correct:
                return verdict
        if failure:
            raise failure
        return verdict


def _verdict_by(gold: Gold, final: ExtractedAnswer, rules: Rules) -> Verdict:
    """The verdict by one gold answer. Several answers have to be equal to it each, or together as a group."""
    if len(final.answers) == 1:
        return decide(gold, final.answers[0], final, rules)
    if len(final.answers) > MAX_ANSWERS:
        return Verdict(False, "several different answers")
    if sum(map(len, final.answers)) > MAX_LENGTH:
        raise OverLimitError(f"{len(final.answers)} answers of {sum(map(len, final.answers))} characters are too long")
    verdicts = [decide(gold, answer, final, rules) for answer in final.answers]
    if all(verdict.correct for verdict in verdicts):
        return verdicts[0]
    joined = several(gold, final.answers, rules)
    return joined._replace(rule="elements") if joined else Verdict(False, "several different answers")


def _status(error: Exception) -> Status:
    if isinstance(error, OverLimitError):
        return "over_limit"
    return "timeout" if isinstance(error, DeadlineError) else "scored"
