"""LoRA (Hu et al. 2021) by peft: a small adapter is trained, and the base weights stay frozen."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import torch

from grpo_env.errors import UsageError, install

from ..config import TrainConfig
from .policy import Policy


def prepare_adapter(policy: Policy, config: TrainConfig) -> None:
    """Train only an adapter: the one that the model was loaded with, or a new one of ``lora.rank``.

    A new adapter starts at zero (Hu et al., section 4.1), so the policy starts as the model; the seed fixes the random
    one of its two matrices. Raises ``UsageError`` if peft is missing or too old for transformers.
    """
    model, name = policy.model, policy.name
    if policy.has_adapter:
        if config.lora.rank:
            raise UsageError(f"model {name!r} is an adapter already and is trained as it is; leave lora.rank out")
        model.set_adapter(model.active_adapters())  # a loaded adapter is frozen
    elif config.lora.rank:
        adapter = new_adapter(config)
        with torch.random.fork_rng():
            torch.manual_seed(config.seed)
            try:
                model.add_adapter(adapter)
            except ValueError as error:  # of transformers: this version of peft is too old for it
                versions = f"peft is {version('peft')}, transformers {version('transformers')}"
                raise UsageError(f"lora.rank={config.lora.rank}: {str(error).strip()} ({versions})") from error
    else:
        return
    for weight in policy.trained.values():  # peft makes them in the dtype of the layers below
        weight.data = weight.data.float()
    for layer in model.modules():
        if hasattr(layer, "cast_input_dtype_enabled"):  # by peft, to float32: autocast would round it back
            layer.cast_input_dtype_enabled = policy.autocast is None


def new_adapter(config: TrainConfig) -> Any:
    """peft's config of a new adapter."""
    try:
        from peft import LoraConfig
    except ImportError as error:
        raise UsageError(f"lora.rank needs peft: {install('lora')}") from error
    return LoraConfig(
        r=config.lora.rank, lora_alpha=config.lora.alpha, target_modules="all-linear", task_type="CAUSAL_LM"
    )
