"""The policy: the model being trained with its tokenizer, device and precision, and how to load it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import (
    GradientAccumulationPlugin,
    InitProcessGroupKwargs,
    disable_fsdp_ram_efficient_loading,
    patch_environment,
)
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.utils import logging as transformers_logging

from grpo_env.core import Example, Format
from grpo_env.errors import UsageError, install
from grpo_env.taskfile.prompt import prompt_ids

from .bundled import MODELS
from .fast.attention import install_attention
from .sharding import will_shard

# Of a process for the others, which may still sample, play or score; NCCL's own 10 minutes would end such a run.
LONGEST_WAIT = timedelta(hours=4)


@dataclass(frozen=True)
class Policy:
    """A causal language model with its tokenizer, on its device.

    Attributes:
        name: what the user called the model: a name of a bundled one, a folder or a hub id.
        autocast: the dtype to compute in; ``None`` for that of the weights.
        shares_prompts: the loss computes each distinct prompt once per micro-batch (see ``forward``).
        has_separate_head: the loss applies the LM head to a few tokens at a time (see ``forward``).
        refusals: why a fast path was tried and is not taken, by the attribute above.
        rollout_engine: a ``sampling.protocol.RolloutEngine``, what samples; ``None`` for the library's own engine.
    """

    name: str
    model: Any
    tokenizer: Any
    accelerator: Accelerator
    autocast: torch.dtype | None = None
    shares_prompts: bool = False
    has_separate_head: bool = False
    refusals: Mapping[str, str] = field(default_factory=dict)
    rollout_engine: Any = None

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return torch.device(self.model.device)

    @property
    def has_adapter(self) -> bool:
        """Whether the model has an adapter, which alone is trained."""
        return bool(getattr(self.model, "_hf_peft_config_loaded", False))

    @cached_property
    def end_ids(self) -> list[int]:
        """Ids that end a completion: those of the generation config and that of the tokenizer."""
        ends = self.model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        return sorted({end for end in [*ends, self.tokenizer.eos_token_id] if end is not None})

    @property
    def vocab_size(self) -> int:
        """Number of logits."""
        return int(self.model.config.get_text_config(decoder=True).vocab_size)

    @cached_property
    def takes_position_ids(self) -> bool:
        """Whether the model accepts position ids; others derive positions from the attention mask."""
        return "position_ids" in inspect.signature(self.model.forward).parameters

    @cached_property
    def cache_argument(self) -> str:
        """What the model calls its keys and values: transformers renamed ``past_key_values`` in 5.24."""
        return "cache" if "cache" in inspect.signature(self.model.forward).parameters else "past_key_values"

    @cached_property
    def max_positions(self) -> int | None:
        """The model's limit on the length of prompt plus completion, if it has one."""
        return getattr(self.model.config.get_text_config(decoder=True), "max_position_embeddings", None)

    @property
    def position_limit(self) -> tuple[int | None, str]:
        """The limit of the model or of the engine that samples, whichever is smaller, and whose it is."""
        engine = None if self.rollout_engine is None else self.rollout_engine.max_positions
        if engine is not None and (self.max_positions is None or engine < self.max_positions):
            return engine, f"the {engine} positions of vLLM (max_model_len)"
        return self.max_positions, f"the {self.max_positions} positions of {self.name}"

    @property
    def trained(self) -> dict[str, Tensor]:
        """The weights that training changes: all, or an adapter's. Tied weights are listed once."""
        return {name: weight for name, weight in self.model.named_parameters() if weight.requires_grad}

    def snapshot(self) -> dict[str, Tensor]:
        """A copy of the trained weights."""
        return {name: weight.detach().clone() for name, weight in self.trained.items()}

    def restore(self, weights: Mapping[str, Tensor]) -> None:
        """Copy a snapshot into the trained weights. Raises ``KeyError`` if one is missing."""
        for name, weight in self.trained.items():
            weight.data.copy_(weights[name])

    @contextmanager
    def swapped_weights(self, weights: Mapping[str, Tensor]) -> Iterator[None]:
        """Compute with the weights of a snapshot inside the block.

        The two are exchanged in place, one tensor at a time, so no third copy of the model is needed. ``weights`` holds
        the policy's own weights meanwhile.
        """
        try:
            self._swap(weights)
            yield
        finally:
            self._swap(weights)

    def _swap(self, weights: Mapping[str, Tensor]) -> None:
        for name, weight in self.trained.items():
            current = weight.detach().clone()
            weight.data.copy_(weights[name])
            weights[name].copy_(current)

    def autocast_context(self) -> AbstractContextManager[Any]:
        """The context for every forward pass."""
        return torch.autocast(self.device.type, self.autocast, enabled=self.autocast is not None)

    def decode(self, ids: Any) -> str:
        """Text of token ids, without special tokens and with spaces unchanged."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def prompt_ids(self, example: Example, format: Format) -> list[int]:
        """The prompt as token ids, see ``taskfile.prompt.prompt_ids``."""
        return prompt_ids(self.tokenizer, example, format, self.name)


def load_policy(
    name: str,
    *,
    device: str = "auto",
    precision: str = "auto",
    frozen: bool = False,
    quantize: str | None = None,
    sharded: bool = False,
) -> Policy:
    """Load a policy from a bundled model (``bundled.MODELS``), a folder, or a hub id.

    Weights are float32 whatever the file holds, so that small updates are not rounded away. Where they are ``frozen``
    below an adapter and the policy computes in bfloat16, they are bfloat16 too, or are quantized
    (``load_model``). Dropout stays off (eval mode), or the importance ratio of the first update would not be 1. Weights
    that are going to be ``sharded`` (``with_fsdp``) are loaded by the first process alone, into the CPU's memory.

    Raises:
        UsageError: the model does not load, or the device or the precision is not available.
    """
    with patch_environment(ACCELERATE_USE_DEEPSPEED="false"):  # its engine would take over the optimizer
        # With a plugin of its own, or ``backward`` would divide every loss by the number in the environment.
        accelerator = Accelerator(
            cpu=device == "cpu",
            mixed_precision="no",
            gradient_accumulation_plugin=GradientAccumulationPlugin(1),
            kwargs_handlers=[InitProcessGroupKwargs(timeout=LONGEST_WAIT)],
        )
    disable_fsdp_ram_efficient_loading()  # the models of verifiers are loaded by every process
    available = accelerator.device.type
    if device not in ("auto", available):
        raise UsageError(f"device {device!r} is not available here; found {available!r}")
    # "no" says nothing: it is also what accelerate writes where nothing was asked.
    launched = os.environ.get("ACCELERATE_MIXED_PRECISION", "no").lower()
    if launched not in ("no", precision) and (launched, precision) != ("bf16", "auto"):
        raise UsageError(
            f"accelerate launch --mixed_precision {launched} contradicts engine.precision={precision}; leave out the "
            "former, or let both be bf16"
        )
    precision = "bf16" if launched == "bf16" else precision
    supports_bf16 = available == "cuda" and torch.cuda.is_bf16_supported()
    if precision == "bf16" and available == "cuda" and not supports_bf16:
        raise UsageError("precision 'bf16' is not supported by this GPU; use precision=fp32")
    use_bf16 = precision == "bf16" or (precision == "auto" and supports_bf16)
    if quantize and not use_bf16:
        raise UsageError(f"lora.quantize={quantize} computes in bfloat16: set engine.precision=bf16")
    sharded = sharded and will_shard(accelerator)
    memory = "meta" if sharded and not accelerator.is_main_process else None
    dtype = torch.bfloat16 if frozen and use_bf16 else torch.float32
    model, tokenizer = load_model(name, dtype, quantize, accelerator.device if quantize else memory)
    if quantize is None and not sharded:
        model.to(accelerator.device)
    install_attention(model)
    model.eval()
    return Policy(name, model, tokenizer, accelerator, torch.bfloat16 if use_bf16 else None)


def checkpoint_activations(model: Any) -> None:
    """Compute the activations inside of layers again in the backward pass, to store less.

    In evaluation mode too, where transformers would store all of them. Raises ``UsageError`` for a model without layers
    that transformers can compute again.
    """
    layers = [layer for layer in model.modules() if isinstance(layer, GradientCheckpointingLayer)]
    if not layers:
        raise UsageError(f"{type(model).__name__} does not support engine.gradient_checkpointing")
    for layer in layers:  # nothing in them is random
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False, preserve_rng_state=False)


def is_adapter(name: str | Path) -> bool:
    """Whether a folder holds an adapter."""
    return (Path(name) / "adapter_config.json").is_file()


def load_model(
    name: str | Path,
    dtype: torch.dtype = torch.float32,
    quantize: str | None = None,
    device: torch.device | str | None = None,
) -> tuple[Any, Any]:
    """Model and tokenizer as transformers loads them. An adapter's folder gives its base model with it.

    ``quantize`` "nf4" keeps the weights of linear layers in 4 bits (QLoRA, Dettmers et al. 2023), in bitsandbytes'
    double-quantized NormalFloat. On the device "meta" a model has no weights. Raises ``UsageError``.
    """
    options = {"dtype": dtype, "device_map": device, **({} if quantize is None else _quantized(quantize))}
    transformers_logging.disable_progress_bar()
    source = _model_source(str(name))
    adapter = is_adapter(source)
    if adapter and find_spec("peft") is None:
        raise UsageError(f"model {str(name)!r} is an adapter, which needs peft: {install('lora')}")
    try:
        model = AutoModelForCausalLM.from_pretrained(source, trust_remote_code=False, **options)
        has_tokenizer = not adapter or (source / "tokenizer_config.json").is_file()
        tokenizer_source = source if has_tokenizer else model.name_or_path
        tokenizer = AutoTokenizer.from_pretrained(tokenizer_source, trust_remote_code=False)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        if os.environ.get("HF_HUB_OFFLINE") == "1":
            reason += " This machine is offline: only models in folders and in the hub's cache can be loaded."
        raise UsageError(f"model {str(name)!r} cannot be loaded ({reason}); give a hub id or a folder") from error
    return model, tokenizer


def _quantized(kind: str) -> dict[str, Any]:
    """What transformers needs to keep linear layers in 4 bits. Raises ``UsageError`` without bitsandbytes."""
    if find_spec("bitsandbytes") is None:
        raise UsageError(f"lora.quantize={kind} needs bitsandbytes: {install('8bit')}")
    how = {"bnb_4bit_quant_type": kind, "bnb_4bit_use_double_quant": True}
    config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16, **how)
    return {"quantization_config": config}


def _model_source(name: str) -> Path:
    """The folder or hub id of a model. Raises ``UsageError`` for a folder that does not exist."""
    source = MODELS.get(name) or Path(name)
    if source.is_absolute() and not source.is_dir():
        raise UsageError(f"model {name!r}: no such folder; give a hub id or a folder")
    return source.resolve() if source.is_dir() else source  # adapters write the path of their base model to a file
