"""Is the final answer right? Extraction, comparison, and a Score that says what was compared and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from grpo_env.core import Completion, Example, Format, Score, Status, Verifier
from grpo_env.registry import verifier

from .algebra import DeadlineError, UnreadableError, formula_problem
from .compare import Verdict, compare
from .exact import OverLimitError
from .extract import final_answer, inside
from .shapes import Formula, Group, Reading, read

_STATUS: dict[type[Exception], Status] = {
    OverLimitError: "over_limit",
    DeadlineError: "timeout",
    UnreadableError: "scored",
}
MAX_ANSWERS = 20
MAX_SHOWN = 300  # characters of an answer that a score keeps


@verifier("accuracy")
@dataclass(frozen=True)
class Accuracy(Verifier):
    """1 if the completion's final answer equals the example's answer, else 0.

    Which text is the final answer is told in ``extract``, what is equal in ``compare``. The gold answer may be bare
    (``\\\\frac12``, ``$18``), in dollars, boxed, or a worked solution that ends in ``#### 18`` or has one box. No
    answer, a too large one and one that takes longer than ``timeout`` seconds are worth 0 with a status that says so.
    """

    format: Format = field(default_factory=Format)
    rel_tol: float | None = None
    timeout: float = 1.0

    def __call__(self, example: Example, completion: Completion) -> Score:
        gold, problem = _gold(example.answer)
        if gold is None:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        found = final_answer(self.format, completion)
        shown = " | ".join(found.answers[:MAX_ANSWERS])[:MAX_SHOWN] if found.answers else None
        score = Score(0.0, answer=shown, gold=gold.text)
        if not found.answers:
            return replace(score, status="no_answer", explanation=found.reason)
        if found.denied:
            return replace(score, explanation="the answer is denied")
        try:
            verdict = self._judge(gold, found.answers)
        except (OverLimitError, DeadlineError, UnreadableError) as error:
            if gold_problem := self.problem(example):
                return replace(score, value=None, status="bad_gold", explanation=gold_problem)
            return replace(score, status=_STATUS[type(error)], explanation=str(error))
        return replace(score, value=float(verdict.right), explanation=f"{found.source}: {verdict.reason}")

    def problem(self, example: Example) -> str | None:
        gold, problem = _gold(example.answer)
        if gold is None:
            return problem
        if isinstance(gold.shape, Formula):
            problem = formula_problem(gold.shape.text, max(self.timeout, 5.0)) or ""
        return f"the gold answer {gold.text!r}: {problem}" if problem else None

    def _judge(self, gold: Reading, answers: tuple[str, ...]) -> Verdict:
        if len(answers) > MAX_ANSWERS:
            return Verdict(False, f"{len(answers)} different answers")
        verdicts = [compare(gold, read(answer), self.rel_tol, self.timeout) for answer in answers]
        if len(verdicts) == 1 or all(verdict.right for verdict in verdicts):
            return verdicts[0]
        together = read(", ".join(answers))
        verdict = compare(gold, together, self.rel_tol, self.timeout) if isinstance(together.shape, Group) else None
        return verdict if verdict and verdict.right else Verdict(False, f"{len(answers)} different answers")


@lru_cache(maxsize=16384)
def _gold(text: str | None) -> tuple[Reading | None, str]:
    """The gold answer within what a data set gives as one, or ``None`` and the reason."""
    if text is None or not text.strip():
        return None, "the gold answer is missing"
    if "####" in text:
        text = text.rpartition("####")[2]
    answers = inside(text).answers
    if len(answers) != 1:
        return None, "the gold answer is empty" if not answers else f"{len(answers)} different gold answers"
    try:
        return read(answers[0]), ""
    except OverLimitError as error:
        return None, f"the gold answer: {error}"
