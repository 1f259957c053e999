"""The policy's weights as vLLM loads them: by the names of a model's file, or as an adapter's folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.distributed.tensor import DTensor
from transformers.core_model_loading import revert_weight_conversion

from grpo_env.errors import RunError

from ..policy import Policy

if TYPE_CHECKING:
    from .vllm_server import VllmServer


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


def send_weights(policy: Policy, server: VllmServer, folder: Path, label: str) -> None:
    """Let a server load what ``save_weights`` wrote, and call it ``label``. The first process does.

    The folder must be one that the server sees too. Raises ``RunError``.
    """
    before, is_adapter = server.model, policy.has_adapter
    server.model = label if is_adapter else before
    if not policy.accelerator.is_main_process:
        return
    if is_adapter:
        server.call("/v1/load_lora_adapter", {"lora_name": label, "lora_path": str(folder)})
        if before.partition("-")[0] == label.partition("-")[0] and before != label:  # of this run
            with suppress(RunError):
                server.call("/v1/unload_lora_adapter", {"lora_name": before})
    else:
        server.call("/collective_rpc", {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}})
    server.call("/reset_prefix_cache", {})
    server.call("/update_weight_version", {"new_version": label})
