"""From tasks and settings to a loaded policy and its optimizer."""

from __future__ import annotations

import torch

from grpo_env.errors import UsageError

from ..config import TrainConfig
from ..engine.forward import with_fast_paths
from ..engine.lora import prepare_adapter
from ..engine.policy import Policy, checkpoint_activations, is_adapter, load_policy
from ..engine.sharding import with_fsdp
from ..optimizer import make_optimizer


def load_policy_and_optimizer(config: TrainConfig) -> tuple[Policy, torch.optim.Optimizer]:
    """The policy as it will be trained: with fast paths, adapter, precision and sharding; and its optimizer.

    Raises ``UsageError``.
    """
    policy = load_policy(
        config.model,
        device=config.engine.device,
        precision=config.engine.precision,
        frozen=config.lora.rank > 0 or is_adapter(config.model),
        quantize=config.lora.quantize,
        sharded=True,
    )
    if config.engine.gradient_checkpointing:
        checkpoint_activations(policy.model)
    prepare_adapter(policy, config)
    policy = with_fast_paths(with_fsdp(policy, config))
    processes = policy.accelerator.num_processes
    if config.prompts_per_step % processes:
        raise UsageError(f"prompts_per_step={config.prompts_per_step} cannot be shared by {processes} processes")
    return policy, make_optimizer(policy, config.optimizer)
