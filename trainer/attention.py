"""Attention where torch's own does not do: of packed rows, and by plain matrix products where those are faster.

The fused kernel for a CPU is made for long sequences. The one query of a decoding step, and short sequences in
bfloat16, take it several times as long as products do. Those keep every weight for the backward pass, though, so long
sequences stay with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "grpo_env"

# Keys up to which all weights are kept: those of a token are then fewer than what its MLP keeps.
SHORT = 256


@dataclass(frozen=True, eq=False)
class Layout:
    """One row that holds P prompts and R completions one after the other, without padding between them.

    ``prompts`` (P, Lp) and ``completions`` (R, T) are the places of their tokens, 0 beyond their ``prompt_lengths``
    (P,) and ``lengths`` (R,); ``own`` (R,) is each completion's prompt.
    """

    prompt_lengths: Tensor
    lengths: Tensor
    own: Tensor
    prompts: Tensor
    completions: Tensor
    _masks: dict[int | None, tuple[Tensor, Tensor]] = field(default_factory=dict)

    @classmethod
    def of(cls, prompt_lengths: Tensor, lengths: Tensor, own: Tensor) -> Layout:
        """Prompts first, then completions, in order."""
        ends = torch.cat([prompt_lengths, lengths]).cumsum(0)
        places = []
        for counts, last in ((prompt_lengths, ends[: len(prompt_lengths)]), (lengths, ends[len(prompt_lengths) :])):
            steps = torch.arange(int(counts.max()), device=counts.device)
            places.append(((last - counts)[:, None] + steps).where(steps < counts[:, None], 0))
        return cls(prompt_lengths, lengths, own, *places)

    @property
    def positions(self) -> Tensor:
        """(N,) each token's position behind the start of its prompt."""
        (_, completion), prompt = self._offsets(), torch.arange(self.prompts.shape[1], device=self.own.device)
        return torch.cat([prompt.expand_as(self.prompts)[self._real(0)], completion[self._real(1)]])

    def masks(self, window: int | None) -> tuple[Tensor, Tensor]:
        """(P, 1, Lp, Lp) and (R, 1, T, Lp + T): what each token sees, at most the last ``window`` positions."""
        if window not in self._masks:
            prompt, completion = self._offsets()
            keys = torch.cat([prompt.expand(len(self.own), -1), completion], 1)
            real = torch.cat([self._real(0)[self.own], torch.ones_like(completion, dtype=torch.bool)], 1)
            found = []
            for back in (prompt[:, :, None] - prompt[:, None], completion[:, :, None] - keys[:, None]):
                found.append((back >= 0) & (back < (window or torch.inf)))
            self._masks[window] = found[0][:, None], (found[1] & real[:, None])[:, None]
        return self._masks[window]

    def _offsets(self) -> tuple[Tensor, Tensor]:
        prompt = torch.arange(self.prompts.shape[1], device=self.own.device)[None]
        steps = torch.arange(self.completions.shape[1], device=self.own.device)
        return prompt, self.prompt_lengths[self.own][:, None] + steps

    def _real(self, which: int) -> Tensor:
        places, counts = ((self.prompts, self.prompt_lengths), (self.completions, self.lengths))[which]
        return torch.arange(places.shape[1], device=places.device) < counts[:, None]

    def join(self, prompts: Tensor, completions: Tensor) -> Tensor:
        """(1, N, ...) of (P, Lp, ...) and (R, T, ...), as they stand in the row."""
        parts = ((prompts, self._real(0)), (completions, self._real(1)))
        return torch.cat([part.flatten(0, 1).index_select(0, real.flatten().nonzero()[:, 0]) for part, real in parts])[
            None
        ]


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
    softcap: float | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """(rows, L, heads, size) of queries (rows, heads, L, size) on keys and values (rows, KV heads, K, size)."""
    if layout is not None:
        how = {"dropout": dropout, "scaling": scaling, "softcap": softcap}
        return _packed(module, (query, key, value), layout, others.get("sliding_window"), how), None
    rows, heads, length, size = query.shape
    held, keys = key.shape[1:3]
    unknown = dropout or any(others.get(name) is not None for name in ("position_bias", "cache"))
    if softcap is None and (unknown or _fused(length, keys, query.device)):
        whole: tuple[Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout, scaling, is_causal, **others
        )
        return whole
    scaled = query * (size**-0.5 if scaling is None else scaling)
    stacked = heads // held * length  # all queries of one key and value head
    scores = (scaled.reshape(rows, held, stacked, size) @ key.mT).view(rows, held, heads // held, length, keys)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if attention_mask is None and length > 1 and (module.is_causal if is_causal is None else is_causal):
        attention_mask = torch.ones(1, 1, length, keys, dtype=torch.bool, device=key.device).tril()
    if attention_mask is not None:
        mask = attention_mask[:, :, None]
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min) if mask.dtype == torch.bool else scores + mask
    weights = torch.softmax(scores, -1).view(rows, held, stacked, keys)
    return (weights @ value).view(rows, heads, length, size).transpose(1, 2), None


def _packed(module: Any, states: tuple[Tensor, ...], layout: Layout, window: int | None, how: dict[str, Any]) -> Tensor:
    """(1, N, heads, size): each prompt on itself, each completion on its prompt and itself."""

    def cut(state: Tensor, places: Tensor) -> Tensor:
        flat = state[0].transpose(0, 1).index_select(0, places.flatten())
        return flat.view(*places.shape, *flat.shape[1:]).transpose(1, 2)

    prompts = [cut(state, layout.prompts) for state in states]
    query, *held = (cut(state, layout.completions) for state in states)
    key, value = (torch.cat([x.index_select(0, layout.own), y], 2) for x, y in zip(prompts[1:], held, strict=True))
    masks = layout.masks(window)
    return layout.join(
        attend(module, *prompts, masks[0], **how)[0], attend(module, query, key, value, masks[1], **how)[0]
    )


def _fused(length: int, keys: int, device: torch.device) -> bool:
    return device.type != "cpu" or (length > 1 and (keys > SHORT or not torch.is_autocast_enabled("cpu")))


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)


def attend_here(model: Any) -> None:
    """Let a model attend by this module, if it would use torch's kernel or, for a soft cap (Gemma 2), none."""
    capped = getattr(model.config.get_text_config(decoder=True), "attn_logit_softcapping", None) is not None
    if model.config._attn_implementation == "sdpa" or (capped and model.config._attn_implementation == "eager"):
        model.set_attn_implementation(NAME)
