"""Keys and values of a decoding batch, which are appended in place."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from .policy import Policy

# Tokens between two copies. With more spare room a small cache is read more slowly than copying it costs (in strides,
# from memory instead of the processor's cache); for a large one this is an eighth of the cost of a copy at every token.
SPARE_TOKENS = 8


class PreallocatedLayer(DynamicLayer):  # type: ignore[misc]
    """A cache layer with spare room: ``DynamicLayer`` copies all that it stores at every token.

    Stored in the dtype that attention computes in: under autocast rotated keys are float32, and all of them would be
    rounded again at every token.
    """

    def __init__(self) -> None:
        super().__init__()
        self._buffers: list[Tensor] = []

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Append keys and values (rows, heads, L, size) and return all of them."""
        new = [_to_autocast_dtype(states) for states in (key_states, value_states)]
        if not self.is_initialized:
            self.lazy_initialization(*new)
            self._buffers = [states[:, :, :0] for states in new]
        start = self.get_seq_length()
        end = start + new[0].shape[2]
        if end > self._buffers[0].shape[2]:
            self._buffers = [_extended(buffer, end + SPARE_TOKENS) for buffer in self._buffers]
        for buffer, states in zip(self._buffers, new, strict=True):
            buffer[:, :, start:end] = states
        return self._set_length(end)

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Keep some of the rows, or copies of them: those of these indices."""
        if self.is_initialized:
            self._buffers = [buffer.index_select(0, beam_idx) for buffer in self._buffers]
            self._set_length(self.get_seq_length())

    def _set_length(self, length: int) -> tuple[Tensor, Tensor]:
        self.keys, self.values = (buffer[:, :, :length] for buffer in self._buffers)
        return self.keys, self.values


def decoding_cache(policy: Policy) -> DynamicCache:
    """A cache whose layers have spare room where they keep all positions."""
    cache = DynamicCache(config=policy.model.config)
    cache.layers = [PreallocatedLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache


def only_attends(model: Any) -> bool:
    """Whether positions see each other by attention alone, to all that is before them or to a sliding window.

    Convolutions, linear attention and Mamba carry a state from one position to the next, so that rows which share a
    prompt, or a packed row, would read each other's. Decided by the layers of transformers' cache for the model.
    """
    kinds = getattr(model.config.get_text_config(decoder=True), "layer_types", None) or ()
    layers = DynamicCache(config=model.config).layers
    attends = all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)
    return attends and "chunked_attention" not in kinds


def _extended(states: Tensor, length: int) -> Tensor:
    rows, heads, filled, size = states.shape
    buffer = states.new_empty(rows, heads, length, size)
    buffer[:, :, :filled] = states
    return buffer


def _to_autocast_dtype(states: Tensor) -> Tensor:
    device = states.device.type
    return states.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else states
