"""The layers of Llama and its kin, written out: the same numbers by fewer operations, which keep less for the gradient.

Every token is a row of its own here; which of them see each other is the business of whoever calls. Linear layers stay
the model's, so that adapters are in place.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.distributed.fsdp import FSDPModule
from torch.nn.functional import silu

from .attention import NAME

# Their layers differ in biases, in norms of queries and keys, and in sliding windows only.
FAMILIES = ("llama", "mistral", "qwen2", "qwen3")

Mix = Callable[[Any, Tensor, Tensor, Tensor, int | None], Tensor]


def is_supported(model: Any) -> bool:
    """Whether a model's layers are these. FSDP2's want to be called as a whole."""
    config = model.config
    return (
        config.model_type in FAMILIES
        and config.hidden_act == "silu"
        and config._attn_implementation == NAME
        and not isinstance(model, FSDPModule)
    )


def hidden_states(model: Any, tokens: Tensor, positions: Tensor, mix: Mix) -> Tensor:
    """(N, D) states below the LM head, of ``tokens`` (N,) at ``positions`` (N,), as the model's modules compute them.

    ``mix`` attends: of a layer's attention module, its queries, keys and values (N, heads, size) and its window it
    makes (N, heads, size).
    """
    decoder, config = model.get_decoder(), model.config
    states = decoder.embed_tokens(tokens)
    cos, sin = decoder.rotary_emb(states, positions[:, None])  # (N, 1, size), both halves the same
    half = sin.shape[-1] // 2
    sin = sin[..., :half]
    window = config.sliding_window if config.model_type == "mistral" else None
    eps = torch.full((), config.rms_norm_eps, device=states.device)
    for layer in decoder.layers:
        own, mlp, given = layer.self_attn, layer.mlp, _by(Normed, states, layer.input_layernorm.weight, eps)
        query, key, value = (
            part(given).view(len(tokens), -1, 2 * half) for part in (own.q_proj, own.k_proj, own.v_proj)
        )
        if config.model_type == "qwen3":
            query, key = _by(Normed, query, own.q_norm.weight, eps), _by(Normed, key, own.k_norm.weight, eps)
        both = _by(Turned, torch.cat([query, key], 1), cos, sin)
        query, key = torch.split(both, [query.shape[1], key.shape[1]], 1)
        mixed = mix(own, query, key, value, getattr(own, "sliding_window", window))
        states = states + own.o_proj(mixed.flatten(1))
        given = _by(Normed, states, layer.post_attention_layernorm.weight, eps)
        states = states + mlp.down_proj(_by(Gated, mlp.gate_proj(given), mlp.up_proj(given)))
    return _by(Normed, states, decoder.norm.weight, eps)


def _by(function: type[Function], *given: Tensor) -> Tensor:
    """A function's value. Readying it for a gradient takes small tensors longer than what it computes."""
    found: Tensor = function.apply(*given) if torch.is_grad_enabled() else function.forward(_KEEPS_NOTHING, *given)  # type: ignore[no-untyped-call]
    return found


_KEEPS_NOTHING = SimpleNamespace(save_for_backward=lambda *states: None)


class Normed(Function):
    """RMSNorm (Zhang and Sennrich 2019, equation 4) of states (..., D): x / sqrt(mean(x^2) + eps) times a weight (D,).

    Beside the states it keeps one number a row.
    """

    @staticmethod
    def forward(context: Any, states: Tensor, weight: Tensor, eps: Tensor) -> Tensor:
        """In float32 at least, up to the weight."""
        exact = torch.promote_types(states.dtype, torch.float32)
        length = torch.linalg.vector_norm(states, dim=-1, keepdim=True, dtype=exact)
        scale = torch.addcmul(eps, length, length, value=1 / states.shape[-1]).rsqrt_()
        context.save_for_backward(states, weight, scale)
        return (states * scale).to(states.dtype) * weight

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        """With u = x / rms, of x: (g w - u mean(g w u)) / rms; of the weight: the sum of g u."""
        states, weight, scale = context.saved_tensors
        unit, size = states * scale, states.shape[-1]
        both = (grad * unit).view(-1, size)
        mean = (both @ weight.to(both.dtype)).view(scale.shape).div_(size)
        inner = unit.mul_(mean.neg_()).addcmul_(grad, weight).mul_(scale)
        return inner.to(states.dtype), both.sum(0).to(weight.dtype), None


class Turned(Function):
    """Rotary embedding (Su et al. 2021, equation 34): heads (N, heads, size), their halves turned by an angle.

    By cosines (N, 1, size) and sines (N, 1, size / 2). Nothing is kept but these.
    """

    @staticmethod
    def forward(context: Any, states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Every pair of numbers turned."""
        context.save_for_backward(cos, sin)
        return _turned(states, cos, sin)

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """Turned back."""
        cos, sin = context.saved_tensors
        return _turned(grad, cos, -sin), None, None


def _turned(states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half, turned = sin.shape[-1], states * cos
    turned[..., :half].addcmul_(states[..., half:], sin, value=-1)
    turned[..., half:].addcmul_(states[..., :half], sin)
    return turned


class Gated(Function):
    """silu(gate) * up (Shazeer 2020, equation 5). Nothing is kept but the two."""

    @staticmethod
    def forward(context: Any, gate: Tensor, up: Tensor) -> Tensor:
        """Of tensors of one shape."""
        context.save_for_backward(gate, up)
        return silu(gate).mul_(up)

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        """The gate opens again."""
        gate, up = context.saved_tensors
        return torch.ops.aten.silu_backward(grad * up, gate), silu(gate).mul_(grad)
