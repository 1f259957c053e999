"""Weights of which every process keeps a share: FSDP2 (torch's ``fully_shard``), where accelerate is set up for it.

The optimizer works on the shares. A pass, forward or backward, gathers each layer's weights before it and frees them
after it. All processes do that together, so all must make as many passes; sampling, where each goes on for as long as
its completions do, gathers all weights beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import torch
from accelerate.utils import FullyShardedDataParallelPlugin, parse_flag_from_env
from torch import Tensor
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.utils._pytree import tree_map_only
from transformers.modeling_layers import GradientCheckpointingLayer

from grpo_env.errors import UsageError

from .config import TrainConfig
from .policy import Policy

T = TypeVar("T")


def shard(policy: Policy, config: TrainConfig) -> Policy:
    """The policy with its weights in shares if ``accelerate config`` says so and there are processes to share them.

    They are gathered in the type that the policy computes in. Raises ``UsageError`` for what does not go with that.
    """
    if policy.accelerator.num_processes == 1 or not parse_flag_from_env("ACCELERATE_USE_FSDP"):
        return policy
    asked = FullyShardedDataParallelPlugin()
    needs = {
        "fsdp_version: 2": asked.fsdp_version == 2,
        "fsdp_reshard_after_forward: true": asked.reshard_after_forward is True,
        "fsdp_offload_params: false": not parse_flag_from_env("FSDP_OFFLOAD_PARAMS"),
        "gradient_checkpointing=true, not fsdp_activation_checkpointing": not asked.activation_checkpointing,
        "no parallelism_config": policy.accelerator.parallelism_config is None,
        "optimizer=adamw": config.optimizer == "adamw",
        "sampler=own": config.sampler == "own",
        "training of all weights, not of an adapter": all(part.requires_grad for part in policy.model.parameters()),
    }
    if missing := [need for need, met in needs.items() if not met]:
        raise UsageError(f"accelerate is set up for FSDP, which needs {', '.join(missing)}; see docs/scaling.md")
    model, precision = policy.model, MixedPrecisionPolicy(policy.autocast, torch.float32)
    layers = [layer for layer in model.modules() if isinstance(layer, GradientCheckpointingLayer)]
    for part in (*layers, model):
        fully_shard(part, mp_policy=precision, reshard_after_forward=True)
        part.set_gradient_divide_factor(1.0)  # a sum, not a mean; gloo has it
        part.set_force_sum_reduction_for_comms(True)  # in this way only
    return replace(policy, has_head_apart=False)  # the model itself gathers what its head and embedding need


def is_sharded(policy: Policy) -> bool:
    """Whether every process keeps only a share of the weights."""
    return isinstance(policy.model, FSDPModule)


@contextmanager
def gathered(policy: Policy) -> Iterator[None]:
    """Every process has all weights, so that it can compute without the others. All processes come here together."""
    parts = [part for part in policy.model.modules() if isinstance(part, FSDPModule)]
    for part in parts:
        part.set_reshard_after_forward(False, recurse=False)
        part.unshard()
    try:
        yield
    finally:
        for part in parts:
            part.set_reshard_after_forward(True, recurse=False)
            part.reshard()


def whole(state: T, keep: bool = True) -> T:
    """A nested state with whole tensors on the CPU in place of shares, or ``None`` where a process does not keep them.

    All processes come here together.
    """

    def gather(share: DTensor) -> Tensor | None:
        tensor = share.full_tensor().detach()
        return tensor.cpu() if keep else None

    result: T = tree_map_only(DTensor, gather, state)
    return result


def whole_model(policy: Policy, keep: bool = True) -> dict[str, Tensor] | None:
    """What a file of the whole model holds, weights that layers share once; ``None`` where nothing is sharded."""
    if not is_sharded(policy):
        return None
    once, state = policy.trained, policy.model.state_dict()
    return whole({name: part for name, part in state.items() if name in once or not isinstance(part, DTensor)}, keep)


def shares(policy: Policy, state: T) -> T:
    """A nested state with this process's shares in place of whole tensors; as it is where nothing is sharded."""
    if not is_sharded(policy):
        return state
    like: Any = next(policy.model.parameters())

    def share(tensor: Tensor) -> Tensor:
        if not tensor.dim():  # the optimizer's count of steps
            return tensor
        return distribute_tensor(tensor, like.device_mesh, like.placements, src_data_rank=None)

    result: T = tree_map_only(Tensor, share, state)
    return result
