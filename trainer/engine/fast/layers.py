"""The layers of Llama and similar models, with hand-written gradients that need fewer operations and less memory.

States hold one row per token, without batch or sequence dimensions; the caller's ``attention_fn`` decides which tokens
see each other. Linear layers are the model's own modules, so adapters apply.

With transformers' layers, the loss keeps 1.21 times the memory for its gradient, and sampling takes 1.12 times the
processor time (the bundled model on a CPU: ``python benchmarks/fast_paths.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.distributed.fsdp import FSDPModule
from torch.nn.functional import silu

from .attention import NAME

# Their layers differ in biases, in norms of queries and keys, and in sliding windows only.
FAMILIES = ("llama", "mistral", "qwen2", "qwen3")

# From a layer's attention module, queries, keys and values (N, heads, size) and the sliding window to (N, heads, size).
AttentionFn = Callable[[Any, Tensor, Tensor, Tensor, int | None], Tensor]


def is_supported(model: Any) -> bool:
    """Whether this module can compute a model's layers. FSDP2 must call its modules as a whole."""
    config = model.config
    return (
        config.model_type in FAMILIES
        and config.hidden_act == "silu"
        and config._attn_implementation == NAME
        and not isinstance(model, FSDPModule)
    )


def hidden_states(model: Any, tokens: Tensor, positions: Tensor, attention_fn: AttentionFn) -> Tensor:
    """(N, D) states below the LM head, of ``tokens`` (N,) at ``positions`` (N,), equal to those of the model itself."""
    decoder, config = model.get_decoder(), model.config
    states = decoder.embed_tokens(tokens)
    cos, sin = decoder.rotary_emb(states, positions[:, None])  # (N, 1, size), both halves the same
    sin = sin[..., : sin.shape[-1] // 2]
    window = config.sliding_window if config.model_type == "mistral" else None
    eps = torch.full((), config.rms_norm_eps, device=states.device)
    for layer in decoder.layers:
        query, key, value = before_attention(layer, states, cos, sin, eps)
        attended = attention_fn(layer.self_attn, query, key, value, getattr(layer.self_attn, "sliding_window", window))
        states = after_attention(layer, states, attended, eps)
    return rms_norm(states, decoder.norm.weight, eps)


def before_attention(layer: Any, states: Tensor, cos: Tensor, sin: Tensor, eps: Tensor) -> tuple[Tensor, ...]:
    """Queries (N, heads, size), and keys and values (N, KV heads, size), of states (N, D)."""
    attention = layer.self_attn
    normed = rms_norm(states, layer.input_layernorm.weight, eps)
    query, key, value = (
        projection(normed).view(len(states), -1, cos.shape[-1])
        for projection in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    if hasattr(attention, "q_norm"):  # Qwen3
        query = rms_norm(query, attention.q_norm.weight, eps)
        key = rms_norm(key, attention.k_norm.weight, eps)
    rotated = rotary(torch.cat([query, key], 1), cos, sin)
    query, key = torch.split(rotated, [query.shape[1], key.shape[1]], 1)
    return query, key, value


def after_attention(layer: Any, states: Tensor, attended: Tensor, eps: Tensor) -> Tensor:
    """The layer's output (N, D), of its input (N, D) and what attention gives (N, heads, size)."""
    mlp = layer.mlp
    states = states + layer.self_attn.o_proj(attended.flatten(1))
    normed = rms_norm(states, layer.post_attention_layernorm.weight, eps)
    output: Tensor = states + mlp.down_proj(swiglu(mlp.gate_proj(normed), mlp.up_proj(normed)))
    return output


# Each of the three functions below skips ``Function.apply`` where no gradient is needed: on the small tensors of a
# decoding step it takes longer than the computation itself.


def rms_norm(states: Tensor, weight: Tensor, eps: Tensor) -> Tensor:
    """RMSNorm (Zhang and Sennrich 2019, equation 4) of states (..., D): x / sqrt(mean(x^2) + eps) times a weight (D,).

    Computed in float32 at least, up to the weight.
    """
    if torch.is_grad_enabled():
        normed: Tensor = RMSNorm.apply(states, weight, eps)  # type: ignore[no-untyped-call]
        return normed
    return _scaled(states, _rms_scale(states, eps), weight)


class RMSNorm(Function):
    """The gradient of ``rms_norm``. Beside the states it saves one number per row."""

    @staticmethod
    def forward(context: Any, states: Tensor, weight: Tensor, eps: Tensor) -> Tensor:
        """See ``rms_norm``."""
        scale = _rms_scale(states, eps)
        context.save_for_backward(states, weight, scale)
        return _scaled(states, scale, weight)

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        """With u = x / rms: (g w - u mean(g w u)) / rms for x, and the sum of g u for the weight."""
        states, weight, scale = context.saved_tensors
        unit, size = states * scale, states.shape[-1]
        grad_unit = (grad * unit).view(-1, size)
        mean = (grad_unit @ weight.to(grad_unit.dtype)).view(scale.shape).div_(size)
        grad_states = unit.mul_(mean.neg_()).addcmul_(grad, weight).mul_(scale)
        return grad_states.to(states.dtype), grad_unit.sum(0).to(weight.dtype), None


def _rms_scale(states: Tensor, eps: Tensor) -> Tensor:
    """(..., 1) 1 / rms of states (..., D)."""
    dtype = torch.promote_types(states.dtype, torch.float32)
    length = torch.linalg.vector_norm(states, dim=-1, keepdim=True, dtype=dtype)
    return torch.addcmul(eps, length, length, value=1 / states.shape[-1]).rsqrt_()


def _scaled(states: Tensor, scale: Tensor, weight: Tensor) -> Tensor:
    return (states * scale).to(states.dtype) * weight


def rotary(states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding (Su et al. 2021, equation 34) of heads (N, heads, size), whose two halves form the pairs.

    ``cos`` is (N, 1, size) and ``sin`` (N, 1, size / 2).
    """
    if torch.is_grad_enabled():
        rotated: Tensor = Rotary.apply(states, cos, sin)  # type: ignore[no-untyped-call]
        return rotated
    return _rotate(states, cos, sin)


class Rotary(Function):
    """The gradient of ``rotary``, which is the rotation by the opposite angle. Saves only the cosines and sines."""

    @staticmethod
    def forward(context: Any, states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """See ``rotary``."""
        context.save_for_backward(cos, sin)
        return _rotate(states, cos, sin)

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """Rotated back."""
        cos, sin = context.saved_tensors
        return _rotate(grad, cos, -sin), None, None


def _rotate(states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half, rotated = sin.shape[-1], states * cos
    rotated[..., :half].addcmul_(states[..., half:], sin, value=-1)
    rotated[..., half:].addcmul_(states[..., :half], sin)
    return rotated


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) * up (Shazeer 2020, equation 5)."""
    if torch.is_grad_enabled():
        product: Tensor = SwiGLU.apply(gate, up)  # type: ignore[no-untyped-call]
        return product
    return silu(gate).mul_(up)


class SwiGLU(Function):
    """The gradient of ``swiglu``. Saves only its two inputs."""

    @staticmethod
    def forward(context: Any, gate: Tensor, up: Tensor) -> Tensor:
        """See ``swiglu``."""
        context.save_for_backward(gate, up)
        return silu(gate).mul_(up)

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        """Gradients of gate and up."""
        gate, up = context.saved_tensors
        return torch.ops.aten.silu_backward(grad * up, gate), silu(gate).mul_(grad)
