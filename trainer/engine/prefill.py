"""Reads prompts: the first forward pass, which fills a cache with their keys and values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import DynamicCache

from .cache import decoding_cache
from .fast.attention import SharedPrompts
from .policy import Policy


def read(policy: Policy, prompts: Sequence[list[int]]) -> tuple[Tensor, Tensor, DynamicCache]:
    """(P, V) logits after each prompt, the mask (P, L) of prompts padded on the left, and the cache that holds them."""
    rows = [torch.tensor(prompt) for prompt in prompts]
    # On the left, so that all prompts end in the same column.
    ids = pad_sequence(rows, batch_first=True, padding_side="left").to(policy.device)
    mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True, padding_side="left").to(policy.device)
    cache = decoding_cache(policy)
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    return next_logits(policy, ids, mask, positions, cache), mask, cache


def next_logits(
    policy: Policy, ids: Tensor, mask: Tensor, positions: Tensor, cache: Any, prompts: SharedPrompts | None = None
) -> Tensor:
    """(rows, V) logits after ``ids`` (rows, L), which are added to a cache that continues ``prompts``.

    ``mask`` (rows, cached + L) is 0 at padding.
    """
    inputs: dict[str, Any] = {policy.cache_argument: cache}
    if policy.takes_position_ids:
        inputs["position_ids"] = positions
    if prompts is not None:
        inputs["prompts"] = prompts
        mask = mask.new_ones(1, 1, 1, 1)  # transformers leaves a mask of four dimensions unchanged
    # An index copies the last states. A slice is a view with gaps, for which torch multiplies a frozen bfloat16 head
    # row by row on a CPU, with a copy of the head for each: 17 GB for 64 prompts of Qwen2.5-0.5B (torch 2.13).
    last = torch.tensor([ids.shape[1] - 1], device=ids.device)
    logits: Tensor = policy.model(
        input_ids=ids, attention_mask=mask, use_cache=True, logits_to_keep=last, **inputs
    ).logits
    return logits[:, -1]
