"""The policy's weights as vLLM loads them: by the names of a model's file, or as an adapter's folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers.core_model_loading import revert_weight_conversion

from grpo_env.errors import RunError

from ..policy import Policy
from ..sharding import full_model_state

if TYPE_CHECKING:
    from .vllm_server import VllmServer


def compute_dtype(policy: Policy) -> torch.dtype:
    """The dtype of forward passes: that of autocast or, without it, of the weights."""
    dtype: torch.dtype = policy.autocast or policy.model.dtype
    return dtype


def has_adapter(policy: Policy) -> bool:
    """Whether only an adapter is trained."""
    return bool(getattr(policy.model, "_hf_peft_config_loaded", False))


def adapter_rank(policy: Policy) -> int:
    """Rank of the adapter."""
    return max(int(config.r) for config in policy.model.peft_config.values())


def base_model(policy: Policy) -> str:
    """Folder or hub id of the model's file; of an adapter, that of the model below it."""
    return str(policy.model.name_or_path)


def named_weights(policy: Policy, dtype: torch.dtype | None = None) -> dict[str, Tensor]:
    """All weights by the names of a model's file, in a dtype (default: as they are).

    Tied weights come under each of their names, since vLLM may have a copy for each.

    Sharded weights are gathered on the CPU of the first process, and other processes get nothing; all processes must
    call this together.
    """
    main = bool(policy.accelerator.is_main_process)
    state: dict[str, Any] | None = full_model_state(policy, main)
    if state is None:
        state = policy.model.state_dict()
    elif not main:
        return {}
    else:
        tied: dict[str, str] = getattr(policy.model, "all_tied_weights_keys", None) or {}
        state |= {copy: state[source] for copy, source in tied.items() if source in state}
    weights = revert_weight_conversion(policy.model, state)
    return {name: weight.to(dtype) if weight.is_floating_point() else weight for name, weight in weights.items()}


def save_weights(policy: Policy, folder: Path) -> None:
    """Write an adapter with its config, or only the weights of a model, in the dtype of forward passes.

    The first process writes; all must call this together.
    """
    if has_adapter(policy):
        if policy.accelerator.is_main_process:
            policy.model.save_pretrained(folder)
        return
    weights = named_weights(policy, compute_dtype(policy))
    if weights:
        copies = {name: weight.detach().cpu().clone() for name, weight in weights.items()}  # files know no tied weights
        save_file(copies, folder / "model.safetensors", metadata={"format": "pt"})


def send_weights(policy: Policy, server: VllmServer, folder: Path, label: str) -> None:
    """Let a server load what ``save_weights`` wrote, and call it ``label``. The first process does.

    The folder must be one that the server sees too. Raises ``RunError``.
    """
    before, is_adapter = server.model, has_adapter(policy)
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
