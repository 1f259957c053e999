"""Attention by plain matrix products, where a processor without a GPU does them faster than torch's fused kernel.

That kernel is made for long sequences. The one query of a decoding step, and short sequences in bfloat16, take it
several times as long. Products keep every weight for the backward pass, though, so long sequences stay with it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "products"

# Keys up to which all weights are kept: those of a token are then fewer than what its MLP keeps.
SHORT = 256


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """(rows, L, heads, size) of queries (rows, heads, L, size) on keys and values (rows, KV heads, K, size)."""
    rows, heads, length, size = query.shape
    held, keys = key.shape[1:3]
    if _fused(length, keys) or dropout or any(others.get(name) is not None for name in ("position_bias", "cache")):
        whole: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout, scaling, is_causal, **others
        )
        return whole
    scaled = query * (size**-0.5 if scaling is None else scaling)
    stacked = heads // held * length  # all queries of one key and value head
    scores = (scaled.reshape(rows, held, stacked, size) @ key.mT).view(rows, held, -1, length, keys)
    if attention_mask is None and length > 1 and (module.is_causal if is_causal is None else is_causal):
        attention_mask = torch.ones(1, 1, length, keys, dtype=torch.bool, device=key.device).tril()
    if attention_mask is not None:
        mask = attention_mask[:, :, None]
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min) if mask.dtype == torch.bool else scores + mask
    weights = torch.softmax(scores, -1).view(rows, held, stacked, keys)
    return (weights @ value).view(rows, heads, length, size).transpose(1, 2), None


def _fused(length: int, keys: int) -> bool:
    return length > 1 and (keys > SHORT or not torch.is_autocast_enabled("cpu"))


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)


def attend_by_products(model: Any) -> None:
    """Let a model on a CPU attend so, if it would use the fused kernel."""
    if model.device.type == "cpu" and model.config._attn_implementation == "sdpa":
        model.set_attn_implementation(NAME)
