"""Weights of which every process keeps a share: FSDP2 (torch's ``fully_shard``), where accelerate is set up for it, or
DeepSpeed (see ``zero``).

The optimizer works on the shares. A pass, forward or backward, gathers each layer's weights before it and frees them
after it. All processes do that together, so all must make as many passes; sampling, where each goes on for as long as
its completions do, gathers all weights beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from accelerate.utils import FullyShardedDataParallelPlugin, parse_flag_from_env
from torch import Tensor
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.utils import clip_grad_norm_
from torch.utils._pytree import tree_map_only
from transformers.modeling_layers import GradientCheckpointingLayer

from . import deepspeed as zero

if TYPE_CHECKING:
    from ...config import TrainConfig
    from ..policy import Policy

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
        "engine.gradient_checkpointing=true, not fsdp_activation_checkpointing": not asked.activation_checkpointing,
        "no parallelism_config": policy.accelerator.parallelism_config is None,
    }
    zero.check_setup("FSDP", needs, policy, config)
    model, precision = policy.model, MixedPrecisionPolicy(policy.autocast, torch.float32)
    layers = [layer for layer in model.modules() if isinstance(layer, GradientCheckpointingLayer)]
    for part in (*layers, model):
        fully_shard(part, mp_policy=precision, reshard_after_forward=True)
        part.set_gradient_divide_factor(1.0)  # a sum, not a mean; gloo has it
        part.set_force_sum_reduction_for_comms(True)  # in this way only
    return replace(policy, has_head_apart=False)  # the model itself gathers what its head and embedding need


def is_sharded(policy: Policy) -> bool:
    """Whether every process keeps only a share of the weights, or of what their optimizer needs."""
    return isinstance(policy.model, FSDPModule) or policy.engine is not None


@contextmanager
def gathered(policy: Policy) -> Iterator[None]:
    """Every process has all weights, so that it can compute without the others. All processes come here together."""
    if policy.engine is not None:
        with zero.gathered(policy.engine):
            yield
        return
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
    if policy.engine is not None:
        buffers = dict(policy.model.named_buffers())
        return {name: part for name, part in state.items() if name in buffers} | zero.whole_weights(policy, keep)
    return whole({name: part for name, part in state.items() if name in once or not isinstance(part, DTensor)}, keep)


def shares(policy: Policy, state: T) -> T:
    """A nested state with this process's shares in place of whole tensors; as it is where nothing is sharded."""
    if not is_sharded(policy):
        return state
    like: Any = next(policy.model.parameters())

    def share(tensor: Tensor) -> Tensor:
        if not tensor.dim():  # the optimizer's count of steps
            return tensor
        if policy.engine is not None:
            return zero.share(policy, tensor)
        return distribute_tensor(tensor, like.device_mesh, like.placements, src_data_rank=None)

    result: T = tree_map_only(Tensor, share, state)
    return result


def whole_state(
    policy: Policy, optimizer: torch.optim.Optimizer, reference: Mapping[str, Tensor] | None, keep: bool
) -> dict[str, Any]:
    """What a checkpoint holds of optimizer, reference and weights, whole; ``None`` for what is not kept."""
    if policy.engine is not None:
        return zero.whole_state(policy, optimizer, reference, keep)
    weights = {name: weight.detach() for name, weight in policy.trained.items()}
    return whole({"optimizer": optimizer.state_dict(), "reference": reference, "weights": weights}, keep)


def load_optimizer(policy: Policy, optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """Take up the optimizer's part of a checkpoint, in ``shares``, after the weights."""
    if policy.engine is not None:
        zero.load_optimizer(policy, optimizer, state)
    else:
        optimizer.load_state_dict(state)


def backward(policy: Policy, loss: Tensor) -> None:
    """Add a loss's gradient to that of the step."""
    if policy.engine is not None:
        zero.backward(policy, loss)
    else:
        policy.accelerator.backward(loss)


def advance(policy: Policy, optimizer: torch.optim.Optimizer, max_norm: float) -> float:
    """An optimizer step along the sum of all processes' gradients, scaled down to a norm; returns the norm it had.

    Where that is not finite, the weights stay as they are.
    """
    if policy.engine is not None:
        policy.engine.step()
        return math.inf if policy.engine.optimizer.overflow else float(policy.engine.get_global_grad_norm())
    weights = list(policy.trained.values())
    for weight in weights:
        weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
        if policy.accelerator.num_processes > 1 and not is_sharded(policy):
            weight.grad = policy.accelerator.reduce(weight.grad, "sum")
    norm = float(whole(clip_grad_norm_(weights, max_norm)))
    if math.isfinite(norm):
        optimizer.step()
    optimizer.zero_grad()
    return norm
