"""Steps of the training loop, for tests that need only some of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
import torch
from torch import Tensor

from grpo_env.trainer.advantages import token_advantages
from grpo_env.trainer.batch import Batch, MicroBatch, pack_batches
from grpo_env.trainer.config import SamplingConfig, TrainConfig
from grpo_env.trainer.engine.logprobs import completion_logp
from grpo_env.trainer.engine.memory import default_tokens
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.optimizer import make_optimizer
from grpo_env.trainer.reference import add_reference_logp
from grpo_env.trainer.rollout import sample_rollouts
from grpo_env.trainer.scored_groups import ScoredGroups, scored_groups
from grpo_env.trainer.shared_types import Prompt, ScoredRollout
from grpo_env.trainer.update import SUMS, micro_batch_loss, update


def with_settings(config: TrainConfig, **changes: Any) -> TrainConfig:
    """The config with other settings: ``with_settings(config, kl={"coef": 0.1}, **{"loss.clip_low": 0.1})``."""
    return TrainConfig.from_mapping(changes, defaults=config.model_dump())


def groups_of(
    rewards: Sequence[float] | Tensor,
    group_size: int | None = None,
    *,
    scored: Sequence[bool] | Tensor | None = None,
    length: int = 1,
    **fields: Any,
) -> ScoredGroups:
    """Scored groups of these rewards, without steps unless ``fields`` have them.

    All rows have ``length`` tokens and are truncated.
    """
    values = torch.as_tensor(rewards, dtype=torch.float64)
    rows = len(values)
    known = torch.ones(rows, dtype=torch.bool) if scored is None else torch.as_tensor(scored)
    given: dict[str, Any] = {
        "metric": values,
        "truncated": torch.ones(rows, dtype=torch.bool),
        "episode": torch.zeros(rows, dtype=torch.bool),
        "sampled": torch.ones(rows, length, dtype=torch.bool),
        "lengths": torch.full((rows,), length),
        "parts": {},
        "step_rewards": torch.zeros(rows, 1, dtype=torch.float64),
        "step_tokens": torch.zeros(rows, 1, dtype=torch.long),
        "step_mask": torch.zeros(rows, 1, dtype=torch.bool),
        **fields,
    }
    return ScoredGroups(group_size or rows, values, known, **given)


def roll_out(policy: Policy, prompts: Sequence[Prompt], group_size: int, **options: Any) -> list[ScoredRollout]:
    """Sampled and scored completions; ``options`` are ``seed`` and settings of sampling."""
    seed = options.pop("seed")
    sampling = SamplingConfig().model_copy(update=options)  # temperature 0 is greedy, and no setting of training
    return sample_rollouts(policy, prompts, group_size, sampling, seed)


def packed(policy: Policy, rollouts: Sequence[ScoredRollout], config: TrainConfig) -> Batch:
    """The batch of these rollouts, in one mini-batch."""
    (batch,) = mini_batches(policy, rollouts, config)
    return batch


def mini_batches(policy: Policy, rollouts: Sequence[ScoredRollout], config: TrainConfig) -> list[Batch]:
    """These rollouts in ``optimizer.mini_batches``."""
    advantages = advantages_of(policy, rollouts, config)
    return pack_batches(policy, rollouts, advantages, config, default_tokens(policy, config))


def advantages_of(policy: Policy, rollouts: Sequence[ScoredRollout], config: TrainConfig) -> torch.Tensor:
    """The advantages of the tokens of these rollouts."""
    return token_advantages(scored_groups(policy, rollouts, config), config)


def loss_of(
    policy: Policy, micro: MicroBatch, config: TrainConfig, denominator: float = 1.0
) -> tuple[Tensor, dict[str, float]]:
    """The loss of a micro-batch and its statistics. The first call sets ``old_logp``."""
    logp, entropy = completion_logp(policy, micro, config.sampling.temperature, "value")
    if micro.old_logp is None:
        micro.old_logp = logp.detach()
    loss, sums = micro_batch_loss(micro, logp, entropy, config, denominator)
    return loss, dict(zip(SUMS, sums.tolist(), strict=True))


def one_step(
    policy: Policy,
    rollouts: Sequence[ScoredRollout],
    config: TrainConfig,
    optimizer: torch.optim.Optimizer | None = None,
    reference: Mapping[str, Tensor] | None = None,
) -> dict[str, float]:
    """The updates of a step on these rollouts, with the config's optimizer unless one is given."""
    batches = mini_batches(policy, rollouts, config)
    if reference is not None:
        add_reference_logp(policy, reference, batches, config.sampling.temperature)
    return update(policy, optimizer or make_optimizer(policy, config.optimizer), batches, config, 0)


def read_samples(run: Path) -> list[dict[str, Any]]:
    """The rows of a run's samples, by step, with the columns of episodes as values."""
    rows = pyarrow.parquet.read_table(run / "samples").to_pylist()
    return [row | {name: json.loads(row[name]) for name in ("turns", "environment") if row[name]} for row in rows]
