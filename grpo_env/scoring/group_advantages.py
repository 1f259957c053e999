"""The advantages of a scored group, as the trainer computes them with its default settings, without torch.

See ``grpo_env.trainer.advantages`` for the other settings, and for advantages by token.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import sqrt
from typing import NamedTuple

from grpo_env.core import Score
from grpo_env.equality import all_equal


class Advantage(NamedTuple):
    """The advantage of a completion, ``None`` if it is unscored, and of the token that ends each of its steps."""

    outcome: float | None
    steps: list[float]


def group_advantages(scores: Sequence[Score]) -> list[Advantage]:
    """The advantages of a group's completions by DeepSeekMath (Shao et al. 2024), sections 4.1.2 and 4.1.3.

    Rewards are normalized over the group, A_i = (r_i - mean(r)) / std(r) with the sample standard deviation, and step
    rewards over all steps of the group; a step's advantage is the sum of its own and all later normalized rewards.
    Unscored completions are in neither.
    """
    scored = [score for score in scores if score.scored]
    outcomes = iter(_normalize([score.value or 0.0 for score in scored]))
    step_rewards = iter(_normalize([step.value for score in scored for step in score.steps]))
    return [
        Advantage(next(outcomes), _sums_to_end([next(step_rewards) for _ in score.steps]))
        if score.scored
        else Advantage(None, [])
        for score in scores
    ]


def _normalize(values: Sequence[float]) -> list[float]:
    """Values centered on their mean and divided by their sample standard deviation; 0 if all are equal."""
    if all_equal(values):
        return [0.0] * len(values)
    mean = sum(values) / len(values)
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return [(value - mean) / deviation for value in values]


def _sums_to_end(values: Sequence[float]) -> list[float]:
    return list(accumulate(reversed(values)))[::-1]
