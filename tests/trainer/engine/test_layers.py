"""Layers against the model's own modules, and their gradients against finite differences."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.fast.layers import RMSNorm, Rotary, SwiGLU, hidden_states, is_supported

from ..families import SMALL

LONG = {"rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
SOME_SLIDE = {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}
MODELS: list[tuple[str, dict[str, Any]]] = [
    ("llama", {}),
    ("llama", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    ("llama", {"rope_parameters": {**LONG, "original_max_position_embeddings": 16}, "head_dim": 16}),
    ("llama", {"sliding_window": 3}),  # which Llama ignores
    ("mistral", {"sliding_window": 3}),
    ("mistral", {"sliding_window": None}),
    ("qwen2", {}),
    ("qwen2", SOME_SLIDE),
    ("qwen3", {"head_dim": 8, "rms_norm_eps": 0.1}),
    ("qwen3", {"head_dim": 8, "attention_bias": True, **SOME_SLIDE}),
]


def random_model(family: str, settings: dict[str, Any], dtype: torch.dtype = torch.float32) -> Any:
    """None of its weights, those of norms and biases included, is 0 or 1."""
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **{**SMALL, **settings})).eval().to(dtype)
    for weight in model.parameters():
        weight.data += 0.2 * torch.randn_like(weight)
    install_attention(model)
    return model


def row_states(model: Any, ids: Tensor) -> Tensor:
    """States of one row of tokens, by these layers and plain causal attention."""
    steps = torch.arange(len(ids))
    back = steps[:, None] - steps

    def attention_fn(module: Any, query: Tensor, key: Tensor, value: Tensor, window: int | None) -> Tensor:
        rows = [states.transpose(0, 1)[None] for states in (query, key, value)]
        mask = (back >= 0) & (back < (window or torch.inf))
        output = sdpa_attention_forward(module, *rows, mask[None, None], scaling=module.scaling)[0]
        return output[0]

    return hidden_states(model, ids, steps, attention_fn)


@pytest.mark.parametrize(("family", "settings"), MODELS)
def test_states_and_gradient_equal_those_of_the_models_own_modules(family: str, settings: dict[str, Any]) -> None:
    model, ids = random_model(family, settings), torch.arange(3, 15)
    assert is_supported(model)
    weight = torch.randn(len(ids), SMALL["hidden_size"])
    results = []
    for states in (model.get_decoder()(ids[None], use_cache=False).last_hidden_state[0], row_states(model, ids)):
        model.zero_grad()
        (states * weight).sum().backward()
        gradient = {name: part.grad for name, part in model.named_parameters() if part.grad is not None}
        results.append((states.detach(), gradient))
    torch.testing.assert_close(results[1][0], results[0][0], atol=1e-5, rtol=1e-5)
    assert results[1][1].keys() == results[0][1].keys()
    for name, gradient in results[0][1].items():
        assert (results[1][1][name] - gradient).norm() <= 1e-5 * gradient.norm(), name
    with torch.no_grad():
        torch.testing.assert_close(row_states(model, ids), results[0][0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("autocast", [False, True])
def test_low_precision_errors_are_as_small_as_those_of_the_model(autocast: bool) -> None:
    """Weights in bfloat16, or float32 weights under autocast: rounding may differ, its size may not."""
    ids = torch.arange(3, 15)
    exact = row_states(random_model("llama", {}), ids).detach()
    model = random_model("llama", {}, torch.float32 if autocast else torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast), torch.no_grad():
        states = row_states(model, ids), model.get_decoder()(ids[None], use_cache=False).last_hidden_state[0]
    assert states[0].dtype == states[1].dtype
    error, model_error = ((output.float() - exact).norm() for output in states)
    assert error < 1.5 * model_error
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        row_states(model, ids).float().sum().backward()
    assert all(weight.grad.dtype == weight.dtype for weight in model.parameters() if weight.grad is not None)


def test_gradients_equal_finite_differences() -> None:
    """In float64, by ``torch.autograd.gradcheck``."""
    torch.manual_seed(0)
    states, weight, gate, up = (
        torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((5, 3, 8), (8,), (5, 6), (5, 6))
    )
    angle = torch.randn(5, 1, 4, dtype=torch.float64)
    cos, sin = angle.cos().repeat(1, 1, 2), angle.sin()
    eps = torch.full((), 0.1, dtype=torch.float64)
    assert torch.autograd.gradcheck(RMSNorm.apply, (states, weight, eps))
    assert torch.autograd.gradcheck(Rotary.apply, (states, cos, sin))
    assert torch.autograd.gradcheck(SwiGLU.apply, (gate, up))


def test_other_families_are_not_supported() -> None:
    assert not is_supported(random_model("gemma2", {"head_dim": 8}))
    assert not is_supported(random_model("smollm3", {}))  # every fourth layer has no positions
    assert not is_supported(random_model("llama", {"hidden_act": "gelu"}))
