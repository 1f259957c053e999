"""The same calls for weights that are whole, sharded by FSDP2 (``fsdp``) or sharded by DeepSpeed (``deepspeed``).

Checkpoints hold full tensors in every case, so a run can resume with another number of processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor
from torch.distributed.fsdp import FSDPModule
from torch.nn.utils import clip_grad_norm_
from torch.utils._pytree import tree_map_only

from ..sharding import deepspeed, fsdp

if TYPE_CHECKING:
    from ..policy import Policy

T = TypeVar("T")

_unsharded: set[int] = set()  # models inside of ``unsharded``, by ``id``


def is_sharded(policy: Policy) -> bool:
    """Whether every process stores only a shard of the weights, or of the optimizer's state."""
    return isinstance(policy.model, FSDPModule) or policy.deepspeed_engine is not None


@contextmanager
def unsharded(policy: Policy) -> Iterator[None]:
    """Every process has all weights inside the block, so that it can compute without the others.

    Sampling needs this: each process takes as many steps as its own completions need. All processes must enter
    together. Inside of another such block it does nothing.
    """
    if id(policy.model) in _unsharded:
        yield
        return
    gathered = (
        fsdp.unsharded(policy.model)
        if policy.deepspeed_engine is None
        else deepspeed.unsharded(policy.deepspeed_engine)
    )
    with gathered:
        _unsharded.add(id(policy.model))
        try:
            yield
        finally:
            _unsharded.discard(id(policy.model))


def full_model_state(policy: Policy, keep: bool = True) -> dict[str, Tensor] | None:
    """The state dict that a model file holds, with tied weights once; ``None`` where nothing is sharded."""
    if not is_sharded(policy):
        return None
    if policy.deepspeed_engine is not None:
        return deepspeed.full_model_state(policy, keep)
    return fsdp.full_model_state(policy, keep)


def full_state(
    policy: Policy, optimizer: torch.optim.Optimizer, reference: Mapping[str, Tensor] | None, keep: bool
) -> dict[str, Any]:
    """Optimizer, reference and weights for a checkpoint, as full tensors; ``None`` where ``keep`` is False.

    All processes must call this together.
    """
    if policy.deepspeed_engine is not None:
        return deepspeed.full_state(policy, optimizer, reference, keep)
    weights = {name: weight.detach() for name, weight in policy.trained.items()}
    return fsdp.full_tensors({"optimizer": optimizer.state_dict(), "reference": reference, "weights": weights}, keep)


def shard_state(policy: Policy, state: T) -> T:
    """A nested state with this process's shards in place of full tensors; unchanged where nothing is sharded."""
    if not is_sharded(policy):
        return state
    shard_tensor = fsdp.shard_tensor if policy.deepspeed_engine is None else deepspeed.shard_tensor

    def shard(tensor: Tensor) -> Tensor:
        return shard_tensor(policy, tensor) if tensor.dim() else tensor  # the optimizer's step count has no dimension

    result: T = tree_map_only(Tensor, shard, state)
    return result


def load_optimizer(policy: Policy, optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """Restore the optimizer from its part of ``shard_state``, after the weights."""
    if policy.deepspeed_engine is not None:
        deepspeed.load_optimizer(policy, optimizer, state)
    else:
        optimizer.load_state_dict(state)


def backward(policy: Policy, loss: Tensor) -> None:
    """Add a loss's gradient to that of the step."""
    if policy.deepspeed_engine is not None:
        deepspeed.backward(policy, loss)
    else:
        policy.accelerator.backward(loss)


def optimizer_step(policy: Policy, optimizer: torch.optim.Optimizer, max_norm: float) -> float:
    """Step along the sum of all processes' gradients, clipped to ``max_norm``; returns the norm before clipping.

    If that norm is not finite, the weights stay as they are.
    """
    if policy.deepspeed_engine is not None:
        return deepspeed.optimizer_step(policy)
    weights = list(policy.trained.values())
    for weight in weights:
        weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
        if policy.accelerator.num_processes > 1 and not is_sharded(policy):
            weight.grad = policy.accelerator.reduce(weight.grad, "sum")
    norm = float(fsdp.full_tensors(clip_grad_norm_(weights, max_norm)))
    if math.isfinite(norm):
        optimizer.step()
    optimizer.zero_grad()
    return norm
