"""Verifiers that combine others: sum, clip, any of, all of, first of, appeal; with gates, schedules and step scores.

An unscored part never counts as 0: it makes a sum unscored, unless its weights are 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Group, Score, StepScore
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .parts_and_gates import Composite, Part, Unweighted, composite_score, unscored_composite

WHOLE_TEXT = "the whole text"
NO_PART = "no part is for this row (when); add one that is, or leave such rows out with dataset.filter"


@verifier("weighted_sum")
@dataclass(frozen=True)
class WeightedSum(Composite):
    """The sum of each part's value times its weight. Parts with weight 0 are scored and reported, but not added.

    Step scores are the steps of the parts times their ``process`` weight. Values of parts without steps (accuracy, a
    format) are added up, times the same weight, into one last step that spans the whole text, in an episode its last
    turn.
    """

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>4</answer>", 2.125, "2 x 1 + 0.25 x 0.5", answer="4",
             options={"of": {"accuracy": {"weight": 2.0}, "tag_count": {"weight": 0.25}}}),
        Case("4", 1.0, "the format has weight 0: it is reported, not added", answer="4",
             options={"of": {"accuracy": {}, "strict_format": {"weight": 0.0}}}),
        Case("<answer>5</answer>", 0.0, "a part behind a closed gate scores 0", answer="4",
             options={"of": {"accuracy": {}, "tag_count": {"when": "accuracy"}}}),
        Case("4", None, "without a gold answer accuracy is unscored, not 0",
             options={"of": {"accuracy": {}, "tag_count": {}}}),
    )  # fmt: skip

    def combine(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        if all(score.status == "left_out" for score in scores):
            return Score(None, "not_applicable", explanation=NO_PART, parts=scores)
        missing = next((score for score in scores if not score.scored and (score.weight or score.process)), None)
        if missing is not None:
            return unscored_composite(missing, scores)
        value = self.bounded(sum(score.weight * (score.value or 0.0) for score in scores if score.weight))
        try:
            return composite_score(value, scores, steps=self._steps(scores, completion))
        except ValueError as overflow:
            return Score(None, "error", explanation=str(overflow), parts=scores)

    def bounded(self, value: float) -> float:
        """The sum of the parts, or of those without steps, as it counts."""
        return value

    def _steps(self, scores: tuple[Score, ...], completion: Completion) -> tuple[StepScore, ...]:
        counted = [score for score in scores if score.process]
        steps = [step for score in counted if score.steps for step in _named_steps(score, score.process)]
        outcomes = [score for score in counted if not score.steps]
        if outcomes:
            value = self.bounded(sum(score.process * (score.value or 0.0) for score in outcomes))
            start = completion.turns[-1].start if completion.turns else 0
            names = ", ".join(score.name for score in outcomes)
            steps.append(StepScore(start, len(completion.text), value, f"{names}: {WHOLE_TEXT}"))
        return tuple(sorted(steps, key=lambda step: (step.end, -step.start)))  # the whole text after its last step


@verifier("clip")
@dataclass(frozen=True)
class Clip(WeightedSum):
    """The weighted sum of its parts, clipped to ``[low, high]``, as is the last step, of the parts without steps.

    Other step scores are not clipped.
    """

    low: float = -1.0
    """The lowest value."""
    high: float = 1.0
    """The highest value."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("4", 1.0, "2 x 1, clipped to 1", answer="4", options={"of": {"accuracy": {"weight": 2.0}}}),
        Case("4", 1.5, "2 x 1, clipped to 1.5", answer="4", options={"of": {"accuracy": {"weight": 2.0}}, "high": 1.5}),
        Case("5", 0.0, "0 is within the bounds", answer="4", options={"of": {"accuracy": {"weight": 2.0}}}),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low <= self.high:
            raise UsageError(f"clip: low {self.low:g} is not at most high {self.high:g}")

    def bounded(self, value: float) -> float:
        return value if math.isinf(value) else min(max(value, self.low), self.high)  # an overflow is an error


@dataclass(frozen=True)
class Selection(Unweighted):
    """A composite that has the value, the rule and the steps of one of its parts, which decides."""

    def select(self, decider: int, scores: tuple[Score, ...], explanation: str = "") -> Score:
        """The score if the part at ``decider`` decides."""
        score = scores[decider]
        assert score.value is not None
        return composite_score(score.value, scores, explanation, tuple(_named_steps(score)), score.rule)


@verifier("any_of")
@dataclass(frozen=True)
class AnyOf(Selection):
    """The largest value of its parts, and the steps of the first part that has it.

    An unscored part makes it unscored, unless another part already has a value of 1 or more.
    """

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>4</answer>", 1.0, "max(1, 0.5)", answer="4", options={"of": {"accuracy": {}, "tag_count": {}}}),
        Case("<answer>5</answer>", 0.5, "max(0, 0.5)", answer="4", options={"of": {"accuracy": {}, "tag_count": {}}}),
        Case(
            "5", None, "without a gold answer accuracy is unscored", options={"of": {"accuracy": {}, "tag_count": {}}}
        ),
    )

    def combine(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        values = [-math.inf if score.value is None else score.value for score in scores]
        missing = next((score for score in scores if not score.scored), None)
        if missing is not None and max(values) < 1:
            return unscored_composite(missing, scores)
        return self.select(values.index(max(values)), scores)


@verifier("all_of")
@dataclass(frozen=True)
class AllOf(Selection):
    """The smallest value of its parts, and the steps of the first part that has it.

    An unscored part makes it unscored, unless another part already has a value of 0 or less.
    """

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>4</answer>", 0.5, "min(1, 0.5)", answer="4", options={"of": {"accuracy": {}, "tag_count": {}}}),
        Case("<answer>5</answer>", 0.0, "min(0, 0.5)", answer="4", options={"of": {"accuracy": {}, "tag_count": {}}}),
        Case("5", 0.0, "a part scores 0, whatever the answer is", options={"of": {"accuracy": {}, "tag_count": {}}}),
    )

    def combine(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        values = [math.inf if score.value is None else score.value for score in scores]
        missing = next((score for score in scores if not score.scored), None)
        if missing is not None and min(values) > 0:
            return unscored_composite(missing, scores)
        return self.select(values.index(min(values)), scores)


@verifier("first_of")
@dataclass(frozen=True)
class FirstOf(Selection):
    """The value of the first part that can score the completion: a rule first, then a judge for what it cannot read.

    A part that leaves the completion unscored (``bad_gold``, ``not_applicable``, ``error``) passes it on to the next.
    A score decides, also a 0 and that of a missing answer; the parts after it are not run. If no part can score the
    completion, it is unscored like the last of them.
    """

    keeps_status: ClassVar[bool] = True

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>C</answer>", 1.0, "the gold answer is a letter: choice decides", answer="C",
             options={"of": {"choice": {}, "accuracy": {}}}),
        Case("<answer>D</answer>", 0.0, "a 0 decides as well", answer="C",
             options={"of": {"choice": {}, "tag_count": {}}}),
        Case("<answer>42</answer>", 1.0, "the gold answer is no letter: accuracy decides", answer="42",
             options={"of": {"choice": {}, "accuracy": {}}}),
        Case("<answer>42</answer>", None, "neither can score it without a gold answer",
             options={"of": {"choice": {}, "accuracy": {}}}),
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_gates("first_of", self.parts)

    def problem(self, example: Example) -> str | None:
        problems = [part.verifier.problem(example) for part in self.parts]
        if None in problems:
            return None
        return "; ".join(f"{part.name}: {problem}" for part, problem in zip(self.parts, problems, strict=True))

    def part_scores(self, groups: Sequence[Group]) -> list[list[list[Score]]]:
        instead: list[list[Score | None]] = [[None] * len(group.completions) for group in groups]
        columns = []
        for part in self.parts:
            columns.append(part.score(groups, instead))
            decided = Score(None, "not_applicable", explanation=f"not asked, because {part.name} decided")
            instead = [
                [before or (decided if score.scored else None) for before, score in zip(row, scores, strict=True)]
                for row, scores in zip(instead, columns[-1], strict=True)
            ]
        return columns

    def combine(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        number = next((number for number, score in enumerate(scores) if score.scored), None)
        if number is None:
            return unscored_composite(scores[-1], scores)
        decider = scores[number]
        total = self.select(number, scores, f"{decider.name}: {decider.explanation}")
        return replace(total, status=decider.status, answer=decider.answer, gold=decider.gold)


@verifier("appeal")
@dataclass(frozen=True)
class Appeal(Selection):
    """The value of the first of two parts, or that of the second where the first says wrong and the second disagrees.

    A rule that misses correct answers comes first, and a slower verifier that recognizes them, such as a judge,
    second. A value below 1 is wrong. The second part is only run on wrong completions of groups in which the first
    part also finds a correct one, or of all groups with ``groups: all``. It can raise a value but not lower it. If it
    fails (``error``), the completion is unscored; if it does not apply, the first part's value stands. A judge that
    accepts wrong answers undoes the strictness of the rule.

    Source: Cai et al. 2025 (arXiv:2510.00915, section 4.3) and TinyV (Xu et al. 2025, arXiv:2505.14625), which recheck
    all answers that the rule rejects.
    """

    keeps_status: ClassVar[bool] = True
    groups: Literal["mixed", "all"] = "mixed"
    """``mixed``: only groups with a correct and a wrong completion; ``all``: also groups of one, as in evaluation."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(("<answer>4</answer>", "<answer>four</answer>", "<answer>5</answer>"), (1.0, 1.0, 0.0),
             "the second part accepts one of the two that the first rejects", answer="4",
             options={"of": {"exact_text": {}, "accuracy": {}}}),
        Case(("<answer>four</answer>", "<answer>5</answer>"), (0.0, 0.0), "the first part rejects all: no appeal",
             answer="4", options={"of": {"exact_text": {}, "accuracy": {}}}),
        Case("<answer>four</answer>", 1.0, "an appeal in a group of one", answer="4",
             options={"of": {"exact_text": {}, "accuracy": {}}, "groups": "all"}),
        Case("<answer>4</answer>", None, "without a gold answer the first part is unscored",
             options={"of": {"exact_text": {}, "accuracy": {}}}),
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_gates("appeal", self.parts)
        if len(self.parts) != 2:
            raise UsageError(f"appeal: needs two parts, the first verifier and the one to ask, not {len(self.parts)}")

    @property
    def compares_completions(self) -> bool:
        return self.groups == "mixed"

    def problem(self, example: Example) -> str | None:
        first = self.parts[0]
        problem = first.verifier.problem(example)
        return f"{first.name}: {problem}" if problem else None

    def part_scores(self, groups: Sequence[Group]) -> list[list[list[Score]]]:
        first, second = self.parts
        verdicts = first.score(groups)
        return [verdicts, second.score(groups, [self._instead(scores) for scores in verdicts])]

    def _instead(self, verdicts: Sequence[Score]) -> list[Score | None]:
        """The second part's scores in a group where it is not asked, ``None`` where it is."""
        mixed = any(score.scored and not _is_wrong(score) for score in verdicts)
        may_ask = mixed or self.groups == "all"
        return [None if may_ask and _is_wrong(score) else _not_asked(score) for score in verdicts]

    def combine(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        first, second = scores
        if first.value is None or second.status == "error":
            return unscored_composite(first if first.value is None else second, scores)
        number = 1 if second.value is not None and second.value > first.value else 0
        decider = scores[number]
        total = self.select(number, scores, f"{decider.name}: {decider.explanation}")
        return replace(
            total, status=decider.status, answer=first.answer or second.answer, gold=first.gold or second.gold
        )


def _is_wrong(score: Score) -> bool:
    return score.value is not None and score.value < 1


def _not_asked(first: Score) -> Score:
    reason = (
        "has no score" if not first.scored else "accepts nothing in the group" if _is_wrong(first) else "accepts it"
    )
    return Score(None, "not_applicable", explanation=f"not asked, because {first.name} {reason}")


def _refuse_gates(composite: str, parts: Sequence[Part]) -> None:
    for part in parts:
        if part.when is not None:
            raise UsageError(
                f"verifier {part.name!r}: when: the parts of {composite} run in their order, without gates"
            )


def _named_steps(score: Score, weight: float = 1.0) -> list[StepScore]:
    """The steps of a part times a weight, with its name in their explanations."""
    return [
        replace(step, value=weight * step.value, explanation=f"{score.name}: {step.explanation}")
        for step in score.steps
    ]
