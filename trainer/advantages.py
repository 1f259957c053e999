"""Advantages from rewards: how much better a completion, or one of its steps, is than its group.

``P`` prompts with ``G`` completions each give ``B = P * G`` rows; the rows of a group are adjacent. Everything is
computed in float64, because the spread of a group may be small compared with its mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from grpo_env.equality import TOLERANCE
from grpo_env.errors import RunError

from .config import AdvantageConfig, Baseline, ErrorCorrection, Scale, Std, StepCredit, TrainConfig
from .custom import custom_advantages
from .scored_groups import ScoredGroups, scored_groups

if TYPE_CHECKING:
    from .engine.policy import Policy
    from .rollout import ScoredRollout
    from .step_values import StepValues


AdvantageFunction = Callable[[ScoredGroups], Tensor]
"""Returns (B,) advantages of whole completions, or (B, T) of their tokens, T those of the longest."""


def token_advantages(
    policy: Policy,
    rollouts: Sequence[ScoredRollout],
    config: TrainConfig,
    greedy: Sequence[ScoredRollout] = (),
    values: StepValues | None = None,
) -> Tensor:
    """(B, T) float32 advantages of all sampled tokens, by the config's settings; 0 elsewhere.

    ``greedy`` has one row for each group, under ``advantage.baseline: greedy``; ``values`` are those of the steps,
    under ``step_values.rollouts``. Raises ``RunError``.
    """
    groups = scored_groups(policy, rollouts, config, greedy, values)
    advantages = advantage_function(config)(groups)
    rows = advantages[:, None] if advantages.ndim == 1 else advantages
    return rows.where(groups.sampled & groups.scored[:, None], 0.0).float()


def advantage_function(config: TrainConfig) -> AdvantageFunction:
    """The function that ``advantage.function`` names, checked, or the one that the other settings describe."""
    settings = config.advantage
    if settings.own_function is not None:
        return partial(custom_advantages, settings.own_function, f"advantage.function={settings.function}")
    return partial(supervised_advantages, config=config)


def supervised_advantages(groups: ScoredGroups, config: TrainConfig) -> Tensor:
    """(B,) or (B, T) advantages by ``supervision`` and the settings in ``advantage``. Raises ``RunError``."""
    settings = config.advantage
    if config.supervision == "outcome":
        return _outcome(groups, settings)
    process = _process(groups, settings)
    if config.supervision == "process":
        return process
    return _outcome(groups, settings)[:, None] + settings.process_weight * process


def _process(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B, T) advantages of steps: differences of their values, or from their rewards by ``advantage.step_credit``.

    Its default differs between episodes and texts.
    """
    length = int(groups.lengths.max())
    if groups.step_baselines is not None:
        return value_advantages(
            groups.step_rewards,
            groups.step_baselines,
            groups.step_tokens,
            groups.step_mask,
            groups.rewards,
            groups.scored,
            groups.group_size,
            length,
            scale=settings.scale,
            std=settings.std,
        )

    def by(credit: StepCredit) -> Tensor:
        return process_advantages(
            groups.step_rewards,
            _before_the_end_token(groups) if credit == "return" else groups.step_tokens,
            groups.step_mask,
            groups.scored,
            groups.group_size,
            length,
            credit=credit,
            scale=settings.scale,
            std=settings.std,
            baseline=settings.baseline,
        )

    if settings.step_credit is not None:
        return by(settings.step_credit)
    if groups.episode.all() or not groups.episode.any():
        return by("return" if groups.episode.all() else "sum")
    return by("return").where(groups.episode[:, None], by("sum"))


def _before_the_end_token(groups: ScoredGroups) -> Tensor:
    """The tokens on which steps end, the last one of the text instead of the end token.

    So the end token is a choice of its own, to stop, as the first token of another step is the choice to go on. The end
    token of a turn is part of the turn, which is a whole step.
    """
    last = (groups.lengths - 1)[:, None]
    ended = (groups.step_tokens == last) & ~(groups.truncated | groups.episode)[:, None] & (last > 0)
    return groups.step_tokens - ended.to(groups.step_tokens.dtype)


def _outcome(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    scored, size = groups.scored, groups.group_size
    options: dict[str, Any] = {"scale": settings.scale, "std": settings.std, "baseline": settings.baseline}
    if settings.normalize == "parts":
        return decoupled_advantages(groups.part_values, groups.part_weights, scored, size, **options)
    if settings.error_correction is not None:
        weights = groups.metric_weights
        return corrected_advantages(
            groups.metric,
            weights,
            groups.rewards - weights * groups.metric,
            scored,
            size,
            settings.error_correction,
            settings.false_positive_rate,
            settings.false_negative_rate,
            baseline=settings.baseline,
        )
    if settings.scale == "mean" and (groups.rewards[scored] < 0).any():
        raise RunError(
            "advantage.scale=mean divides by the mean reward of a group, so rewards must not be negative; change the "
            "weights of the task, or use advantage.reward=correct"
        )
    return outcome_advantages(groups.rewards, scored, size, greedy_rewards=groups.greedy_rewards, **options)


def outcome_advantages(
    rewards: Tensor,
    scored: Tensor,
    group_size: int,
    *,
    scale: Scale = "group",
    std: Std = "sample",
    baseline: Baseline = "group",
    greedy_rewards: Tensor | None = None,
    eps: float = 0.0,
) -> Tensor:
    """One advantage per completion: DeepSeekMath (Shao et al. 2024), section 4.1.2: A_i = (r_i - mean(r)) / std(r).

    Args:
        rewards: (B,) rewards; rows that are not ``scored`` may hold anything, NaN included.
        scored: (B,) True where there is a reward. Other rows do not enter the baseline and get 0.
        group_size: G; rows ``[p * G, (p + 1) * G)`` are one group.
        scale: divide by the group's standard deviation, by that of all raw rewards of the batch (Hu et al. 2025,
            REINFORCE++), by the group's mean (Tajwar et al. 2026, MaxRL, algorithm 1), or not at all (Liu et al. 2025,
            Dr. GRPO).
        std: ``sample`` divides by n - 1, as TRL and verl do; ``population`` by n. The paper does not say.
        baseline: what is subtracted from a reward: ``group``, the mean of the group; ``leave_one_out``, that of the
            *other* rows (Ahmadian et al. 2024, RLOO); ``greedy``, the reward of the greedy completion (Li et al. 2023,
            ReMax); ``none``, nothing (Williams 1992). With the first two, equal rewards give 0.
        greedy_rewards: (B,) under ``greedy``; rows where it is NaN get 0.
        eps: added to the standard deviation. Not required: a group of equal rewards gives exactly 0 without it.

    Returns:
        (B,) advantages, float64.
    """
    if baseline == "greedy":
        assert greedy_rewards is not None
        scored = scored & ~greedy_rewards.isnan()
        rewards = _differences(rewards, greedy_rewards.where(scored, 0.0))
        baseline = "none"
    return _normalize(rewards[:, None], scored[:, None], group_size, scale, std, baseline, eps)[:, 0]


def decoupled_advantages(
    part_rewards: Tensor,
    weights: Tensor,
    scored: Tensor,
    group_size: int,
    *,
    scale: Scale = "group",
    std: Std = "sample",
    baseline: Baseline = "group",
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
    options = {"scale": scale, "std": std, "baseline": baseline}
    total = torch.zeros(len(part_rewards), dtype=torch.float64)
    for rewards, weight in zip(part_rewards.T, weights.T, strict=True):
        total += weight * outcome_advantages(rewards, scored, group_size, **options)  # type: ignore[arg-type]
    return _normalize(total[:, None], scored[:, None], group_size, "batch", std, "group", 0.0)[:, 0]


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
    baseline: Baseline = "group",
) -> Tensor:
    """Advantages without division by a deviation, for a metric with known error rates (Cai et al. 2025, algorithm 4).

    Args:
        verdicts: (B,) observed values of the metric, 0 or 1.
        weights: (B,) its weights in the rewards.
        rest: (B,) the rewards without it, which are not corrected.
        scored: (B,) as in ``outcome_advantages``, and so is ``baseline``.
        correction: ``backward`` corrects the rewards before the baseline is subtracted; ``forward`` adds ``weights``
            times ``forward_weight`` to the advantages of ``rest``.
        false_positive: rho0, the probability of 1 for a wrong completion.
        false_negative: rho1, the probability of 0 for a correct one.

    Returns:
        (B,) advantages, float64.
    """
    if correction == "backward":
        rest = rest + weights * unbiased_verdict(verdicts, false_positive, false_negative)
    advantages = outcome_advantages(rest, scored, group_size, scale="none", baseline=baseline)
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
    baseline: Baseline = "group",
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
            lowest of them (PURE, Cheng et al. 2025); ``return``, see ``return_advantages``.

    Returns:
        (B, T) advantages, float64; 0 after a row's last step, except under ``return``.
    """
    mask = step_mask & scored[:, None]
    if credit == "return":
        rewards = torch.zeros(len(mask), length, dtype=torch.float64)
        rewards = rewards.scatter_add(1, step_tokens.where(mask, 0), step_rewards.double().where(mask, 0.0))
        ends = torch.zeros(rewards.shape, dtype=torch.int64)
        ends = ends.scatter_add(1, step_tokens.where(mask, 0), mask.to(ends.dtype)) > 0
        return return_advantages(rewards, ends, scored, group_size, scale, std, baseline, eps)
    steps = _normalize(step_rewards, mask, group_size, scale, std, baseline, eps)
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


def return_advantages(
    rewards: Tensor,
    ends: Tensor,
    scored: Tensor,
    group_size: int,
    scale: Scale = "group",
    std: Std = "sample",
    baseline: Baseline = "group",
    eps: float = 0.0,
) -> Tensor:
    """Return-to-go less that of the group at the same step (reward-to-go with a baseline: Sutton et al. 1999).

    A token of a row's step j gets the row's rewards from step j on, less the mean of the group's, which are 0 for rows
    that have ended before. Tokens after the last step count as one more step with the return 0. Whether to
    take another step is then learned without bias: with ``scale: none``, the gradient is that of the expected sum of
    rewards under ``baseline: leave_one_out``, and (1 - 1/G) times it under ``group``. Under ``sum`` every step has
    its own mean subtracted, which leaves the number of steps without a gradient.

    Args:
        rewards: (B, T) rewards at the tokens that end steps, else 0.
        ends: (B, T) bool, True where a step ends; several that end on one token are one.
        scored: (B,) rows that are compared.

    Returns:
        (B, T) advantages, float64. ``scale`` divides by the deviation of all returns, those of ended rows included.
    """
    rows, groups = len(rewards), len(rewards) // group_size
    step = ends.long().cumsum(1) - ends.long()  # of each token, counted from 0
    returns = torch.zeros(rows, int(ends.sum(1).max()) + 1, dtype=torch.float64)
    returns = returns.scatter(1, step, _suffix_sums(rewards.double()))
    pools = returns.where(scored[:, None], 0.0).view(groups, group_size, -1)
    steps = ends.sum(1).where(scored, 0).view(groups, group_size).amax(1)
    inside = torch.arange(pools.shape[2]) < steps[:, None]  # (P, S): steps that a row of the group has
    present = scored.view(groups, group_size, 1) & inside[:, None]
    columns = pools.transpose(1, 2).reshape(-1, group_size, 1)
    centered = _center(columns, present.transpose(1, 2).reshape(columns.shape), baseline)
    centered = centered.view(groups, -1, group_size).transpose(1, 2)
    return (centered / _divisor(pools, present, scale, std, eps)).reshape(rows, -1).gather(1, step)


def value_advantages(
    after: Tensor,
    before: Tensor,
    step_tokens: Tensor,
    step_mask: Tensor,
    rewards: Tensor,
    scored: Tensor,
    group_size: int,
    length: int,
    *,
    scale: Scale = "group",
    std: Std = "sample",
) -> Tensor:
    """VinePPO (Kazemnejad et al. 2025, arXiv:2410.01679, section 4): A = V(after the step) - V(before it).

    All tokens of a step have its advantage. ``scale`` divides by the deviation of the rewards, as for outcomes: in a
    group of equal rewards, where that is 0, not at all.

    Args:
        after: (B, S) estimated values after at most S steps a row, the row's reward after its last.
        before: (B, S) estimated values before them.
        step_tokens: (B, S) index of the last token of each step, increasing in a row.
        step_mask: (B, S) True where there is a step.
        rewards: (B,) as in ``outcome_advantages``, and so are ``scored`` and ``group_size``.
        length: T, tokens of the longest completion.

    Returns:
        (B, T) advantages, float64; 0 after a row's last step.
    """
    shape = -1, group_size, 1
    pools = rewards.double().where(scored, 0.0).view(shape)
    divisor = _divisor(pools, scored.view(shape), scale, std, 0.0)
    steps = _differences(after, before).where(step_mask, 0.0)
    steps = (steps.view(-1, group_size, steps.shape[1]) / divisor).view_as(steps)
    tokens = torch.arange(length).repeat(len(steps), 1)
    step = torch.searchsorted(step_tokens.where(step_mask, length), tokens)  # of each token
    return steps.gather(1, step.clamp(max=steps.shape[1] - 1)).where(step < step_mask.sum(1, keepdim=True), 0.0)


def _suffix_sums(values: Tensor) -> Tensor:
    """(B, T) sums from each position to the end of its row."""
    return values.flip(1).cumsum(1).flip(1)


def _differences(rewards: Tensor, baselines: Tensor) -> Tensor:
    """Rewards less baselines; exactly 0 where they are equal but for rounding (see ``grpo_env.equality``)."""
    size = torch.maximum(rewards.abs(), baselines.abs()).clamp(min=1.0)
    difference = rewards - baselines
    return difference.where(difference.abs() > TOLERANCE * size, 0.0)


def _normalize(
    values: Tensor, mask: Tensor, group_size: int, scale: Scale, std: Std, baseline: Baseline, eps: float
) -> Tensor:
    """Center and scale (B, S) values over each group's G x S pool; 0 where ``mask`` is False."""
    pools = values.double().where(mask, 0.0).view(-1, group_size, values.shape[1])
    present = mask.view_as(pools)
    return (_center(pools, present, baseline) / _divisor(pools, present, scale, std, eps)).view_as(values)


def _divisor(pools: Tensor, present: Tensor, scale: Scale, std: Std, eps: float) -> Tensor:
    """What centered (P, G, S) values are divided by; 1 instead of 0, where all of them are 0 already."""
    if scale == "none":
        return torch.ones((), dtype=pools.dtype)
    if scale == "batch":
        divisor = _deviation(pools[present], std)
    elif scale == "mean":
        divisor = _mean(pools, present)
    else:
        count = present.sum((1, 2), keepdim=True)
        square = (pools - _mean(pools, present)).where(present, 0.0).square().sum((1, 2), keepdim=True)
        divisor = (square / (count - int(std == "sample")).clamp(min=1)).sqrt()
    return (divisor + eps).where(divisor > 0, 1.0)


def _center(pools: Tensor, present: Tensor, baseline: Baseline) -> Tensor:
    """(P, G, S) values less their baseline; 0 where they are not ``present`` and, with a baseline, in equal pools."""
    if baseline == "none":
        return pools
    mean = _mean(pools, present)
    others = mean
    if baseline == "leave_one_out":
        count = present.sum((1, 2), keepdim=True) - present.sum(2, keepdim=True)
        total = pools.sum((1, 2), keepdim=True) - pools.sum(2, keepdim=True)
        others = (total / count.clamp(min=1)).where(count > 0, mean)
    return (pools - others).where(present & ~_equal(pools, present), 0.0)


def _mean(pools: Tensor, present: Tensor) -> Tensor:
    """(P, 1, 1) means of the values that are present; the others are 0."""
    return pools.sum((1, 2), keepdim=True) / present.sum((1, 2), keepdim=True).clamp(min=1)


def _deviation(values: Tensor, std: Std) -> Tensor:
    """The standard deviation of (N,) values; 0 if there are fewer than two."""
    return values.std(correction=int(std == "sample")) if values.numel() > 1 else torch.zeros((), dtype=values.dtype)


def _equal(pools: Tensor, present: Tensor) -> Tensor:
    """(P, 1, 1) True for pools with fewer than two values, or with equal values (see ``grpo_env.equality``)."""
    high = pools.where(present, -torch.inf).amax((1, 2), keepdim=True)
    low = pools.where(present, torch.inf).amin((1, 2), keepdim=True)
    size = torch.maximum(high.abs(), low.abs()).clamp(min=1.0)
    return ~(high - low > TOLERANCE * size)
