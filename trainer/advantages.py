"""Advantages from rewards: how much better a completion, or one of its steps, is than its group.

Every function takes the tensors of a step, ``ScoredGroups``, which says their shapes: B rows, the rows of a group
adjacent, of at most S steps and T tokens. The settings say what is subtracted from a reward (``baseline``), and what
the difference is divided by (``scale``, ``std``):

- ``baseline``: ``group``, the mean of the group; ``leave_one_out``, that of the *other* rows (Ahmadian et al. 2024,
  RLOO); ``greedy``, the reward of the greedy completion (Li et al. 2023, ReMax); ``none``, nothing (Williams 1992).
  With the first two, equal rewards give exactly 0.
- ``scale``: the standard deviation of the group, or of all raw rewards of the batch, as TRL's ``scale_rewards="batch"``
  (REINFORCE++, Hu et al. 2025, normalizes the advantages of the batch instead); the mean of the group (Tajwar et al.
  2026, MaxRL, algorithm 1); or nothing (Liu et al. 2025, Dr. GRPO).
- ``std``: ``sample`` divides by n - 1, as TRL and verl do; ``population`` by n. The paper does not say.

Rows that are not ``scored`` do not enter a baseline or a scale, and their advantages are 0. Advantages are float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from grpo_env.errors import RunError

from .config import AdvantageConfig, TrainConfig
from .custom import custom_advantages
from .error_correction import corrected_advantages
from .normalization import center, differences, divisor, normalize
from .scored_groups import ScoredGroups, scored_groups

if TYPE_CHECKING:
    from .engine.policy import Policy
    from .extensions.step_values import StepValues
    from .rollout import ScoredRollout


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


def advantage_function(config: TrainConfig) -> AdvantageFunction:
    """The function that ``advantage.function`` names, checked, or the one that the other settings describe."""
    settings = config.advantage
    if settings.own_function is not None:
        return partial(custom_advantages, settings.own_function, f"advantage.function={settings.function}")
    return partial(supervised_advantages, config=config)


def supervised_advantages(groups: ScoredGroups, config: TrainConfig) -> Tensor:
    """(B,) or (B, T) advantages by ``supervision`` and the settings in ``advantage``. Raises ``RunError``."""
    settings = config.advantage
    if config.supervision == "process":
        return step_advantages(groups, settings)
    outcome = outcome_advantages
    if settings.normalize == "parts":
        outcome = decoupled_advantages
    elif settings.error_correction is not None:
        outcome = corrected_advantages
    if config.supervision == "outcome":
        return outcome(groups, settings)
    return outcome(groups, settings)[:, None] + settings.process_weight * step_advantages(groups, settings)


def step_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B, T) advantages of steps: differences of their values, or from their rewards by ``advantage.step_credit``.

    Its default is ``return`` for episodes, whose steps are turns, and ``sum`` for texts.
    """
    if groups.step_baselines is not None:
        return value_advantages(groups, settings)
    by_return = groups.episode if settings.step_credit is None else torch.tensor(settings.step_credit == "return")
    if by_return.all():
        return return_advantages(groups, settings)
    if not by_return.any():
        return process_advantages(groups, settings)
    return return_advantages(groups, settings).where(by_return[:, None], process_advantages(groups, settings))


def outcome_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B,) advantages of completions: DeepSeekMath (Shao et al. 2024), section 4.1.2: A_i = (r_i - mean(r)) / std(r).

    Rows without a greedy reward (NaN), under that baseline, get 0. Raises ``RunError`` under ``scale: mean`` for
    negative rewards.
    """
    rewards, scored = groups.rewards, groups.scored
    if settings.scale == "mean" and (rewards[scored] < 0).any():
        raise RunError(
            "advantage.scale=mean divides by the mean reward of a group, so rewards must not be negative; change the "
            "weights of the task, or use advantage.reward=correct"
        )
    if settings.baseline == "greedy":
        assert groups.greedy_rewards is not None
        scored = scored & ~groups.greedy_rewards.isnan()
        rewards = differences(rewards, groups.greedy_rewards.where(scored, 0.0))
    return normalize(rewards[:, None], scored[:, None], groups.group_size, settings)[:, 0]


def decoupled_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """GDPO (Liu et al. 2026): (B,) sums of each part's own advantages, by weight.

    Parts with different spreads thus contribute in proportion to their weights, and completions with equal totals but
    different parts get different advantages. The sums are divided by their deviation over the batch. Their mean over
    the batch is not subtracted: it is 0, as that of every group is, but for rounding that would give uniform groups a
    gradient.
    """
    scored, total = groups.scored[:, None], torch.zeros(len(groups.scored), dtype=torch.float64)
    for values, weights in zip(groups.part_values.T, groups.part_weights.T, strict=True):
        total += weights * normalize(values[:, None], scored, groups.group_size, settings)[:, 0]
    of_sums = settings.model_copy(update={"scale": "batch", "baseline": "group"})
    return normalize(total[:, None], scored, groups.group_size, of_sums)[:, 0]


def process_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B, T) advantages of tokens: DeepSeekMath, section 4.1.3; 0 after a row's last step.

    The step rewards of the whole group are pooled and normalized together, r~ = (r - mean(R)) / std(R); a token's
    advantage is the sum of the normalized rewards of the steps that end on it or later,
    A[i, t] = sum of r~[i, j] over the steps j with step_tokens[i, j] >= t.

    ``step_credit``: ``sum`` as above (the default here); ``mean`` of the same rewards, so that more steps do not add up
    to more; ``min``, the lowest of them (PURE, Cheng et al. 2025).
    """
    mask = groups.step_mask & groups.scored[:, None]
    steps = normalize(groups.step_rewards, mask, groups.group_size, settings)
    index, zeros = groups.step_tokens.where(mask, 0), torch.zeros(groups.sampled.shape, dtype=steps.dtype)
    if settings.step_credit == "min":
        lowest = torch.full_like(zeros, torch.inf).scatter_reduce(1, index, steps.where(mask, torch.inf), "amin")
        remaining = lowest.flip(1).cummin(1).values.flip(1)
        return remaining.where(remaining.isfinite(), 0.0)
    remaining = _suffix_sums(zeros.scatter_add(1, index, steps))
    if settings.step_credit == "mean":
        return remaining / _suffix_sums(zeros.scatter_add(1, index, mask.to(zeros.dtype))).clamp(min=1)
    return remaining


def return_advantages(groups: ScoredGroups, settings: AdvantageConfig) -> Tensor:
    """(B, T) returns-to-go less those of the group at the same step (with a baseline: Sutton et al. 1999).

    A token of a row's step j gets the row's rewards from step j on, less the mean of the group's, which are 0 for rows
    that have ended before. Steps that end on one token are one. In texts, the token after a step is part of it (see
    ``_ending_tokens``). Tokens after the last step count as one more step with the return 0.

    If a step's end and its reward depend on no later token, the estimate is unbiased: with ``scale: none``, the
    gradient is that of the expected sum of rewards under ``baseline: leave_one_out``, and (1 - 1/G) times it under
    ``group``. Under ``sum`` every step has its own mean subtracted, which leaves the number of steps without a
    gradient. ``scale`` divides by the deviation of all returns, those of ended rows included.
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
    centered = center(columns, present.transpose(1, 2).reshape(columns.shape), settings.baseline)
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
