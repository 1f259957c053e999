"""Attention of packed rows, and of a single token of each row without copies of keys and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "grpo_env"


def attention_forward(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    attend: Callable[..., Tensor] | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Attention as transformers calls it: from queries (rows, heads, L, size), and keys and values (rows, KV heads, K,
    size), to (rows, L, heads, size).

    ``attend`` (of a ``packed.Layout``) passes through the model's forward from this package; ``options`` are those of
    transformers (dropout, scaling, is_causal, sliding_window, ...).
    """
    if attend is not None:
        packed = [states[0].transpose(0, 1) for states in (query, key, value)]
        window, scaling = options.get("sliding_window"), options.get("scaling")
        return attend(module, *packed, window=window, scaling=scaling)[None], None
    if query.shape[2] == 1 and attention_mask is not None:
        # In decoding the heads that share keys and values are as many queries to them: transformers would copy them.
        grouped = query.reshape(*key.shape[:2], -1, query.shape[3])
        attended = scaled_dot_product_attention(grouped, key, value, attention_mask, scale=options.get("scaling"))
        return attended.reshape(*query.shape[:3], -1).transpose(1, 2), None
    fused: tuple[Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **options)
    return fused


AttentionInterface.register(NAME, attention_forward)
AttentionMaskInterface.register(NAME, sdpa_mask)


def install_attention(model: Any) -> None:
    """Let a model attend by this module, if it would use torch's kernel.

    Without cuDNN's kernel, which torch 2.11 and newer prefer on Hopper GPUs: it is compiled again for every shape, and
    with masks its gradient can be NaN (https://github.com/pytorch/pytorch/issues/196678).
    """
    torch.backends.cuda.enable_cudnn_sdp(False)
    if model.config._attn_implementation == "sdpa":
        capped = getattr(model.config.get_text_config(decoder=True), "attn_logit_softcapping", None) is not None
        model.set_attn_implementation("eager" if capped else NAME)  # torch's kernels do not cap scores (Gemma 2)
