"""One decoding step for every row: through the model's own modules, or through ``layers`` where it supports them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .cache import allocated_positions, can_share_prompts, decoding_cache, expand_prefix
from .fast.attention import SharedPrompts, attention_forward
from .fast.layers import hidden_states
from .policy import Policy


class Decoder:
    """The state of ``group_size`` rows per prompt, the rows of a group adjacent.

    ``logits`` (rows, V) are those of the next token. Finished rows are dropped as soon as they are the fraction
    ``drop_at`` of all rows, since dropping copies the rest of the cache.
    """

    drop_at = 0.125
    refills = False
    """Whether groups of other prompts can take the place of rows that ended (``admit``)."""

    def __init__(self, policy: Policy, prompts: Sequence[list[int]], group_size: int, max_new_tokens: int) -> None:
        ids, mask = left_pad(prompts, policy.device)
        self.policy, self.width, cache = policy, ids.shape[1], decoding_cache(policy)
        logits = next_logits(policy, ids, mask, (mask.cumsum(1) - 1).clamp(min=0), cache)
        self.cache, self.prompts = expand_prefix(policy, cache, mask, group_size)
        self.logits = logits.repeat_interleave(group_size, 0)
        self.positions = mask.sum(1).repeat_interleave(group_size)
        mask = mask.repeat_interleave(group_size, 0)
        self.attention_mask = torch.cat([mask, mask.new_ones(len(mask), max_new_tokens)], 1)

    def append(self, tokens: Tensor) -> None:
        """Append one of ``tokens`` (rows,) to each row and compute the next logits."""
        self.width += 1
        self.logits = self.step(tokens)
        self.positions += 1

    def step(self, tokens: Tensor) -> Tensor:
        """(rows, V) logits after ``tokens``."""
        mask, positions = self.attention_mask[:, : self.width], self.positions[:, None]
        return next_logits(self.policy, tokens[:, None], mask, positions, self.cache, self.prompts)

    def select(self, rows: Tensor) -> None:
        """Keep only some of the rows."""
        self.cache.batch_select_indices(rows)
        if self.prompts is not None:
            self.prompts.select(rows)
        self.attention_mask, self.positions = self.attention_mask[rows], self.positions[rows]

    def admit(self, rows: Tensor, prompts: Sequence[list[int]]) -> None:
        """Replace rows, see ``CudaGraphDecoder``."""
        raise NotImplementedError

    @classmethod
    def row_positions(cls, policy: Policy, prompt: int, max_new_tokens: int) -> int:
        """Positions of keys and values that each row stores at the end, after a prompt of ``prompt`` tokens.

        Keys and values of prompts that rows share are not counted.
        """
        return allocated_positions(max_new_tokens - 1) + (0 if can_share_prompts(policy) else prompt)


class FusedDecoder(Decoder):
    """A decoder that computes a step by ``layers``, with fewer operations."""

    def step(self, tokens: Tensor) -> Tensor:
        """(rows, V) logits after ``tokens``."""

        def attention_fn(module: Any, query: Tensor, key: Tensor, value: Tensor, window: int | None) -> Tensor:
            keys, values = self.cache.layers[module.layer_idx].update(key.unsqueeze(2), value.unsqueeze(2))
            options = {"prompts": self.prompts, "scaling": module.scaling, "sliding_window": window}
            return attention_forward(module, query.unsqueeze(2), keys, values, None, **options)[0]

        return self.head(hidden_states(self.policy.model, tokens, self.positions, attention_fn))

    def head(self, states: Tensor) -> Tensor:
        """(rows, V) logits of states (rows, D)."""
        logits: Tensor = self.policy.model.get_output_embeddings()(states)
        return logits


def next_logits(
    policy: Policy, ids: Tensor, mask: Tensor, positions: Tensor, cache: Any, prompts: SharedPrompts | None = None
) -> Tensor:
    """(rows, V) logits after ``ids`` (rows, L), which are added to a cache that continues ``prompts``.

    ``mask`` (rows, cached + L) is 0 at padding.
    """
    inputs: dict[str, Any] = {"position_ids": positions} if policy.takes_position_ids else {}
    if prompts is not None:
        inputs["prompts"] = prompts
        mask = mask.new_ones(1, 1, 1, 1)  # transformers leaves a mask of four dimensions unchanged
    logits: Tensor = policy.model(
        input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True, logits_to_keep=1, **inputs
    ).logits
    return logits[:, -1]


def left_pad(prompts: Sequence[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """(P, L) ids and mask, padded on the left with arbitrary ids so that all prompts end in the same column."""
    width = max(map(len, prompts))
    ids = torch.zeros(len(prompts), width, dtype=torch.long)
    mask = torch.zeros(len(prompts), width, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = torch.tensor(prompt)
        mask[row, width - len(prompt) :] = 1
    return ids.to(device), mask.to(device)
