"""Verifiers made of verifiers: weighted sum, clip, any of, all of; with gates, schedules and step scores.

A part that cannot be judged never counts as 0. In a sum it makes the total unscored, unless its weights are 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from grpo_env.core import Case, Completion, Score, StepScore, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .parts import Composite, Unweighted, composed, unscored


@verifier("weighted_sum")
@dataclass(frozen=True)
class WeightedSum(Composite):
    """The sum of weight times value. Parts of weight 0 are watched: judged and reported, never counted.

    Step scores are the parts' own steps times their ``process`` weight. Parts with a process weight that have no
    steps by nature (an accuracy, a format) are added up into one last step over the whole text.
    """

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>4</answer>", 2.125, "2 x 1 + 0.25 x 0.5", answer="4",
             options={"of": {"accuracy": {"weight": 2.0}, "tag_count": {"weight": 0.25}}}),
        Case("4", 1.0, "the format is watched, not paid", answer="4",
             options={"of": {"accuracy": {}, "strict_format": {"weight": 0.0}}}),
        Case("<answer>5</answer>", 0.0, "behind a closed gate nothing is paid", answer="4",
             options={"of": {"accuracy": {}, "tag_count": {"when": "accuracy"}}}),
        Case("4", None, "a part that cannot be judged is no 0", options={"of": {"accuracy": {}, "tag_count": {}}}),
    )  # fmt: skip

    def whole(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        missing = next((score for score in scores if not score.scored and (score.weight or score.process)), None)
        if missing is not None:
            return unscored(missing, scores)
        value = sum(score.weight * (score.value or 0.0) for score in scores if score.weight)
        return composed(value, scores, steps=self._steps(scores, len(completion.text)))

    def _steps(self, scores: tuple[Score, ...], length: int) -> tuple[StepScore, ...]:
        steps, outcome = [], []
        for part, score in zip(self.parts, scores, strict=True):
            if score.process and gives_steps(part.verifier):
                steps += [
                    replace(step, value=score.process * step.value, explanation=f"{part.name}: {step.explanation}")
                    for step in score.steps
                ]
            elif score.process:
                outcome.append((part.name, score.process * (score.value or 0.0)))
        if outcome:
            names = ", ".join(name for name, _ in outcome)
            steps.append(StepScore(0, length, sum(value for _, value in outcome), f"{names}: the whole text"))
        return tuple(sorted(steps, key=lambda step: (step.end, step.start)))


@verifier("clip")
@dataclass(frozen=True)
class Clip(WeightedSum):
    """The weighted sum of its parts, bounded to ``[low, high]``. Step scores are not bounded."""

    low: float = -1.0
    """The least value."""
    high: float = 1.0
    """The greatest value."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("4", 1.0, "2 x 1, bounded to 1", answer="4", options={"of": {"accuracy": {"weight": 2.0}}}),
        Case("4", 1.5, "2 x 1, bounded to 1.5", answer="4", options={"of": {"accuracy": {"weight": 2.0}}, "high": 1.5}),
        Case("5", 0.0, "0 lies within the bounds", answer="4", options={"of": {"accuracy": {"weight": 2.0}}}),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise UsageError(f"clip: low {self.low:g} is above high {self.high:g}")

    def whole(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        total = super().whole(scores, completion)
        return total if total.value is None else replace(total, value=min(max(total.value, self.low), self.high))


@verifier("any_of")
@dataclass(frozen=True)
class AnyOf(Unweighted):
    """The largest value of its parts.

    An unscored part makes the whole unscored, unless another part already has 1 or more: then it cannot matter.
    """

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>4</answer>", 1.0, "max(1, 0.5)", answer="4", options={"of": {"accuracy": {}, "tag_count": {}}}),
        Case("<answer>5</answer>", 0.5, "max(0, 0.5)", answer="4", options={"of": {"accuracy": {}, "tag_count": {}}}),
        Case("5", None, "accuracy has no gold to judge by", options={"of": {"accuracy": {}, "tag_count": {}}}),
    )

    def whole(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        best = max((score.value for score in scores if score.value is not None), default=0.0)
        missing = next((score for score in scores if not score.scored), None)
        return unscored(missing, scores) if missing is not None and best < 1 else composed(best, scores)


@verifier("all_of")
@dataclass(frozen=True)
class AllOf(Unweighted):
    """The smallest value of its parts.

    An unscored part makes the whole unscored, unless another part already has 0 or less: then it cannot matter.
    """

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>4</answer>", 0.5, "min(1, 0.5)", answer="4", options={"of": {"accuracy": {}, "tag_count": {}}}),
        Case("<answer>5</answer>", 0.0, "min(0, 0.5)", answer="4", options={"of": {"accuracy": {}, "tag_count": {}}}),
        Case("5", 0.0, "the tags are wrong whatever the answer is", options={"of": {"accuracy": {}, "tag_count": {}}}),
    )

    def whole(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        worst = min((score.value for score in scores if score.value is not None), default=1.0)
        missing = next((score for score in scores if not score.scored), None)
        return unscored(missing, scores) if missing is not None and worst > 0 else composed(worst, scores)


def gives_steps(verifier: Verifier) -> bool:
    """Whether step scores are in a verifier's nature (its class says ``gives_steps``, or a part of it does)."""
    if isinstance(verifier, Composite):
        return any(part.process != 0 for part in verifier.parts)
    return verifier.gives_steps
