"""FSDP2 (torch's ``fully_shard``), where accelerate is set up for it.

A forward or backward pass gathers each layer's weights before it and frees them after it. All processes do that
together, so all must make the same number of passes; see ``weights.unsharded`` for sampling, where they do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from accelerate.utils import FullyShardedDataParallelPlugin, parse_flag_from_env
from torch import Tensor
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.utils._pytree import tree_map_only
from transformers.modeling_layers import GradientCheckpointingLayer

from .requirements import check_requirements

if TYPE_CHECKING:
    from ...config import TrainConfig
    from ..policy import Policy

T = TypeVar("T")


def with_fsdp(policy: Policy, config: TrainConfig) -> Policy:
    """The policy with sharded weights if ``accelerate config`` asks for FSDP and there are several processes.

    Weights are gathered in the dtype that the policy computes in. Raises ``UsageError`` for settings that do not work
    with FSDP.
    """
    if policy.accelerator.num_processes == 1 or not parse_flag_from_env("ACCELERATE_USE_FSDP"):
        return policy
    plugin = FullyShardedDataParallelPlugin()
    requirements = {
        "fsdp_version: 2": plugin.fsdp_version == 2,
        "fsdp_reshard_after_forward: true": plugin.reshard_after_forward is True,
        "fsdp_offload_params: false": not parse_flag_from_env("FSDP_OFFLOAD_PARAMS"),
        "engine.gradient_checkpointing=true, not fsdp_activation_checkpointing": not plugin.activation_checkpointing,
        f"a newer torch than {torch.__version__}": hasattr(FSDPModule, "set_gradient_divide_factor"),
        "no parallelism_config": policy.accelerator.parallelism_config is None,
    }
    check_requirements("FSDP", requirements, policy, config)
    model, precision = policy.model, MixedPrecisionPolicy(policy.autocast, torch.float32)
    layers = [layer for layer in model.modules() if isinstance(layer, GradientCheckpointingLayer)]
    for module in (*layers, model):
        fully_shard(module, mp_policy=precision, reshard_after_forward=True)
        # Gradients are summed, not averaged; gloo supports that only when it is forced.
        module.set_gradient_divide_factor(1.0)
        module.set_force_sum_reduction_for_comms(True)
    return replace(policy, has_separate_head=False)  # only the whole model gathers the weights of head and embedding


@contextmanager
def unsharded(model: Any) -> Iterator[None]:
    """Every process has all weights inside the block."""
    modules = [module for module in model.modules() if isinstance(module, FSDPModule)]
    for module in modules:
        module.set_reshard_after_forward(False, recurse=False)
        module.unshard()
    try:
        yield
    finally:
        for module in modules:
            module.set_reshard_after_forward(True, recurse=False)
            module.reshard()


def full_tensors(state: T, keep: bool = True) -> T:
    """A nested state with every sharded tensor gathered on the CPU; ``None`` in its place where ``keep`` is False.

    All processes must call this together.
    """

    def gather(sharded: DTensor) -> Tensor | None:
        tensor = sharded.full_tensor().detach()
        return tensor.cpu() if keep else None

    result: T = tree_map_only(DTensor, gather, state)
    return result


def full_model_state(policy: Policy, keep: bool) -> dict[str, Tensor]:
    """``weights.full_model_state`` of an FSDP2 model."""
    state = policy.model.state_dict().items()
    return full_tensors(
        {name: part for name, part in state if name in policy.trained or not isinstance(part, DTensor)}, keep
    )


def shard_tensor(policy: Policy, tensor: Tensor) -> Tensor:
    """This process's shard of a full tensor."""
    weight: Any = next(policy.model.parameters())
    return distribute_tensor(tensor, weight.device_mesh, weight.placements, src_data_rank=None)
