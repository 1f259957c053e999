"""Attention where torch's own does not do: of packed rows, and by plain matrix products where those are faster.

The fused kernel for a CPU is made for long sequences. The one query of a decoding step takes it several times as long
as products do, and so do short sequences in bfloat16. Products keep every weight for the backward pass, though, so long
sequences stay with it, and so does float32, where it is as fast. On a GPU one masked query would have its keys copied
for every head that shares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "grpo_env"

# Keys up to which all weights are kept, in bfloat16: those of a token are then fewer than what its MLP keeps.
SHORT = 256

# Parts in which a batch's completions attend. More hold less padding, and are more calls.
CHUNKS = 4


class Layout:
    """One row that holds P prompts and then R completions, one after the other, without padding between them.

    ``own`` (R,) is each completion's prompt; ``prompts`` (P, Lp) and ``completions`` (R, T) are True where they have a
    token. They are taken out of the row in parts (r, t), padded on the right: the prompts, and completions in
    ``CHUNKS`` that are as wide as their longest, so those of like length should follow one another.
    """

    def __init__(self, own: Tensor, prompts: Tensor, completions: Tensor) -> None:
        widths = [int(lengths.max()) for lengths in completions.sum(1).chunk(CHUNKS)]
        chunks = zip(own.chunk(CHUNKS), completions.chunk(CHUNKS), widths, strict=True)
        held = [(mine, given[:, :width]) for mine, given, width in chunks if width]
        self._own = [mine for mine, _ in held]
        self._real = [prompts, *(given for _, given in held)]
        self._places = [real.flatten().nonzero()[:, 0] for real in self._real]
        starts = [prompts.new_zeros(1, dtype=torch.long), *(prompts.sum(1)[mine] for mine in self._own)]
        steps = [torch.arange(real.shape[1], device=own.device) for real in self._real]
        self._steps = [start[:, None] + step for start, step in zip(starts, steps, strict=True)]
        self._masks: dict[int | None, list[Tensor]] = {}

    @property
    def positions(self) -> Tensor:
        """(N,) each token's position behind the start of its prompt."""
        return torch.cat([step.expand_as(real)[real] for step, real in zip(self._steps, self._real, strict=True)])

    def masks(self, window: int | None) -> list[Tensor]:
        """(1, 1, Lp, Lp) and (r, 1, t, Lp + t): what each token sees, at most the last ``window`` positions."""
        if window not in self._masks:
            prompts, *chunks = self._steps
            shown = prompts.masked_fill(~self._real[0], torch.iinfo(torch.int).max)  # padding is behind every token
            keys = [prompts, *(torch.cat([shown[own], step], 1) for own, step in zip(self._own, chunks, strict=True))]
            back = [step[:, :, None] - key[:, None] for step, key in zip(self._steps, keys, strict=True)]
            self._masks[window] = [((each >= 0) & (each < (window or torch.inf)))[:, None] for each in back]
        return self._masks[window]

    def parted(self, states: Tensor) -> list[Tensor]:
        """(P, heads, Lp, size) and (r, heads, t, size) of (1, heads, N, size), 0 where there is no token."""
        flat, parts = torch.split(states[0].transpose(0, 1), [len(places) for places in self._places]), []
        for own, real, places in zip(flat, self._real, self._places, strict=True):
            padded = own.new_zeros(real.numel(), *own.shape[1:]).index_copy_(0, places, own)
            parts.append(padded.view(*real.shape, *own.shape[1:]).transpose(1, 2))
        return parts

    def seen(self, states: Tensor) -> list[Tensor]:
        """The same of keys or values, with its prompt's before each completion's: (r, heads, Lp + t, size)."""
        prompts, *chunks = self.parted(states)
        both = zip(self._own, chunks, strict=True)
        return [prompts, *(torch.cat([prompts.index_select(0, own), chunk], 2) for own, chunk in both)]

    def joined(self, parts: Sequence[Tensor]) -> Tensor:
        """(1, N, heads, size) of (P, Lp, heads, size) and (r, t, heads, size)."""
        both = zip(parts, self._places, strict=True)
        return torch.cat([part.flatten(0, 1).index_select(0, places) for part, places in both])[None]


class Prompts:
    """Keys and values of P prompts, for R rows that go on behind them: every row sees its own prompt first.

    ``held`` has (P, KV heads, Lp, size) of both for each layer; ``seen`` (P, Lp) is True where a prompt, padded on the
    left, has a token; ``own`` (R,) is each row's prompt, in order.
    """

    def __init__(self, held: list[tuple[Tensor, Tensor]], seen: Tensor, own: Tensor) -> None:
        self.held, self._seen = held, seen
        self._bias: Tensor | None = None
        if not seen.all():
            key = held[0][0]
            self._bias = key.new_zeros(key.shape[:3]).masked_fill(~seen[:, None], torch.finfo(key.dtype).min)
        self._give(own)

    def _give(self, own: Tensor) -> None:
        """Rows stand in a table (P, M), so that one product serves all rows of a prompt."""
        most, number = int(torch.bincount(own).max()), torch.arange(len(own), device=own.device)
        place = own * most + number % most  # a prompt's rows follow one another
        rows = torch.zeros(len(self._seen) * most, dtype=torch.long, device=own.device)
        rows[place] = number
        self._own, self._most = own, most
        self._table = None if len(own) == len(rows) else (rows, place)
        self._masks: dict[tuple[int | None, int], Tensor | None] = {}

    def select(self, kept: Tensor) -> None:
        """Go on with some of the rows."""
        self._give(self._own[kept])

    def scores(self, rows: Tensor, layer: int, hides: bool) -> Tensor:
        """(R, heads, n, Lp): each row's queries (R, heads, n, size) on its prompt's keys; ``hides`` padding."""
        return self._times(rows, self.held[layer][0].mT, self._bias if hides else None)

    def values(self, weights: Tensor, layer: int) -> Tensor:
        """(R, heads, n, size): its prompt's values, by weights (R, heads, n, Lp)."""
        return self._times(weights, self.held[layer][1])

    def _times(self, rows: Tensor, held: Tensor, bias: Tensor | None = None) -> Tensor:
        """(R, heads, n, m): products of each row's (R, heads, n, k) with its prompt's (P, heads, k, m)."""
        heads, count, inner = rows.shape[1:]
        table = rows if self._table is None else rows.index_select(0, self._table[0])
        table = table.view(-1, self._most, heads, count, inner).transpose(1, 2)
        stacked, each = table.reshape(-1, self._most * count, inner), held.flatten(0, 1)
        found = stacked @ each if bias is None else torch.baddbmm(bias.flatten(0, 1)[:, None], stacked, each)
        found = found.view(-1, heads, self._most, count, held.shape[-1]).transpose(1, 2).flatten(0, 1)
        return found if self._table is None else found.index_select(0, self._table[1])

    def mask(self, window: int | None, keys: int) -> Tensor | None:
        """(R, 1, 1, Lp + keys): what the newest of ``keys`` tokens sees, at most the last ``window`` positions."""
        if self._bias is None and window is None:
            return None
        if (window, keys) not in self._masks:
            real = self._seen[self._own]
            real = torch.cat([real, real.new_ones(len(real), keys)], 1)
            back = real.flip(1).cumsum(1).flip(1)  # 1 for itself
            self._masks = {(window, keys): (real & (back <= (window or torch.inf)))[:, None, None]}
        return self._masks[window, keys]


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    layout: Layout | None = None,
    prompts: Prompts | None = None,
    softcap: float | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """(rows, L, heads, size) of queries (rows, heads, L, size) on keys and values (rows, KV heads, K, size).

    One query a row sees its ``prompts`` too; the tokens of a ``layout`` see what that says.
    """
    if layout is not None:
        how = {"dropout": dropout, "scaling": scaling, "softcap": softcap}
        return attend_packed(module, (query, key, value), layout, others.get("sliding_window"), how), None
    rows, heads, length, size = query.shape
    held, keys = key.shape[1:3]
    unknown = dropout or any(others.get(name) is not None for name in ("position_bias", "cache"))
    if softcap is None and prompts is None and (unknown or _fused(query, keys)):
        whole: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout, scaling, is_causal, **others
        )
        return whole
    scaled = query * (size**-0.5 if scaling is None else scaling)
    stacked = heads // held * length  # all queries of one key and value head
    scaled = scaled.reshape(rows, held, stacked, size)
    scores = scaled @ key.mT
    if prompts is not None:
        window = others.get("sliding_window")
        plain = softcap is None and window is None  # then all of its own keys are seen, and padding as if far away
        scores = torch.cat([prompts.scores(scaled, module.layer_idx, hides=plain), scores], -1)
        attention_mask = None if plain else prompts.mask(window, keys)
    scores = scores.view(rows, held, heads // held, length, scores.shape[-1])
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if attention_mask is None and length > 1 and (module.is_causal if is_causal is None else is_causal):
        attention_mask = torch.ones(1, 1, length, keys, dtype=torch.bool, device=key.device).tril()
    if attention_mask is not None:
        mask = attention_mask[:, :, None]
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min) if mask.dtype == torch.bool else scores + mask
    weights = torch.softmax(scores, -1).view(rows, held, stacked, scores.shape[-1])
    found = weights[..., -keys:] @ value
    if prompts is not None:
        found = found + prompts.values(weights[..., :-keys], module.layer_idx)
    return found.view(rows, heads, length, size).transpose(1, 2), None


def attend_packed(
    module: Any, states: Sequence[Tensor], layout: Layout, window: int | None, how: dict[str, Any]
) -> Tensor:
    """(1, N, heads, size) of queries, keys and values (1, heads, N, size): each prompt on itself, each completion on
    its prompt and itself.
    """
    query, key, value = states
    parts = zip(layout.parted(query), layout.seen(key), layout.seen(value), layout.masks(window), strict=True)
    return layout.joined([attend(module, *part, **how)[0] for part in parts])


def _fused(query: Tensor, keys: int) -> bool:
    exact = query.dtype == torch.float32 and not torch.is_autocast_enabled(query.device.type)
    return query.shape[2] > 1 and (query.device.type != "cpu" or exact or keys > SHORT)


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)


def install_attention(model: Any) -> None:
    """Let a model attend by this module, if it would use torch's kernel or, for a soft cap (Gemma 2), none."""
    capped = getattr(model.config.get_text_config(decoder=True), "attn_logit_softcapping", None) is not None
    if model.config._attn_implementation == "sdpa" or (capped and model.config._attn_implementation == "eager"):
        model.set_attn_implementation(NAME)
