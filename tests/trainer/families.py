"""Tiny random models of current families, with the keys that each needs beside the common ones."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
WINDOW = {"head_dim": 8, "sliding_window": 4}  # narrower than prompt and completion together
DELTA = {
    "head_dim": 8,
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "layer_types": ["linear_attention", "full_attention"],
}
EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 16}
MAMBA = {"mamba_n_heads": 4, "mamba_d_state": 8, "mamba_n_groups": 1}
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {},
    "qwen2": {},
    "qwen3": {"head_dim": 8},
    "mistral": {"sliding_window": 4},
    "gemma2": {**WINDOW, "query_pre_attn_scalar": 8},
    "gemma3_text": {**WINDOW, "query_pre_attn_scalar": 8},
    "gemma4_text": {
        **WINDOW,
        "hidden_size_per_layer_input": 8,
        "global_head_dim": 16,
        "attention_k_eq_v": True,
        "num_global_key_value_heads": 1,  # as in its larger models
    },
    "phi": {},
    "phi3": {},
    "smollm3": {},
    "granite": {"logits_scaling": 8.0},
    "olmo3": {"sliding_window": 4},
    "qwen3_moe": {**EXPERTS, "head_dim": 8, "num_experts": 4},
    "gpt_oss": {**WINDOW, "num_local_experts": 4, "num_experts_per_tok": 2},
    "qwen3_5_text": DELTA,
    "qwen3_next": {**DELTA, **EXPERTS, "num_experts": 4, "shared_expert_intermediate_size": 16},
    "lfm2": {"layer_types": ["conv", "full_attention"], "block_ff_dim": 48},
    "granitemoehybrid": {
        **MAMBA,
        "layer_types": ["mamba", "attention"],
        "mamba_d_head": 16,
        "num_local_experts": 0,
        "shared_intermediate_size": 48,
        "logits_scaling": 6.0,
    },
    "falcon_h1": {
        **MAMBA,
        "head_dim": 8,
        "mamba_d_ssm": 32,
        "mamba_d_head": 8,
        "mamba_expand": 1,
        "lm_head_multiplier": 0.5,
    },
    "nemotron_h": {
        "head_dim": 8,
        "mamba_num_heads": 4,
        "mamba_head_dim": 8,
        "ssm_state_size": 8,
        "n_groups": 1,
        "hybrid_override_pattern": "M*-",
    },
}
HYBRID = {"qwen3_5_text", "qwen3_next", "lfm2", "granitemoehybrid", "falcon_h1", "nemotron_h"}
"""Families in which a layer mixes positions otherwise than by attention."""
EAGER = {"gpt_oss", "gemma2"}
"""Families whose attention transformers computes itself: with sinks or a soft cap, which no kernel of torch has."""


def tiny_model(family: str, **changes: Any) -> Any:
    """A random model whose norm weights are not 1 and biases not 0."""
    torch.manual_seed(0)
    keys = {**SMALL, **FAMILIES[family], **changes}
    if family == "nemotron_h":
        del keys["num_hidden_layers"]  # its pattern has them
    if family == "gemma4_text":
        keys["vocab_size_per_layer_input"] = keys["vocab_size"]
    # With SDPA, which up to transformers 5.22 is the default of Gemma 2, its attention scores are not capped.
    options = {"attn_implementation": "eager"} if family == "gemma2" else {}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **keys), **options).eval()
    for weight in model.parameters():
        weight.data += 0.1 * torch.randn_like(weight)
    return model
