"""Keys and values of a decoding batch: a prompt's once for all its completions, theirs written in place."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from .attention import NAME, Prompts
from .policy import Policy

# Tokens between two copies. With more room a small cache is read more slowly than copying it costs (in strides, from
# memory instead of the processor's own cache); a large one costs an eighth of what a copy at every token does.
ROOM = 8


class _Layer(DynamicLayer):  # type: ignore[misc]
    """A layer with room for some tokens to come: ``DynamicLayer`` copies everything it holds at every token.

    Stored in the type that attention computes in: under autocast rotated keys come in float32, and all of them would be
    rounded anew at every token.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stores: list[Tensor] = []

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Append keys and values (rows, heads, L, size) and return all of them."""
        new = [_as_computed(states) for states in (key_states, value_states)]
        if not self.is_initialized:
            self.lazy_initialization(*new)
            self.keys, self.values = (states[:, :, :0] for states in new)
        start, end = self.keys.shape[2], self.keys.shape[2] + new[0].shape[2]
        if not self._in_store() or end > self._stores[0].shape[2]:
            self._stores = [_with_room(held, end + ROOM) for held in (self.keys, self.values)]
        for store, states in zip(self._stores, new, strict=True):
            store[:, :, start:end] = states
        return self._show(end)

    def batch_select_indices(self, indices: Tensor) -> None:
        """Go on with some of the rows."""
        if self._in_store():
            self._stores = [store.index_select(0, indices) for store in self._stores]
            self._show(self.keys.shape[2])
        else:
            super().batch_select_indices(indices)

    def _in_store(self) -> bool:
        """Not before the first tokens, nor after rows were repeated."""
        return bool(self._stores) and self.keys.data_ptr() == self._stores[0].data_ptr()

    def _show(self, end: int) -> tuple[Tensor, Tensor]:
        self.keys, self.values = (store[:, :, :end] for store in self._stores)
        return self.keys, self.values


def decoding_cache(policy: Policy) -> DynamicCache:
    """A cache that copies itself now and then only, and keeps what is outside of a sliding window, to be shared."""
    cache = DynamicCache(config=policy.model.config)
    ours = (DynamicLayer, DynamicSlidingWindowLayer) if can_share(policy) else (DynamicLayer,)
    cache.layers = [_Layer() if type(layer) in ours else layer for layer in cache.layers]
    return cache


def behind(policy: Policy, cache: DynamicCache, seen: Tensor, group_size: int) -> tuple[DynamicCache, Prompts | None]:
    """A cache for ``group_size`` rows behind each prompt that ``cache`` holds, and the prompts where rows share them.

    ``seen`` (P, Lp) masks the prompts' padding. A model that does not attend by ``attention`` gets copies.
    """
    if not can_share(policy) or not all(type(layer) is _Layer for layer in cache.layers):
        cache.batch_repeat_interleave(group_size)
        return cache, None
    own = torch.arange(len(seen), device=seen.device).repeat_interleave(group_size)
    held = [(layer.keys, layer.values) for layer in cache.layers]
    return decoding_cache(policy), Prompts(held, seen.bool(), own)


def can_share(policy: Policy) -> bool:
    """Whether rows can see a prompt's keys and values without a copy of their own."""
    return policy.takes_positions and policy.model.config._attn_implementation == NAME


def _with_room(held: Tensor, length: int) -> Tensor:
    rows, heads, filled, size = held.shape
    store = held.new_empty(rows, heads, length, size)
    store[:, :, :filled] = held
    return store


def _as_computed(states: Tensor) -> Tensor:
    kind = states.device.type
    return states.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else states
