"""Attention of packed rows by variable-length flash attention (Dao 2023), which needs neither masks nor padding.

Torch has the kernel as ``torch.nn.attention.varlen`` (from 2.11 on in the form used here), for CUDA and 16-bit numbers.
It takes any number of sequences without padding between them, and its causal diagonal ends at the last query and the
last key of each sequence. So a completion's queries, with the keys of its prompt and its own, see what they should.

Forward and backward are 8 operators, and 212 with padded parts (``python benchmarks/operators.py``). Its gain in time
is not measured: this has never run on a GPU. On a CPU, the arguments are tested with a stand-in for the kernel. At the
start of every run on CUDA, ``forward.with_varlen_attention`` compares a gradient with that of ``packed.PaddedLayout``,
and if they differ or the kernel fails, the padded parts stay and the run's first lines say why.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from .packed import Layout

try:
    from torch.nn.attention.varlen import varlen_attn
except ImportError:  # an older torch
    varlen_attn = None  # type: ignore[assignment]


class VarlenLayout(Layout):
    """Attention by one kernel. Keys and values of a prompt are copied for each of its completions, without padding."""

    def __init__(self, prompt_of: Tensor, prompts: Tensor, completions: Tensor) -> None:
        super().__init__(prompt_of, prompts, completions)
        not_empty = completions.any(1)  # a completion of one token has no query
        prompt_of, completions = prompt_of[not_empty], completions[not_empty]
        first = _numbers(prompts)
        rest = prompts.sum() + _numbers(completions)
        seen = torch.cat([prompts[prompt_of], completions], 1)
        self._keys = torch.cat([first[prompts], torch.cat([first[prompt_of], rest], 1)[seen]])
        self._queries, self._longest_queries = _boundaries(prompts.sum(1), completions.sum(1))
        self._key_ends, self._longest_keys = _boundaries(prompts.sum(1), seen.sum(1))

    def attend(
        self,
        module: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        window: int | None,
        scaling: float | None,
        softcap: float | None,
    ) -> Tensor:
        """See ``Layout``. Raises ``ValueError`` with a soft cap, which the kernel does not know, and without it."""
        if varlen_attn is None:
            raise ValueError(f"torch {torch.__version__} has no torch.nn.attention.varlen")
        if softcap is not None:
            raise ValueError("flash attention has no soft cap")
        if torch.is_autocast_enabled(query.device.type):  # to which the kernel pays no attention
            dtype = torch.get_autocast_dtype(query.device.type)
            query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
        # The kernel of torch 2.11 takes fewer key heads without being told.
        fewer = query.shape[1] != key.shape[1]
        told: dict[str, Any] = {"enable_gqa": fewer} if _takes_enable_gqa(varlen_attn) else {}
        attended: Any = varlen_attn(
            query,
            key.index_select(0, self._keys),
            value.index_select(0, self._keys),
            self._queries,
            self._key_ends,
            self._longest_queries,
            self._longest_keys,
            scale=scaling,
            window_size=(-1 if window is None else window - 1, 0),
            **told,
        )
        return attended  # type: ignore[no-any-return]


@cache
def _takes_enable_gqa(kernel: Callable[..., Any]) -> bool:
    return "enable_gqa" in inspect.signature(kernel).parameters


def _numbers(mask: Tensor) -> Tensor:
    """The number of each token, row by row, where ``mask`` is True; arbitrary elsewhere."""
    return mask.flatten().cumsum(0).view_as(mask) - 1


def _boundaries(*lengths: Tensor) -> tuple[Tensor, int]:
    """(S + 1,) int32, where each of S sequences begins and the last one ends; and the longest length."""
    every = torch.cat(lengths)
    return torch.nn.functional.pad(every.cumsum(0, dtype=torch.int32), (1, 0)), int(every.max())
