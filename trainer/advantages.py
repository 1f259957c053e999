"""Advantages from rewards: how much better a completion, or one of its steps, is than its group.

``P`` prompts with ``G`` completions each give ``B = P * G`` rows, a group's rows adjacent. Everything is float64:
rewards are few, and a group's spread may be small next to its mean.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .config import Scale, Std, StepCredit

# Rewards closer than this, relative to their size, are equal: 0.1 + 0.2 and 0.3 must not become -1 and +1.
EQUAL = 1e-9


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
        scored: (B,) True where there is a reward. Other rows stay out of the baseline and get 0.
        group_size: G; rows ``[p * G, (p + 1) * G)`` are one group.
        scale: divide by the group's standard deviation, by that of all raw rewards of the batch (Hu et al. 2025,
            REINFORCE++), or by nothing (Liu et al. 2025, Dr. GRPO).
        std: ``sample`` divides by n - 1, as TRL and verl do; ``population`` by n. The paper does not say.
        leave_one_out: the baseline is the mean of the *other* rows (Ahmadian et al. 2024, RLOO).
        eps: added to the standard deviation. Not needed: a group of equal rewards gives exactly 0 without it.

    Returns:
        (B,) advantages, float64.
    """
    return _normalise(rewards[:, None], scored[:, None], group_size, scale, std, leave_one_out, eps)[:, 0]


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
    """GDPO (Liu et al. 2026): the advantages of each part of the reward by itself, added up by weight.

    So two parts with different spreads keep their say, and rewards that differ in their parts but not in their total
    differ in advantage. The sums are centred and divided by their deviation over the whole batch.

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
    return _normalise(total[:, None], scored[:, None], len(total), "group", std, False, 0.0)[:, 0]


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

    The step rewards of the whole group are pooled and normalised together, r~ = (r - mean(R)) / std(R); a token's
    advantage is the sum of the normalised rewards of the steps that end on it or later,
    A[i, t] = sum of r~[i, j] over the steps j with step_tokens[i, j] >= t.

    Args:
        step_rewards: (B, S) rewards of at most S steps a row.
        step_tokens: (B, S) index in ``[0, length)`` of the token that ends the step.
        step_mask: (B, S) True where there is a step.
        scored: (B,) as above; an unscored row's steps stay out of the pool.
        length: T, tokens of the longest completion.
        credit: ``sum`` as above; ``mean`` of the same rewards, so that many steps are no larger than few; ``min``, the
            worst step still to come (PURE, Cheng et al. 2025).

    Returns:
        (B, T) advantages, float64; 0 after a row's last step.
    """
    mask = step_mask & scored[:, None]
    steps = _normalise(step_rewards, mask, group_size, scale, std, leave_one_out, eps)
    places = step_tokens.where(mask, 0)
    paid = torch.zeros(len(steps), length, dtype=steps.dtype, device=steps.device)
    if credit == "min":
        worst = paid.fill_(torch.inf).scatter_reduce_(1, places, steps.where(mask, torch.inf), "amin")
        to_come = worst.flip(1).cummin(1).values.flip(1)
        return to_come.where(to_come.isfinite(), 0.0)
    to_come = _to_come(paid.scatter_add(1, places, steps))
    if credit == "mean":
        return to_come / _to_come(paid.scatter_add(1, places, mask.to(paid.dtype))).clamp(min=1)
    return to_come


def _to_come(paid: Tensor) -> Tensor:
    """Of (B, T) numbers the sum from each place to the end of its row."""
    return paid.flip(1).cumsum(1).flip(1)


def _normalise(
    values: Tensor, mask: Tensor, group_size: int, scale: Scale, std: Std, leave_one_out: bool, eps: float
) -> Tensor:
    """Centre and scale (B, S) values over each group's G x S pool; 0 where ``mask`` is False."""
    pools = values.double().where(mask, 0.0).view(-1, group_size, values.shape[1])
    present = mask.view_as(pools)
    count = present.sum((1, 2), keepdim=True)
    total = pools.sum((1, 2), keepdim=True)
    mean = total / count.clamp(min=1)
    baseline = mean
    if leave_one_out:
        others = count - present.sum(2, keepdim=True)
        baseline = ((total - pools.sum(2, keepdim=True)) / others.clamp(min=1)).where(others > 0, mean)
    centred = (pools - baseline).where(present & ~_equal(pools, present), 0.0)
    if scale == "group":
        square = (pools - mean).where(present, 0.0).square().sum((1, 2), keepdim=True)
        deviation = (square / (count - int(std == "sample")).clamp(min=1)).sqrt()
    elif scale == "batch":
        everything = pools[present]
        enough = everything.numel() > 1
        deviation = everything.std(correction=int(std == "sample")) if enough else torch.zeros_like(total)
    else:
        return centred.view_as(values)
    # Where the deviation is 0 every value is centred to 0 already; the 1 only keeps 0 / 0 away.
    return (centred / (deviation + eps).where(deviation > 0, 1.0)).view_as(values)


def _equal(pools: Tensor, present: Tensor) -> Tensor:
    """(P, 1, 1) True for pools whose values are all equal, or that hold fewer than two."""
    high = pools.where(present, -torch.inf).amax((1, 2), keepdim=True)
    low = pools.where(present, torch.inf).amin((1, 2), keepdim=True)
    size = torch.maximum(high.abs(), low.abs()).clamp(min=1.0)
    return ~(high - low > EQUAL * size)
