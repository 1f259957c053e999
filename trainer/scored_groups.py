"""The rewards of a step as tensors: of completions, of the reward's parts, and of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from .config import TrainConfig
from .engine.policy import Policy
from .shared_types import ScoredRollout
from .step_tokens import step_tokens


class ValuedStep(NamedTuple):
    """A step of a completion: the index of its last token, and the values before and after it, or 0 and its reward."""

    token: int
    before: float
    after: float


@dataclass(frozen=True)
class ScoredGroups:
    """The scored completions of a step: B rows, of which every ``group_size`` adjacent ones answer the same prompt.

    Tensors are on the CPU; rewards and values are float64. They are 0 in rows without a score.

    Attributes:
        group_size: G; rows ``[p * G, (p + 1) * G)`` are one group.
        rewards: (B,) the rewards.
        scored: (B,) bool, False where the reward is not known; such rows are not part of the loss.
        metric: (B,) the task's metric.
        truncated: (B,) bool, True for completions that reached ``sampling.max_new_tokens``.
        episode: (B,) bool, True for episodes of an environment, whose steps end with turns.
        sampled: (B, T) bool, True where a token was sampled; T tokens are those of the longest row. In an episode, the
            tokens between two turns were not.
        lengths: (B,) int64, row lengths in tokens, end tokens and those between turns included.
        parts: (B,) the values of each part of the reward that has a weight, by its name.
        step_rewards: (B, S) rewards of at most S steps a row; S is 1, and there are none, under
            ``supervision: outcome``, unless ``advantage.function`` is set.
        step_tokens: (B, S) int64, index of the token that ends the step.
        step_mask: (B, S) bool, True where there is a step.
        step_baselines: (B, S) estimated values before the steps, of which ``step_rewards`` are then those after them;
            ``None`` without ``step_values.rollouts``.
    """

    group_size: int
    rewards: Tensor
    scored: Tensor
    metric: Tensor
    truncated: Tensor
    episode: Tensor
    sampled: Tensor
    lengths: Tensor
    parts: Mapping[str, Tensor]
    step_rewards: Tensor
    step_tokens: Tensor
    step_mask: Tensor
    step_baselines: Tensor | None = None


def scored_groups(
    policy: Policy,
    rollouts: Sequence[ScoredRollout],
    config: TrainConfig,
    values: Sequence[Sequence[ValuedStep]] | None = None,
) -> ScoredGroups:
    """The tensors of scored rollouts; ``values`` has the steps of each row, under ``step_values.rollouts``."""
    estimated = values is not None
    if values is None:
        # To find the tokens of steps takes time.
        with_steps = config.supervision != "outcome" or config.advantage.function is not None
        values = [_rewarded_steps(policy, row) if with_steps else [] for row in rollouts]
    step_rewards, step_baselines, ends, step_mask = _padded_steps(values)
    sampled = [torch.tensor(row.rollout.sampled, dtype=torch.bool) for row in rollouts]
    return ScoredGroups(
        group_size=config.group_size,
        rewards=_float64(row.score.value for row in rollouts),
        scored=torch.tensor([row.score.scored for row in rollouts]),
        metric=_float64(row.correct for row in rollouts),
        truncated=torch.tensor([row.rollout.finish == "length" for row in rollouts]),
        episode=torch.tensor([row.rollout.spans is not None for row in rollouts]),
        sampled=pad_sequence(sampled, batch_first=True),
        lengths=torch.tensor([len(row.rollout.ids) for row in rollouts]),
        parts=_parts(rollouts),
        step_rewards=step_rewards,
        step_tokens=ends,
        step_mask=step_mask,
        step_baselines=step_baselines if estimated else None,
    )


def _float64(values: Iterable[float | None]) -> Tensor:
    """The values, 0 where there is none."""
    return torch.tensor([value or 0.0 for value in values], dtype=torch.float64)


def _parts(rollouts: Sequence[ScoredRollout]) -> dict[str, Tensor]:
    """(B,) the values of each weighted part, 0 if unscored, and in rows of other tasks."""
    values: dict[str, list[float]] = {}
    for index, row in enumerate(rollouts):
        for part in row.score.parts:
            if part.weight:
                values.setdefault(part.name, [0.0] * len(rollouts))[index] = part.value or 0.0
    return {name: torch.tensor(column, dtype=torch.float64) for name, column in values.items()}


def _rewarded_steps(policy: Policy, row: ScoredRollout) -> list[ValuedStep]:
    """The steps of a row with their rewards, as values after them."""
    steps = row.score.steps
    tokens = step_tokens(policy.decode, row.rollout, steps) if steps else []
    return [ValuedStep(token, 0.0, step.value) for token, step in zip(tokens, steps, strict=True)]


def _padded_steps(rows: Sequence[Sequence[ValuedStep]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(B, S) values after and before the steps, the tokens on which they end, and a mask of those that exist."""
    numbers = [torch.tensor(steps, dtype=torch.float64).reshape(len(steps), 3) for steps in rows]
    padded = pad_sequence([*numbers, torch.zeros(1, 3, dtype=torch.float64)], batch_first=True)[:-1]  # S is at least 1
    tokens, before, after = padded.unbind(-1)
    mask = torch.arange(padded.shape[1]) < torch.tensor([[len(steps)] for steps in rows])
    return after, before, tokens.long(), mask
