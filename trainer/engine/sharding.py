"""Weights, gradients and optimizer states split into one shard per process, by FSDP2 (torch's ``fully_shard``).

This happens where accelerate is set up for FSDP. A forward or backward pass gathers each layer's weights before it and
frees them after it. All processes do that together, so all must make the same number of passes; see ``unsharded`` for
sampling, where they do not. Checkpoints hold full tensors, so a run can resume with another number of processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from accelerate import Accelerator
from accelerate.utils import FullyShardedDataParallelPlugin, broadcast, parse_flag_from_env
from torch import Tensor
from torch._utils import _take_tensors
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.utils._pytree import tree_map_only
from transformers.modeling_layers import GradientCheckpointingLayer

from grpo_env.errors import UsageError

if TYPE_CHECKING:
    from ..config import TrainConfig
    from .policy import Policy

T = TypeVar("T")

BUCKET_BYTES = 25 * 2**20  # of gradients in a message, the default of torch's DistributedDataParallel


def will_shard(accelerator: Accelerator) -> bool:
    """Whether ``accelerate config`` asks for FSDP and there are several processes."""
    return bool(accelerator.num_processes > 1 and parse_flag_from_env("ACCELERATE_USE_FSDP"))


def with_fsdp(policy: Policy, config: TrainConfig) -> Policy:
    """The policy with sharded weights if it was loaded to be ``sharded``.

    Weights are gathered in the dtype that the policy computes in. Raises ``UsageError`` for settings that do not work
    with FSDP.
    """
    if not will_shard(policy.accelerator):
        return policy
    plugin = FullyShardedDataParallelPlugin()
    requirements = {
        "fsdp_version: 2": plugin.fsdp_version == 2,
        "fsdp_reshard_after_forward: true": plugin.reshard_after_forward is True,
        "fsdp_offload_params: false": not parse_flag_from_env("FSDP_OFFLOAD_PARAMS"),
        "engine.gradient_checkpointing=true, not fsdp_activation_checkpointing": not plugin.activation_checkpointing,
        f"a newer torch than {torch.__version__}": hasattr(FSDPModule, "set_gradient_divide_factor"),
        "no parallelism_config": policy.accelerator.parallelism_config is None,
        "optimizer.name=adamw": config.optimizer.name == "adamw",
        "training of all weights, not of an adapter": all(part.requires_grad for part in policy.model.parameters()),
    }
    if missing := [name for name, met in requirements.items() if not met]:
        raise UsageError(f"accelerate is set up for FSDP, which needs {', '.join(missing)}; see docs/scaling.md")
    model, precision = policy.model, MixedPrecisionPolicy(policy.autocast, torch.float32)
    whole = model.state_dict() | dict(model.named_non_persistent_buffers())
    model.to("meta")
    model.tie_weights()
    layers = [layer for layer in model.modules() if isinstance(layer, GradientCheckpointingLayer)]
    for module in (*layers, model):
        fully_shard(module, mp_policy=precision, reshard_after_forward=True)
        # Gradients are summed, not averaged; gloo supports that only when it is forced.
        module.set_gradient_divide_factor(1.0)
        module.set_force_sum_reduction_for_comms(True)
    _take_shards(policy, whole)
    return policy


def _take_shards(policy: Policy, whole: dict[str, Tensor]) -> None:
    """Give a model without memory its shards of the first process's ``whole`` weights, one after the other."""
    model, parts = policy.model, {}
    device, main = policy.accelerator.device, policy.accelerator.is_main_process
    for name, empty in (model.state_dict() | dict(model.named_non_persistent_buffers())).items():
        weight = whole[name].to(device) if main else torch.empty(empty.shape, dtype=empty.dtype, device=device)
        if isinstance(empty, DTensor):
            parts[name] = distribute_tensor(weight, empty.device_mesh, empty.placements)
        else:
            module, _, buffer = name.rpartition(".")
            setattr(model.get_submodule(module), buffer, broadcast(weight))
    model.load_state_dict(parts, strict=False, assign=True)
    model.tie_weights()


def is_sharded(policy: Policy) -> bool:
    """Whether every process stores only a shard of the weights."""
    return isinstance(policy.model, FSDPModule)


@contextmanager
def unsharded(policy: Policy) -> Iterator[None]:
    """Every process has all weights inside the block, so that it can compute without the others.

    Sampling needs this: each process takes as many steps as its own completions need. All processes must enter
    together. Such blocks cannot be nested.
    """
    modules = [module for module in policy.model.modules() if isinstance(module, FSDPModule)]
    for module in modules:
        module.set_reshard_after_forward(False, recurse=False)
        module.unshard()
    try:
        yield
    finally:
        for module in modules:
            module.set_reshard_after_forward(True, recurse=False)
            module.reshard()


def _full_tensors(state: T, keep: bool = True) -> T:
    """A nested state with every sharded tensor gathered on the CPU; ``None`` in its place where ``keep`` is False.

    All processes must call this together.
    """

    def gather(sharded: DTensor) -> Tensor | None:
        tensor = sharded.full_tensor().detach()
        return tensor.cpu() if keep else None

    result: T = tree_map_only(DTensor, gather, state)
    return result


def full_model_state(policy: Policy, keep: bool = True) -> dict[str, Tensor] | None:
    """The state dict that a model file holds, with tied weights once; ``None`` where nothing is sharded."""
    if not is_sharded(policy):
        return None
    state = policy.model.state_dict().items()
    return _full_tensors(
        {name: part for name, part in state if name in policy.trained or not isinstance(part, DTensor)}, keep
    )


def full_state(
    policy: Policy, optimizer: torch.optim.Optimizer, reference: Mapping[str, Tensor] | None, keep: bool
) -> dict[str, Any]:
    """Optimizer, reference and weights for a checkpoint, as full tensors; ``None`` where ``keep`` is False.

    All processes must call this together.
    """
    weights = {name: weight.detach() for name, weight in policy.trained.items()}
    return _full_tensors({"optimizer": optimizer.state_dict(), "reference": reference, "weights": weights}, keep)


def shard_state(policy: Policy, state: T) -> T:
    """A nested state with this process's shards in place of full tensors; unchanged where nothing is sharded."""
    if not is_sharded(policy):
        return state
    weight: Any = next(policy.model.parameters())

    def shard(tensor: Tensor) -> Tensor:
        if not tensor.dim():  # the optimizer's step count
            return tensor
        return distribute_tensor(tensor, weight.device_mesh, weight.placements, src_data_rank=None)

    result: T = tree_map_only(Tensor, shard, state)
    return result


def optimizer_step(policy: Policy, optimizer: torch.optim.Optimizer, max_norm: float) -> float:
    """Step along the sum of all processes' gradients, clipped to ``max_norm``; returns the norm before clipping.

    If that norm is not finite, the weights stay as they are.
    """
    weights: list[Any] = list(policy.trained.values())
    for weight in weights:
        weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
    if policy.accelerator.num_processes > 1 and not is_sharded(policy):
        sum_gradients(policy.accelerator, [weight.grad for weight in weights])
    norm = float(_full_tensors(policy.accelerator.clip_grad_norm_(weights, max_norm)))
    if math.isfinite(norm):
        optimizer.step()
    optimizer.zero_grad()
    return norm


def sum_gradients(accelerator: Accelerator, gradients: Sequence[Tensor]) -> None:
    """Replace gradients by their sums over all processes, as many in each message as ``BUCKET_BYTES`` hold."""
    for bucket in _take_tensors(gradients, BUCKET_BYTES):  # type: ignore[no-untyped-call]  # each of one dtype
        summed = accelerator.reduce(torch.cat([gradient.flatten() for gradient in bucket]), "sum")
        for gradient, part in zip(bucket, summed.split([gradient.numel() for gradient in bucket]), strict=True):
            gradient.copy_(part.view_as(gradient))
