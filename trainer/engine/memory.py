"""Memory of a run on a GPU: the size of micro-batches that fits into what is free, and a plan before there is a GPU.

What a token stores for the gradient is not estimated but counted: the model is run without memory (torch's
``FakeTensorMode``) on two lengths, and the bytes that autograd keeps are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch.autograd import Function
from torch.autograd.graph import saved_tensors_hooks
from transformers import AutoConfig, AutoModelForCausalLM

from grpo_env.errors import UsageError

from ..config import TrainConfig
from .bundled import MODELS
from .fast.attention import NAME, install_attention
from .logprobs import CUDA_CHUNK
from .lora import new_adapter
from .policy import Policy, is_adapter
from .sharding import is_sharded

MARGIN = 0.8  # of the free memory; the rest is for fragmentation
DEFAULT = 4096
LEAST, MOST, STEP = 1024, 65536, 1024
LENGTHS = 256, 512

# Bytes a weight of gradient and moments, which are not there yet when a run begins.
OPTIMIZER_BYTES = {"adamw": 12, "adamw_8bit": 6, "paged_adamw_8bit": 6}
LOGIT_BYTES = 24  # of a logit: itself, its softmax and their gradients
NF4_BYTES = 0.516  # of a weight in 4 bits, with the double-quantized scale of its block (QLoRA, section 3)


def free_bytes(device: torch.device) -> int | None:
    """Bytes that this process can still allocate on a GPU, with those that torch holds unused; ``None`` on a CPU."""
    if device.type != "cuda":
        return None
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0] + unused)


def default_tokens(policy: Policy, config: TrainConfig) -> int:
    """``engine.micro_batch_tokens``, or the number that fits into this process's free memory on a GPU."""
    if config.engine.micro_batch_tokens is not None:
        return config.engine.micro_batch_tokens
    free = free_bytes(policy.device)
    if free is None:
        return DEFAULT
    recomputes = config.engine.gradient_checkpointing
    stored = position_bytes(policy.model.config, policy.autocast, recomputes, policy.has_separate_head)
    return fitting_tokens(free - coming_bytes(policy, config), stored)


def fitting_tokens(free: float, per_position: float) -> int:
    """Token positions that fit into ``free`` bytes with a margin: a multiple of ``STEP`` from ``LEAST`` to ``MOST``.

    If ``LEAST`` is too many, memory runs out and micro-batches are halved (``out_of_memory.py``).
    """
    tokens = int(MARGIN * free / per_position) // STEP * STEP
    return min(MOST, max(LEAST, tokens))


def coming_bytes(policy: Policy, config: TrainConfig) -> int:
    """Bytes that an update needs beside activations and that are not allocated yet: gradients, moments, rounded copies
    of the weights, and a chunk of logits.
    """
    shards = policy.accelerator.num_processes if is_sharded(policy) else 1
    trained: int = policy.model.num_parameters(only_trainable=True)
    state = trained * OPTIMIZER_BYTES[config.optimizer.name] // shards
    copies = 2 * trained if policy.autocast is not None else 0
    return state + copies + (CUDA_CHUNK * LOGIT_BYTES if policy.has_separate_head else 0)


class _Stored(Function):
    """Attention that keeps what flash attention keeps: queries, keys, values, the result, and a number a row."""

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """(N, heads, size) of queries (N, heads, size), and keys and values (N, KV heads, size)."""
        result = query.new_empty(*query.shape[:2], value.shape[2])
        context.save_for_backward(query, key, value, result, query.new_empty(query.shape[:2], dtype=torch.float32))
        return result


def _attend(module: Any, query: Tensor, key: Tensor, value: Tensor, **options: Any) -> Tensor:
    """Stands in for ``packed.Layout.attend``."""
    result: Tensor = _Stored.apply(query, key, value)  # type: ignore[no-untyped-call]
    return result


def position_bytes(model: Any, autocast: torch.dtype | None, recomputes: bool, separate_head: bool = True) -> float:
    """Bytes that a token position stores for the gradient in a model of this config.

    With gradient checkpointing (``recomputes``) only the inputs of layers stay, and one layer is computed at a time. A
    model whose head is not separate stores all logits. Attention is counted as flash attention keeps it; a soft cap
    (Gemma 2) or sinks (gpt-oss) keep the weights of all pairs of positions besides.
    """
    text, stored = model.get_text_config(decoder=True), _stored_bytes(model, autocast)
    if recomputes:
        stored = 4 * text.num_hidden_layers * text.hidden_size + stored / text.num_hidden_layers
    return stored + (0 if separate_head else text.vocab_size * LOGIT_BYTES)


def _stored_bytes(model_config: Any, autocast: torch.dtype | None) -> float:
    """Bytes a position that autograd keeps, without the weights and without what does not grow with the length."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        model, scale = _fake_model(model_config, autocast)
        with torch.autocast("cpu", autocast, enabled=autocast is not None):
            short, long = (_kept(model, length) for length in LENGTHS)
    return scale * (long - short) / (LENGTHS[1] - LENGTHS[0])


def _kept(model: Any, length: int) -> int:
    """Bytes that autograd keeps of a row of this length, counted once for each piece of memory, without weights."""
    weights = {weight.untyped_storage()._cdata for weight in model.parameters()}
    kept: dict[int, torch.UntypedStorage] = {}  # held, or its address would be used again

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in weights:
            kept[storage._cdata] = storage
        return tensor

    inputs: dict[str, Any] = {"input_ids": torch.zeros(1, length, dtype=torch.long)}
    if model.config._attn_implementation == NAME:
        inputs |= {"attend": _attend, "attention_mask": torch.ones(1, 1, 1, 1, dtype=torch.bool)}
    with saved_tensors_hooks(keep, lambda tensor: tensor):
        model.get_decoder()(use_cache=False, **inputs)
    return sum(storage.nbytes() for storage in kept.values())


def _fake_model(model_config: Any, autocast: torch.dtype | None) -> tuple[Any, int]:
    """A model without memory, and what its bytes are multiplied by.

    torch's grouped product of experts takes bfloat16 alone here, so float32 counts twice.
    """
    has_experts = AutoModelForCausalLM._model_mapping[type(model_config)]._can_set_experts_implementation()
    model = AutoModelForCausalLM.from_config(model_config, dtype=torch.bfloat16 if has_experts else torch.float32)
    install_attention(model)
    return model.eval(), 2 if has_experts and autocast is None else 1


@dataclass(frozen=True)
class MemoryPlan:
    """Bytes of a training step on one GPU, of which ``capacity`` has that many.

    ``held`` stays all the time; ``update`` comes while weights are updated, ``sampling`` while completions are sampled.
    ``tokens`` are the positions of a micro-batch for which ``per_position`` bytes each are left, 0 if none are;
    ``asked`` those that ``engine.micro_batch_tokens`` sets.
    """

    parameters: int
    trained: int
    held: dict[str, float]
    update: dict[str, float]
    sampling: dict[str, float]
    per_position: float
    capacity: float
    asked: int | None = None

    @property
    def tokens(self) -> int:
        """Positions of a micro-batch."""
        free = self.capacity - sum(self.held.values()) - sum(self.update.values())
        fits = MARGIN * free >= (self.asked or LEAST) * self.per_position
        return (self.asked or fitting_tokens(free, self.per_position)) if fits else 0

    @property
    def fits(self) -> bool:
        """Whether both halves of a step have room."""
        return self.tokens > 0 and sum(self.held.values()) + sum(self.sampling.values()) <= self.capacity


def plan_memory(config: TrainConfig, capacity: float, prompt_tokens: int) -> MemoryPlan:
    """What a run of these settings takes on one GPU of ``capacity`` bytes, from the model's config alone; in bfloat16
    unless ``engine.precision`` is ``fp32``.

    ``prompt_tokens`` is the length of the longest prompt. Raises ``UsageError`` if the config cannot be loaded.
    """
    model_config = load_model_config(config.model)
    autocast = None if config.engine.precision == "fp32" else torch.bfloat16
    size = 4.0 if autocast is None else 2.0  # bytes of what is computed, and of frozen weights
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(model_config)
    head = model.get_output_embeddings()
    linear = [layer for layer in model.modules() if type(layer) is torch.nn.Linear and layer is not head]
    count, inner = model.num_parameters(), sum(layer.weight.numel() for layer in linear)
    trained = _trained_weights(config, model)
    held = {"weights": 4.0 * count, "moments": trained * (OPTIMIZER_BYTES[config.optimizer.name] - 4.0)}
    if trained < count:  # below an adapter, what is computed in, or 4 bits in linear layers
        held["weights"] = size * (count - inner) + (NF4_BYTES if config.lora.quantize else size) * inner
        held["adapter"] = 4.0 * trained
    if config.kl.coef:
        held["reference"] = 4.0 * trained
    rounded = {} if autocast is None else {"rounded weights": size * trained}
    update = {"gradients": 4.0 * trained, "logits": float(CUDA_CHUNK * LOGIT_BYTES), **rounded}
    if config.sampling.engine == "vllm" and not config.sampling.urls:
        sampling = {"vLLM (sampling.gpu_memory_fraction)": config.sampling.gpu_memory_fraction * capacity}
    else:
        rows = config.prompts_per_step * config.group_size
        positions = rows * (config.sampling.max_new_tokens + prompt_tokens)
        sampling = {"keys and values": positions * size * _cached_numbers(model_config), **rounded}
    per_position = position_bytes(model_config, autocast, config.engine.gradient_checkpointing)
    return MemoryPlan(count, trained, held, update, sampling, per_position, capacity, config.engine.micro_batch_tokens)


def _trained_weights(config: TrainConfig, model: Any) -> int:
    """How many weights are trained: those of the adapter that it is, of a new one, or all of a model without memory."""
    if is_adapter(config.model) or config.lora.rank:
        with torch.device("meta"):
            model.add_adapter(_adapter_config(config.model) if is_adapter(config.model) else new_adapter(config))
    return int(model.num_parameters(only_trainable=True))


def _adapter_config(name: str) -> Any:
    from peft import PeftConfig

    return PeftConfig.from_pretrained(name)


def load_model_config(name: str) -> Any:
    """The config of a bundled model, a folder (of an adapter: of its base model) or a hub id. Raises ``UsageError``."""
    source = str(MODELS.get(name) or name)
    try:
        if is_adapter(source):
            source = str(_adapter_config(source).base_model_name_or_path)
        return AutoConfig.from_pretrained(source, trust_remote_code=False)
    except (OSError, ValueError, ImportError) as error:
        reason = str(error).strip().split("\n")[0]
        raise UsageError(
            f"model {name!r} has no config that can be read ({reason}); give a hub id or a folder"
        ) from error


def _cached_numbers(model_config: Any) -> int:
    """Of keys and values at one position, in all layers; an upper bound where layers store less."""
    text = model_config.get_text_config(decoder=True)
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    size = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    return int(2 * text.num_hidden_layers * heads * size)
