"""One decoding step for every row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import torch
from torch import Tensor

from .cache import expand_prefix
from .policy import Policy
from .prefill import next_logits, read


class Decoder:
    """The state of ``group_size`` rows per prompt, the rows of a group adjacent.

    ``logits`` (rows, V) are those of the next token. Finished rows are not dropped before they are the fraction
    ``drop_at`` of all rows, since dropping copies the rest of the cache (``drops``).
    """

    drop_at = 0.125

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
        logits, mask, cache = read(policy, [prompt for prompt, _ in distinct])
        self.policy, self.width = policy, mask.shape[1]
        self.cache, self.prompts = expand_prefix(policy, cache, mask, prompt_of)
        self.logits, mask = logits[prompt_of], mask[prompt_of]
        self.positions = mask.sum(1)
        self.attention_mask = torch.cat([mask, mask.new_ones(len(mask), max_new_tokens)], 1)

    def append(self, tokens: Tensor) -> None:
        """Append one of ``tokens`` (rows,) to each row and compute the next logits."""
        self.width += 1
        mask, positions = self.attention_mask[:, : self.width], self.positions[:, None]
        self.logits = next_logits(self.policy, tokens[:, None], mask, positions, self.cache, self.prompts)
        self.positions += 1

    def drops(self, ended: int) -> bool:
        """Whether to drop ``ended`` rows now."""
        return ended >= self.drop_at * len(self.positions)

    def select(self, rows: Tensor) -> None:
        """Keep only some of the rows."""
        self.cache.reorder_cache(rows)
        if self.prompts is not None:
            self.prompts.select(rows)
        self.attention_mask, self.positions = self.attention_mask[rows], self.positions[rows]
