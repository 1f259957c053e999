"""Advantages from rewards: how much better a completion, or one of its steps, is than its group.

Every function takes the tensors of a step, ``ScoredGroups``, which says their shapes: B rows, the rows of a group
adjacent, of at most S steps and T tokens. The mean of the group is subtracted from a reward, and equal rewards give
exactly 0. The settings say what the difference is divided by:

- ``scale``: the standard deviation of the group, or nothing (Liu et al. 2025, Dr. GRPO).
- ``std``: ``sample`` divides by n - 1, as TRL and verl do; ``population`` by n. The paper does not say.

Rows that are not ``scored`` do not enter a baseline or a scale, and their advantages are 0. Advantages are float64.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from grpo_env.equality import TOLERANCE

from .config import AdvantageConfig, TrainConfig
from .custom import check_finite, tensor_of
from .scored_groups import ScoredGroups
from .shared_types import ScoredRollout


def token_advantages(groups: ScoredGroups, config: TrainConfig) -> Tensor:
    """(B, T) float32 advantages of all sampled tokens, by the config's settings; 0 elsewhere."""
    advantages = group_advantages(groups, config)
    rows = advantages[:, None] if advantages.ndim == 1 else advantages
    return rows.where(groups.sampled & groups.scored[:, None], 0.0).float()


def phantom_gradient(rollouts: Sequence[ScoredRollout], advantages: Tensor, group_size: int) -> float:
    """Share of the sum of |A| over all tokens that is in groups in which the metric is 0 for all completions; NaN if
    the sum is 0.

    Such groups teach other parts of the reward only, such as a format, and a policy that learns from little else may
    lose the task: verl-recipe#125 fell from .715 to .102.

    Args:
        rollouts: B rows, the rows of a group adjacent.
        advantages: (B, T), see ``token_advantages``.
        group_size: G.
    """
    sums = advantages.double().abs().sum(1).view(-1, group_size).sum(1)
    right = torch.tensor([bool(row.correct) for row in rollouts]).view(-1, group_size).any(1)
    return float(sums[~right].sum() / sums.sum())


def group_advantages(groups: ScoredGroups, config: TrainConfig) -> Tensor:
    """(B,) advantages of completions, or (B, T) of their tokens: by ``supervision`` or by ``advantage.function``.

    Raises ``RunError``, which names the setting, if that function fails, or returns something other than one finite
    number for each scored completion or for each of its tokens.
    """
    settings = config.advantage
    if settings.own_function is None:
        return supervised_advantages(groups, config)
    rows, tokens, setting = len(groups.rewards), int(groups.lengths.max()), f"advantage.function={settings.function}"
    expected = "one advantage per completion or per token"
    advantages = tensor_of(settings.own_function, groups, setting, expected, [(rows,), (rows, tokens)])
    check_finite(advantages[groups.scored], setting, "advantages of scored completions")
    return advantages.detach().double().cpu()


def supervised_advantages(groups: ScoredGroups, config: TrainConfig) -> Tensor:
    """(B,) or (B, T) advantages by ``supervision``: of outcomes, of steps, or their sum."""
    if config.supervision == "outcome":
        return outcome_advantages(groups, config.advantage)
    steps = step_advantages(groups, config.advantage)
    return steps if config.supervision == "process" else outcome_advantages(groups, config.advantage)[:, None] + steps


def step_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B, T) advantages of steps: differences of their values, or from their rewards by ``advantage.step_credit``.

    Its default is ``return`` for episodes, whose steps are turns, and ``sum`` for texts.
    """
    if groups.step_baselines is not None:
        return value_advantages(groups, settings)
    is_return = torch.full_like(groups.episode, settings.step_credit == "return")
    by_return = groups.episode if settings.step_credit is None else is_return
    return return_advantages(groups, settings).where(by_return[:, None], process_advantages(groups, settings))


def outcome_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B,) advantages of completions: A_i = (r_i - mean(r)) / std(r): DeepSeekMath, section 4.1.2."""
    return normalize(groups.rewards[:, None], groups.scored[:, None], groups.group_size, settings)[:, 0]


def process_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B, T) advantages of tokens: DeepSeekMath, section 4.1.3; 0 after a row's last step.

    The step rewards of the whole group are pooled and normalized together, r~ = (r - mean(R)) / std(R); a token's
    advantage is the sum of the normalized rewards of the steps that end on it or later,
    A[i, t] = sum of r~[i, j] over the steps j with step_tokens[i, j] >= t.

    ``step_credit``: ``sum`` as above (the default here); ``mean`` of the same rewards, so that more steps do not add up
    to more.
    """
    mask = groups.step_mask & groups.scored[:, None]
    steps = normalize(groups.step_rewards, mask, groups.group_size, settings)
    index, zeros = groups.step_tokens.where(mask, 0), torch.zeros(groups.sampled.shape, dtype=steps.dtype)
    remaining = _suffix_sums(zeros.scatter_add(1, index, steps))
    if settings.step_credit == "mean":
        return remaining / _suffix_sums(zeros.scatter_add(1, index, mask.to(zeros.dtype))).clamp(min=1)
    return remaining


def return_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B, T) returns-to-go less those of the group at the same step (with a baseline: Sutton et al. 1999).

    A token of a row's step j gets the row's rewards from step j on, less the mean of the group's, which are 0 for rows
    that have ended before. Steps that end on one token are one. In texts, the token after a step is part of it (see
    ``_ending_tokens``). Tokens after the last step count as one more step with the return 0.

    If a step's end and its reward depend on no later token, the gradient with ``scale: none`` is (1 - 1/G) times that
    of the expected sum of rewards. Under ``sum`` every step has its own mean subtracted, which leaves the number of
    steps without a gradient. ``scale`` divides by the deviation of all returns, those of ended rows included.
    """
    shape, mask = groups.sampled.shape, groups.step_mask & groups.scored[:, None]
    index = _ending_tokens(groups).where(mask, 0)
    rewards = torch.zeros(shape, dtype=torch.float64)
    rewards = rewards.scatter_add(1, index, groups.step_rewards.double().where(mask, 0.0))
    ends = torch.zeros(shape, dtype=torch.int64).scatter_add(1, index, mask.long()).clamp(max=1)
    step = ends.cumsum(1) - ends  # of each token, counted from 0
    returns = torch.zeros(len(step), int(ends.sum(1).max()) + 1, dtype=torch.float64)
    returns = returns.scatter(1, step, _suffix_sums(rewards))
    pools = returns.where(groups.scored[:, None], 0.0).view(-1, groups.group_size, returns.shape[1])
    most = ends.sum(1).where(groups.scored, 0).view(-1, groups.group_size).amax(1)
    inside = torch.arange(pools.shape[2]) < most[:, None]  # (P, S): steps that a row of the group has
    present = groups.scored.view(-1, groups.group_size, 1) & inside[:, None]
    columns = pools.transpose(1, 2).reshape(-1, groups.group_size, 1)  # each step is a pool of its own
    centered = center(columns, present.transpose(1, 2).reshape(columns.shape))
    centered = centered.view(len(pools), -1, groups.group_size).transpose(1, 2)
    return (centered / divisor(pools, present, settings)).reshape(len(step), -1).gather(1, step)


def value_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B, T) by VinePPO (Kazemnejad et al. 2025, arXiv:2410.01679, section 4): A = V(after the step) - V(before it).

    All tokens of a step have its advantage, and those after a row's last step 0. ``scale`` divides by the deviation of
    the rewards, as for outcomes: in a group of equal rewards, where that is 0, not at all.
    """
    assert groups.step_baselines is not None
    shape, mask = (-1, groups.group_size, 1), groups.step_mask
    pools = groups.rewards.double().where(groups.scored, 0.0).view(shape)
    steps = differences(groups.step_rewards, groups.step_baselines).where(mask, 0.0)
    scaled = steps.view(-1, groups.group_size, steps.shape[1]) / divisor(pools, groups.scored.view(shape), settings)
    length = groups.sampled.shape[1]
    tokens = torch.arange(length).repeat(len(steps), 1)
    step = torch.searchsorted(groups.step_tokens.where(mask, length), tokens)  # of each token
    advantages = scaled.view_as(steps).gather(1, step.clamp(max=steps.shape[1] - 1))
    return advantages.where(step < mask.sum(1, keepdim=True), 0.0)


def normalize(values: Tensor, mask: Tensor, group_size: int, settings: AdvantageConfig) -> Tensor:
    """Center and scale (B, S) values over each group's G x S pool; 0 where ``mask`` is False.

    In *pools*, ``values`` (P, G, S) are S numbers of each of G rows in P groups, and ``present`` is a bool of the same
    shape. Everything is float64, because the spread of a group may be small compared with its mean.
    """
    pools = values.double().where(mask, 0.0).view(-1, group_size, values.shape[1])
    present = mask.view_as(pools)
    return (center(pools, present) / divisor(pools, present, settings)).view_as(values)


def center(values: Tensor, present: Tensor) -> Tensor:
    """Pools less their mean; 0 where they are not ``present``, and in equal pools."""
    return (values - _mean(values, present)).where(present & ~_equal(values, present), 0.0)


def divisor(values: Tensor, present: Tensor, settings: AdvantageConfig) -> Tensor:
    """What centered pools are divided by, (P, 1, 1) or a scalar; 1 instead of 0, where all of them are 0 already."""
    if settings.scale == "none":
        return torch.ones((), dtype=values.dtype)
    count = present.sum((1, 2), keepdim=True)
    square = (values - _mean(values, present)).where(present, 0.0).square().sum((1, 2), keepdim=True)
    divisor = (square / (count - int(settings.std == "sample")).clamp(min=1)).sqrt()
    return divisor.where(divisor > 0, 1.0)


def differences(rewards: Tensor, baselines: Tensor) -> Tensor:
    """Rewards less baselines; exactly 0 where they are equal but for rounding (see ``grpo_env.equality``)."""
    size = torch.maximum(rewards.abs(), baselines.abs()).clamp(min=1.0)
    difference = rewards - baselines
    return difference.where(difference.abs() > TOLERANCE * size, 0.0)


def _mean(values: Tensor, present: Tensor) -> Tensor:
    """(P, 1, 1) means of the values that are present; the others are 0."""
    return values.sum((1, 2), keepdim=True) / present.sum((1, 2), keepdim=True).clamp(min=1)


def _equal(values: Tensor, present: Tensor) -> Tensor:
    """(P, 1, 1) True for pools with fewer than two values, or with equal values (see ``grpo_env.equality``)."""
    high = values.where(present, -torch.inf).amax((1, 2), keepdim=True)
    low = values.where(present, torch.inf).amin((1, 2), keepdim=True)
    size = torch.maximum(high.abs(), low.abs()).clamp(min=1.0)
    return ~(high - low > TOLERANCE * size)


def _ending_tokens(groups: ScoredGroups) -> Tensor:
    """(B, S) the tokens that end the steps: in a text, the one after the last of the step.

    After ``3+4=7`` the next token is a line break, which ends the step; the end token, which does so too; or another
    digit, which goes on with it. All three are choices within the step, so they need its reward and its baseline. A
    step that ends with the text ends with its last token, the end token or, if it is truncated, one of its own. The
    end token of a turn ends the turn.
    """
    last = (groups.lengths - 1)[:, None]
    return torch.minimum(groups.step_tokens + 1, last).where(~groups.episode[:, None], groups.step_tokens)


def _suffix_sums(values: Tensor) -> Tensor:
    """(B, T) sums from each position to the end of its row."""
    return values.flip(1).cumsum(1).flip(1)
