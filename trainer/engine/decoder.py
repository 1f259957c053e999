"""Forward passes of decoding: one reads the prompts, and each further one a token of every row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import DynamicCache

from .cache import PreallocatedLayer, decoding_cache
from .fast.attention import NAME
from .policy import Policy


class Decoder:
    """The state of ``group_size`` rows per prompt, the rows of a group adjacent.

    ``logits`` (rows, V) are those of the next token.
    """

    def __init__(
        self,
        policy: Policy,
        prompts: Sequence[list[int]],
        group_size: int,
        max_new_tokens: int,
    ) -> None:
        # Neighbors with the same prompt share it, as the rows of a group do in the first turn of their episodes.
        distinct = [(prompt, len(list(neighbors))) for prompt, neighbors in groupby(prompts)]
        copies = torch.tensor([count for _, count in distinct], device=policy.device)
        prompt_of = torch.arange(len(distinct), device=policy.device).repeat_interleave(copies * group_size)
        logits, mask, self.cache = read(policy, [prompt for prompt, _ in distinct])
        self.cache.reorder_cache(prompt_of)  # a copy for each row
        self.policy, self.width = policy, mask.shape[1]
        self.logits, mask = logits[prompt_of], mask[prompt_of]
        self.positions = mask.sum(1)
        self.mask = torch.cat([mask, mask.new_ones(len(mask), max_new_tokens)], 1)
        same_in_all_layers = all(type(layer) is PreallocatedLayer for layer in self.cache.layers)
        if same_in_all_layers and policy.takes_position_ids and policy.model.config._attn_implementation == NAME:
            # As the kernel wants it; transformers leaves a mask of four dimensions as it is.
            added = torch.zeros(self.mask.shape, dtype=policy.autocast or policy.model.dtype, device=policy.device)
            self.mask = added.masked_fill(self.mask == 0, -torch.inf)[:, None, None]

    def append(self, tokens: Tensor) -> None:
        """Append one of ``tokens`` (rows,) to each row and compute the next logits."""
        self.width += 1
        mask, positions = self.mask[..., : self.width], self.positions[:, None]
        self.logits = next_logits(self.policy, tokens[:, None], mask, positions, self.cache)
        self.positions += 1

    def select(self, rows: Tensor) -> None:
        """Keep only some of the rows."""
        self.cache.reorder_cache(rows)
        self.mask, self.positions = self.mask[rows], self.positions[rows]


def read(policy: Policy, prompts: Sequence[list[int]]) -> tuple[Tensor, Tensor, DynamicCache]:
    """(P, V) logits after each prompt, the mask (P, L) of prompts padded on the left, and the cache that holds them."""
    rows = [torch.tensor(prompt) for prompt in prompts]
    # On the left, so that all prompts end in the same column.
    ids = pad_sequence(rows, batch_first=True, padding_side="left").to(policy.device)
    mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True, padding_side="left").to(policy.device)
    cache = decoding_cache(policy)
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    return next_logits(policy, ids, mask, positions, cache), mask, cache


def next_logits(policy: Policy, ids: Tensor, mask: Tensor, positions: Tensor, cache: Any) -> Tensor:
    """(rows, V) logits after ``ids`` (rows, L), which are added to a cache.

    ``mask`` (rows, cached + L) is 0 at padding; or what is added to the scores, (rows, 1, L, cached + L).
    """
    inputs: dict[str, Any] = {policy.cache_argument: cache}
    if policy.takes_position_ids:
        inputs["position_ids"] = positions
    # An index copies the last states. A slice is a view with gaps, for which torch multiplies a frozen bfloat16 head
    # row by row on a CPU, with a copy of the head for each: 17 GB for 64 prompts of Qwen2.5-0.5B (torch 2.13).
    last = torch.tensor([ids.shape[1] - 1], device=ids.device)
    logits: Tensor = policy.model(
        input_ids=ids, attention_mask=mask, use_cache=True, logits_to_keep=last, **inputs
    ).logits
    return logits[:, -1]
