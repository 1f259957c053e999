"""The policy's weights as vLLM loads them: by the names of a model's file, or as an adapter's folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.distributed.tensor import DTensor
from transformers.core_model_loading import revert_weight_conversion

from ..policy import Policy


def compute_dtype(policy: Policy) -> torch.dtype:
    """The dtype of forward passes: that of autocast or, without it, of the weights."""
    dtype: torch.dtype = policy.autocast or policy.model.dtype
    return dtype


def named_weights(policy: Policy) -> Iterator[tuple[str, Tensor]]:
    """All weights by the names of a model's file, one after the other; sharded ones are gathered when it is their turn.

    Tied weights come under each of their names, since vLLM may have a copy for each. All processes that store shards
    must go through them together.
    """
    for name, weight in revert_weight_conversion(policy.model, policy.model.state_dict()).items():
        yield name, weight.full_tensor() if isinstance(weight, DTensor) else weight


def save_adapter(policy: Policy, folder: Path) -> None:
    """Write an adapter with its config, in any process; transformers' ``save_pretrained`` writes in the first alone."""
    model, (name,) = policy.model, policy.model.active_adapters()
    model.peft_config[name].save_pretrained(folder)
    weights = {f"base_model.model.{key}": value.cpu() for key, value in model.get_adapter_state_dict(name).items()}
    save_file(weights, folder / "adapter_model.safetensors", metadata={"format": "pt"})


def save_weights(policy: Policy, folder: Path) -> None:
    """Write an adapter with its config, or only the weights of a model, in the dtype of forward passes.

    The first process writes; all must call this together.
    """
    main, dtype = policy.accelerator.is_main_process, compute_dtype(policy)
    if policy.has_adapter:
        if main:
            save_adapter(policy, folder)
        return
    copies = {}  # files know no tied weights
    for name, weight in named_weights(policy):
        if main:
            copies[name] = weight.detach().to("cpu", dtype if weight.is_floating_point() else weight.dtype, copy=True)
    if main:
        save_file(copies, folder / "model.safetensors", metadata={"format": "pt"})
