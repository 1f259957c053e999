"""Advantages for a metric whose error rates are known: Cai et al. 2025, arXiv:2510.00915v4.

A verdict of 0 or 1 is wrong with probability rho0 (``advantage.false_positive_rate``) on wrong completions, and rho1
(``advantage.false_negative_rate``) on correct ones, whatever else is in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from grpo_env.errors import RunError, UsageError
from grpo_env.taskfile.task import Task

from .config import AdvantageConfig
from .normalization import normalize

if TYPE_CHECKING:
    from .rollout import ScoredRollout
    from .scored_groups import ScoredGroups


def unbiased_verdict(verdicts: Tensor, settings: AdvantageConfig) -> Tensor:
    """Backward correction (equation 3): (r - rho0) / (1 - rho0 - rho1).

    Its mean over the errors is 1 for correct and 0 for wrong completions.
    """
    return (verdicts - settings.false_positive_rate) / _informedness(settings)


def forward_weight(verdicts: Tensor, settings: AdvantageConfig) -> Tensor:
    """Forward correction (proposition 3.4 and appendix B.3): w / s, not centered in its group.

    w = rho1 - 1 for a verdict of 0 and rho1 for 1. The scale s = 1 - rho0 - rho1 makes its mean over the errors 0 for
    correct and -1 for wrong completions.
    """
    return (verdicts - (1 - settings.false_negative_rate)) / _informedness(settings)


def _informedness(settings: AdvantageConfig) -> float:
    return 1 - settings.false_positive_rate - settings.false_negative_rate


def corrected_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B,) advantages without division by a deviation (algorithm 4), which the settings demand.

    ``backward`` corrects the rewards before the baseline is subtracted; ``forward`` adds the metric's weight in the
    reward times ``forward_weight`` to the advantages of the rest of the reward, which is not corrected.
    """
    weights, rest = groups.metric_weights, groups.rewards - groups.metric_weights * groups.metric
    if settings.error_correction == "backward":
        rest = rest + weights * unbiased_verdict(groups.metric, settings)
    advantages = normalize(rest[:, None], groups.scored[:, None], groups.group_size, settings)[:, 0]
    if settings.error_correction == "forward":
        advantages = advantages + weights * forward_weight(groups.metric, settings)
    return advantages.where(groups.scored, 0.0)


def check_verdicts(rollouts: Sequence[ScoredRollout]) -> None:
    """Raises ``RunError`` if the metric of a scored row is neither 0 nor 1."""
    for row in rollouts:
        if row.score.scored and row.score.part(row.metric).value not in (0.0, 1.0):
            raise RunError(
                f"advantage.error_correction needs a metric of 0 or 1; {row.metric} is "
                f"{row.score.part(row.metric).value} for a completion of example {row.example.id}"
            )


def check_correctable(task: Task) -> None:
    """Raises ``UsageError`` unless the verdict of the metric enters the reward in one place, as its weight times it."""
    parts = {part.name: part for part in getattr(task.verifier, "parts", ())}
    part = parts.get(task.metric)
    if part is None:
        problem = "is not a part of the reward by itself, but inside of another part"
    elif not part.weight:
        problem = "has weight 0"
    elif part.clip is not None or part.statuses or part.when is not None:
        problem = "has clip, statuses or when, so that its value is not only its verdict"
    elif gated := [other.name for other in parts.values() if other.when == task.metric]:
        problem = f"is the gate (when) of {', '.join(gated)}, which would stay uncorrected"
    else:
        return
    raise UsageError(f"advantage.error_correction: the metric {task.metric!r} of the task {task.name} {problem}")
