"""Attention of packed rows: prompts and their completions one after the other, each prompt once, without padding.

Rows with padding and a copy of the prompt each take 2.3 times the processor time of the loss and keep 1.8 times the
memory for its gradient (the bundled model on a CPU: ``python benchmarks/fast_paths.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from .attention import attention_forward

# Number of parts in which a micro-batch's completions attend: more parts hold less padding, and are more calls.
CHUNKS = 4


class Layout:
    """One row that holds P prompts and then R completions, N tokens in all: each prompt attends to itself, each
    completion to its prompt and itself.

    ``prompt_of`` (R,) is the index of each completion's prompt; ``prompts`` (P, Lp) and ``completions`` (R, T) are True
    where there is a token. To attend, the row is split into padded parts (r, t): the prompts, and ``CHUNKS`` of
    completions, each as wide as its longest, so completions should come sorted by length.
    """

    def __init__(self, prompt_of: Tensor, prompts: Tensor, completions: Tensor) -> None:
        widths = [int(lengths.max()) for lengths in completions.sum(1).chunk(CHUNKS)]
        chunks = [
            (indices, mask[:, :width])
            for indices, mask, width in zip(prompt_of.chunk(CHUNKS), completions.chunk(CHUNKS), widths, strict=True)
            if width
        ]
        self._prompt_of = [indices for indices, _ in chunks]
        # A product with rows of 0 and a single 1 copies prompts as an index does; its gradient takes half the time.
        self._picks = [one_hot(indices, len(prompts)).float() for indices in self._prompt_of]
        self._token_masks = [prompts, *(mask for _, mask in chunks)]
        # Of each token: its place in the flat parts, one after the other.
        self._places = torch.cat([mask.flatten() for mask in self._token_masks]).nonzero()[:, 0]
        firsts = [prompts.new_zeros(len(prompts), dtype=torch.long), *(prompts.sum(1)[of] for of in self._prompt_of)]
        columns = [torch.arange(mask.shape[1], device=mask.device) for mask in self._token_masks]
        self._positions = [first[:, None] + column for first, column in zip(firsts, columns, strict=True)]
        self.positions = torch.cat([part.flatten() for part in self._positions])[self._places]
        """(N,) each token's position, counted from the start of its prompt."""
        self._masks: dict[int | None, list[Tensor]] = {}

    def attend(
        self, module: Any, query: Tensor, key: Tensor, value: Tensor, *, window: int | None, **options: Any
    ) -> Tensor:
        """(N, heads, size) of queries (N, heads, size), and keys and values (N, KV heads, size).

        At most the last ``window`` positions are seen; ``options`` are those of ``attention_forward``.
        """
        keys, values = self.split_with_prompts(key), self.split_with_prompts(value)
        parts = zip(self.split(query), keys, values, self.masks(window), strict=True)
        return self.join([attention_forward(module, *part, **options)[0] for part in parts])

    def masks(self, window: int | None) -> list[Tensor]:
        """(P, 1, Lp, Lp) and (r, 1, t, Lp + t): which keys a query sees, at most the last ``window`` positions."""
        if window not in self._masks:
            prompts, *chunks = self._positions
            # Padding is put after every token, where causal attention does not look.
            padded = prompts.masked_fill(~self._token_masks[0], torch.iinfo(torch.int).max)
            both = zip(self._prompt_of, chunks, strict=True)
            keys = [prompts, *(torch.cat([padded[indices], chunk], 1) for indices, chunk in both)]
            distances = [q[:, :, None] - k[:, None] for q, k in zip(self._positions, keys, strict=True)]
            self._masks[window] = [((d >= 0) & (d < (window or torch.inf)))[:, None] for d in distances]
        return self._masks[window]

    def split(self, states: Tensor) -> list[Tensor]:
        """(P, heads, Lp, size) and (r, heads, t, size) of (N, heads, size), 0 where there is no token."""
        sizes = [mask.numel() for mask in self._token_masks]
        flat = states.new_zeros(sum(sizes), *states.shape[1:]).index_copy_(0, self._places, states)
        parts = zip(torch.split(flat, sizes), self._token_masks, strict=True)
        return [part.view(*mask.shape, *states.shape[1:]).transpose(1, 2) for part, mask in parts]

    def split_with_prompts(self, states: Tensor) -> list[Tensor]:
        """``split`` of keys or values, with its prompt's before each completion's: (r, heads, Lp + t, size)."""
        prompts, *chunks = self.split(states)
        copies = [(pick.to(states.dtype) @ prompts.flatten(1)).view(-1, *prompts.shape[1:]) for pick in self._picks]
        return [prompts, *(torch.cat(pair, 2) for pair in zip(copies, chunks, strict=True))]

    def join(self, parts: Sequence[Tensor]) -> Tensor:
        """(N, heads, size) of (P, Lp, heads, size) and (r, t, heads, size)."""
        return torch.cat([part.flatten(0, 1) for part in parts]).index_select(0, self._places)
