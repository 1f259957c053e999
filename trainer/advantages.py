"""Advantages from rewards: how much better a completion, or one of its steps, is than its group.

``P`` prompts with ``G`` completions each give ``B = P * G`` rows; the rows of a group are adjacent. Everything is
computed in float64, because the spread of a group may be small compared with its mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from grpo_env.equality import TOLERANCE
from grpo_env.errors import RunError

from .config import ErrorCorrection, Scale, Std, StepCredit, TrainConfig
from .step_tokens import completion_ends, step_token

if TYPE_CHECKING:
    from .engine.policy import Policy
    from .rollout import ScoredRollout


def token_advantages(policy: Policy, rollouts: Sequence[ScoredRollout], config: TrainConfig) -> Tensor:
    """(B, T) float32 advantages of all completion tokens, by the config's supervision; 0 beyond a row's length."""
    lengths = torch.tensor([len(row.rollout.ids) for row in rollouts])
    scored = torch.tensor([row.score.scored for row in rollouts])
    longest, size, settings = int(lengths.max()), config.group_size, config.advantage
    options: dict[str, Any] = {
        "scale": settings.scale,
        "std": settings.std,
        "leave_one_out": settings.leave_one_out,
    }
    # Factors of the rewards: 0 for truncated rows under ``truncated: zero``.
    factors = torch.tensor([settings.truncated != "zero" or row.rollout.finish == "stop" for row in rollouts])
    total = torch.zeros(len(rollouts), longest, dtype=torch.float64)
    if config.supervision != "process":
        if settings.normalize == "parts":
            values, weights = _part_values(rollouts)
            outcome = decoupled_advantages(values * factors[:, None], weights, scored, size, **options)
        elif settings.error_correction is not None:
            verdicts, weights, rest = _verdicts(rollouts)
            outcome = corrected_advantages(
                verdicts,
                weights * factors,
                rest * factors,
                scored,
                size,
                settings.error_correction,
                settings.false_positive_rate,
                settings.false_negative_rate,
                leave_one_out=settings.leave_one_out,
            )
        else:
            rewards = torch.tensor([row.score.value or 0.0 for row in rollouts], dtype=torch.float64)
            outcome = outcome_advantages(rewards * factors, scored, size, **options)
        total += outcome[:, None]
    if config.supervision != "outcome":
        rewards, tokens, mask = _step_rewards(policy, rollouts)
        process = process_advantages(
            rewards * factors[:, None], tokens, mask, scored, size, longest, credit=settings.step_credit, **options
        )
        total += process * (settings.process_weight if config.supervision == "both" else 1.0)
    return total.where(torch.arange(longest) < lengths[:, None], 0.0).float()


def _part_values(rollouts: Sequence[ScoredRollout]) -> tuple[Tensor, Tensor]:
    """(B, K) values of the weighted parts of all tasks, 0 if unscored, and their weights, 0 in other tasks' rows."""
    parts = [[part for part in row.score.parts if part.weight] for row in rollouts]
    counts = {row.task: len(row_parts) for row, row_parts in zip(rollouts, parts, strict=True)}
    starts = dict(zip(counts, accumulate(counts.values(), initial=0), strict=False))
    values, weights = (torch.zeros(len(rollouts), sum(counts.values()), dtype=torch.float64) for _ in range(2))
    for index, (row, row_parts) in enumerate(zip(rollouts, parts, strict=True)):
        for column, part in enumerate(row_parts, start=starts[row.task]):
            values[index, column], weights[index, column] = part.value or 0.0, part.weight
    return values, weights


def _verdicts(rollouts: Sequence[ScoredRollout]) -> tuple[Tensor, Tensor, Tensor]:
    """(B,) values of the metric, its weights, and the rewards without it. Raises ``RunError`` for a graded value."""
    verdicts, weights, rest = (torch.zeros(len(rollouts), dtype=torch.float64) for _ in range(3))
    for index, row in enumerate(rollouts):
        if row.score.value is None:
            continue
        part = row.score.part(row.metric)
        if part.value not in (0.0, 1.0):
            raise RunError(
                f"advantage.error_correction needs a metric of 0 or 1; {row.metric} is {part.value} for a completion "
                f"of example {row.example.id}"
            )
        verdicts[index], weights[index] = part.value, part.weight
        rest[index] = row.score.value - part.weight * part.value
    return verdicts, weights, rest


def _step_rewards(policy: Policy, rollouts: Sequence[ScoredRollout]) -> tuple[Tensor, Tensor, Tensor]:
    """(B, S) step rewards, the tokens on which the steps end, and a mask of the steps that exist."""
    most = max(1, *(len(row.score.steps) for row in rollouts))
    rewards = torch.zeros(len(rollouts), most, dtype=torch.float64)
    tokens = torch.zeros(len(rollouts), most, dtype=torch.long)
    mask = torch.zeros(len(rollouts), most, dtype=torch.bool)
    for index, row in enumerate(rollouts):
        ends = completion_ends(policy.decode, row.rollout) if row.score.steps else []
        for column, step in enumerate(row.score.steps):
            rewards[index, column] = step.value
            tokens[index, column] = step_token(ends, step.end)
            mask[index, column] = True
    return rewards, tokens, mask


def outcome_advantages(
    rewards: Tensor,
    scored: Tensor,
    group_size: int,
    *,
    scale: Scale = "group",
    std: Std = "sample",
    leave_one_out: bool = False,
    eps: float = 0.0,
) -> Tensor:
    """One advantage per completion: DeepSeekMath (Shao et al. 2024), section 4.1.2: A_i = (r_i - mean(r)) / std(r).

    Args:
        rewards: (B,) rewards; rows that are not ``scored`` may hold anything, NaN included.
        scored: (B,) True where there is a reward. Other rows do not enter the baseline and get 0.
        group_size: G; rows ``[p * G, (p + 1) * G)`` are one group.
        scale: divide by the group's standard deviation, by that of all raw rewards of the batch (Hu et al. 2025,
            REINFORCE++), or not at all (Liu et al. 2025, Dr. GRPO).
        std: ``sample`` divides by n - 1, as TRL and verl do; ``population`` by n. The paper does not say.
        leave_one_out: the baseline is the mean of the *other* rows (Ahmadian et al. 2024, RLOO).
        eps: added to the standard deviation. Not required: a group of equal rewards gives exactly 0 without it.

    Returns:
        (B,) advantages, float64.
    """
    return _normalize(rewards[:, None], scored[:, None], group_size, scale, std, leave_one_out, eps)[:, 0]


def decoupled_advantages(
    part_rewards: Tensor,
    weights: Tensor,
    scored: Tensor,
    group_size: int,
    *,
    scale: Scale = "group",
    std: Std = "sample",
    leave_one_out: bool = False,
) -> Tensor:
    """GDPO (Liu et al. 2026): the sum of each part's own advantages, by weight.

    Parts with different spreads thus contribute in proportion to their weights, and completions with equal totals but
    different parts get different advantages. The sums are divided by their deviation over the batch. Their mean over
    the batch is not subtracted: it is 0, as that of every group is, but for rounding that would give uniform groups a
    gradient.

    Args:
        part_rewards: (B, K) values of K parts.
        weights: (B, K) the parts' weights, the same in every row.
        scored: (B,) as in ``outcome_advantages``, and so are the options.

    Returns:
        (B,) advantages, float64.
    """
    options = {"scale": scale, "std": std, "leave_one_out": leave_one_out}
    total = torch.zeros(len(part_rewards), dtype=torch.float64)
    for rewards, weight in zip(part_rewards.T, weights.T, strict=True):
        total += weight * outcome_advantages(rewards, scored, group_size, **options)  # type: ignore[arg-type]
    return _normalize(total[:, None], scored[:, None], group_size, "batch", std, False, 0.0)[:, 0]


def unbiased_verdict(verdicts: Tensor, false_positive: float, false_negative: float) -> Tensor:
    """Backward correction (Cai et al. 2025, arXiv:2510.00915v4, equation 3): (r - rho0) / (1 - rho0 - rho1).

    Its mean over the errors is 1 for correct and 0 for wrong completions, if a verdict errs with probability rho0
    (``false_positive``) on wrong and rho1 (``false_negative``) on correct ones, whatever else is in them.
    """
    return (verdicts - false_positive) / (1 - false_positive - false_negative)


def forward_weight(verdicts: Tensor, false_positive: float, false_negative: float) -> Tensor:
    """Forward correction (Cai et al. 2025, proposition 3.4 and appendix B.3): w / s, not centered in its group.

    w = rho1 - 1 for a verdict of 0 and rho1 for 1. The scale s = 1 - rho0 - rho1 makes its mean over the errors 0 for
    correct and -1 for wrong completions.
    """
    return (verdicts - (1 - false_negative)) / (1 - false_positive - false_negative)


def corrected_advantages(
    verdicts: Tensor,
    weights: Tensor,
    rest: Tensor,
    scored: Tensor,
    group_size: int,
    correction: ErrorCorrection,
    false_positive: float,
    false_negative: float,
    *,
    leave_one_out: bool = False,
) -> Tensor:
    """Advantages without division by a deviation, for a metric with known error rates (Cai et al. 2025, algorithm 4).

    Args:
        verdicts: (B,) observed values of the metric, 0 or 1.
        weights: (B,) its weights in the rewards.
        rest: (B,) the rewards without it, which are not corrected.
        scored: (B,) as in ``outcome_advantages``, and so is ``leave_one_out``.
        correction: ``backward`` corrects the rewards before the baseline is subtracted; ``forward`` adds ``weights``
            times ``forward_weight`` to the advantages of ``rest``.
        false_positive: rho0, the probability of 1 for a wrong completion.
        false_negative: rho1, the probability of 0 for a correct one.

    Returns:
        (B,) advantages, float64.
    """
    if correction == "backward":
        rest = rest + weights * unbiased_verdict(verdicts, false_positive, false_negative)
    advantages = outcome_advantages(rest, scored, group_size, scale="none", leave_one_out=leave_one_out)
    if correction == "forward":
        advantages = advantages + weights * forward_weight(verdicts, false_positive, false_negative)
    return advantages.where(scored, 0.0)


def process_advantages(
    step_rewards: Tensor,
    step_tokens: Tensor,
    step_mask: Tensor,
    scored: Tensor,
    group_size: int,
    length: int,
    *,
    scale: Scale = "group",
    std: Std = "sample",
    leave_one_out: bool = False,
    credit: StepCredit = "sum",
    eps: float = 0.0,
) -> Tensor:
    """One advantage per token: DeepSeekMath, section 4.1.3.

    The step rewards of the whole group are pooled and normalized together, r~ = (r - mean(R)) / std(R); a token's
    advantage is the sum of the normalized rewards of the steps that end on it or later,
    A[i, t] = sum of r~[i, j] over the steps j with step_tokens[i, j] >= t.

    Args:
        step_rewards: (B, S) rewards of at most S steps a row.
        step_tokens: (B, S) index in ``[0, length)`` of the token that ends the step.
        step_mask: (B, S) True where there is a step.
        scored: (B,) as above; the steps of unscored rows do not enter the pool.
        length: T, tokens of the longest completion.
        credit: ``sum`` as above; ``mean`` of the same rewards, so that more steps do not add up to more; ``min``, the
            lowest of them (PURE, Cheng et al. 2025).

    Returns:
        (B, T) advantages, float64; 0 after a row's last step.
    """
    mask = step_mask & scored[:, None]
    steps = _normalize(step_rewards, mask, group_size, scale, std, leave_one_out, eps)
    index = step_tokens.where(mask, 0)
    zeros = torch.zeros(len(steps), length, dtype=steps.dtype, device=steps.device)
    if credit == "min":
        lowest = torch.full_like(zeros, torch.inf).scatter_reduce(1, index, steps.where(mask, torch.inf), "amin")
        remaining = lowest.flip(1).cummin(1).values.flip(1)
        return remaining.where(remaining.isfinite(), 0.0)
    remaining = _suffix_sums(zeros.scatter_add(1, index, steps))
    if credit == "mean":
        return remaining / _suffix_sums(zeros.scatter_add(1, index, mask.to(zeros.dtype))).clamp(min=1)
    return remaining


def _suffix_sums(values: Tensor) -> Tensor:
    """(B, T) sums from each position to the end of its row."""
    return values.flip(1).cumsum(1).flip(1)


def _normalize(
    values: Tensor, mask: Tensor, group_size: int, scale: Scale, std: Std, leave_one_out: bool, eps: float
) -> Tensor:
    """Center and scale (B, S) values over each group's G x S pool; 0 where ``mask`` is False."""
    pools = values.double().where(mask, 0.0).view(-1, group_size, values.shape[1])
    present = mask.view_as(pools)
    count = present.sum((1, 2), keepdim=True)
    total = pools.sum((1, 2), keepdim=True)
    mean = total / count.clamp(min=1)
    baseline = mean
    if leave_one_out:
        others = count - present.sum(2, keepdim=True)
        baseline = ((total - pools.sum(2, keepdim=True)) / others.clamp(min=1)).where(others > 0, mean)
    centered = (pools - baseline).where(present & ~_equal(pools, present), 0.0)
    if scale == "group":
        square = (pools - mean).where(present, 0.0).square().sum((1, 2), keepdim=True)
        deviation = (square / (count - int(std == "sample")).clamp(min=1)).sqrt()
    elif scale == "batch":
        everything = pools[present]
        enough = everything.numel() > 1
        deviation = everything.std(correction=int(std == "sample")) if enough else torch.zeros_like(total)
    else:
        return centered.view_as(values)
    # Where the deviation is 0, all centered values are 0 already; dividing by 1 avoids 0 / 0.
    return (centered / (deviation + eps).where(deviation > 0, 1.0)).view_as(values)


def _equal(pools: Tensor, present: Tensor) -> Tensor:
    """(P, 1, 1) True for pools with fewer than two values, or with equal values (see ``grpo_env.equality``)."""
    high = pools.where(present, -torch.inf).amax((1, 2), keepdim=True)
    low = pools.where(present, torch.inf).amin((1, 2), keepdim=True)
    size = torch.maximum(high.abs(), low.abs()).clamp(min=1.0)
    return ~(high - low > TOLERANCE * size)
