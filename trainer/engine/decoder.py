"""One more token for every row: by the model's own modules, or by written-out ``layers`` where it has those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .attention import Prompts, attend
from .cache import behind, decoding_cache
from .layers import hidden_states
from .policy import Policy


class Decoder:
    """``group_size`` rows behind each prompt, a group's rows adjacent.

    ``logits`` (rows, V) are those of the next token. Finished rows are dropped once they are ``drop_at`` of all:
    dropping copies the rest of the cache.
    """

    drop_at = 0.125

    def __init__(self, policy: Policy, prompts: Sequence[list[int]], group_size: int, max_new_tokens: int) -> None:
        ids, seen = left_pad(prompts, policy.device)
        self.policy, self.width, cache = policy, ids.shape[1], decoding_cache(policy)
        logits = next_logits(policy, ids, seen, (seen.cumsum(1) - 1).clamp(min=0), cache)
        self.cache, self.shared = behind(policy, cache, seen, group_size)
        self.logits = logits.repeat_interleave(group_size, 0)
        self.positions = seen.sum(1).repeat_interleave(group_size)
        seen = seen.repeat_interleave(group_size, 0)
        self.seen = torch.cat([seen, seen.new_ones(len(seen), max_new_tokens)], 1)

    def append(self, tokens: Tensor) -> None:
        """Go on by one of ``tokens`` (rows,) each."""
        self.width += 1
        self.logits = self.step(tokens)
        self.positions += 1

    def step(self, tokens: Tensor) -> Tensor:
        """Logits behind ``tokens``."""
        seen, positions = self.seen[:, : self.width], self.positions[:, None]
        return next_logits(self.policy, tokens[:, None], seen, positions, self.cache, self.shared)

    def select(self, kept: Tensor) -> None:
        """Go on with some of the rows."""
        self.cache.batch_select_indices(kept)
        if self.shared is not None:
            self.shared.select(kept)
        self.seen, self.positions = self.seen[kept], self.positions[kept]


class FusedDecoder(Decoder):
    """The same for a model with layers like Llama's."""

    def step(self, tokens: Tensor) -> Tensor:
        """Logits behind ``tokens``."""

        def mix(attention: Any, query: Tensor, key: Tensor, value: Tensor, window: int | None) -> Tensor:
            keys, values = self.cache.layers[attention.layer_idx].update(key.unsqueeze(2), value.unsqueeze(2))
            how = {"prompts": self.shared, "scaling": attention.scaling, "sliding_window": window}
            return attend(attention, query.unsqueeze(2), keys, values, None, **how)[0]

        return self.head(hidden_states(self.policy.model, tokens, self.positions, mix))

    def head(self, states: Tensor) -> Tensor:
        """(rows, V) logits of states (rows, D)."""
        logits: Tensor = self.policy.model.get_output_embeddings()(states)
        return logits


def next_logits(
    policy: Policy, ids: Tensor, seen: Tensor, positions: Tensor, cache: Any, prompts: Prompts | None = None
) -> Tensor:
    """(rows, V) logits after ``ids`` (rows, L) on top of a cache, which grows by them, and of ``prompts`` below it.

    ``seen`` (rows, cached + L) masks padding.
    """
    where: dict[str, Any] = {"position_ids": positions} if policy.takes_positions else {}
    if prompts is not None:
        where["prompts"] = prompts
        seen = seen.new_ones(1, 1, 1, 1)  # with four dimensions it is left as it is
    logits: Tensor = policy.model(
        input_ids=ids, attention_mask=seen, past_key_values=cache, use_cache=True, logits_to_keep=1, **where
    ).logits
    return logits[:, -1]


def left_pad(prompts: Sequence[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """(P, L) ids and mask, padded on the left so that all prompts end in the same column. Padding ids mean nothing."""
    width = max(map(len, prompts))
    ids = torch.zeros(len(prompts), width, dtype=torch.long)
    seen = torch.zeros(len(prompts), width, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = torch.tensor(prompt)
        seen[row, width - len(prompt) :] = 1
    return ids.to(device), seen.to(device)
