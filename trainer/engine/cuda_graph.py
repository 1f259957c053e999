"""Decoding steps as a CUDA graph: all kernels of a step are started at once, at the addresses they were recorded with.

A step of a small model is hundreds of kernels of a few microseconds, and starting one from Python takes longer than it
runs. So that nothing moves, keys and values have a place for every token to come. What is not there yet is masked, and
zeros, as it is still multiplied by 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from .attention import attend
from .decoder import FusedDecoder
from .layers import hidden_states
from .policy import Policy


class CudaGraphDecoder(FusedDecoder):
    """``FusedDecoder`` with each row's prompt beside its own tokens. Off CUDA its steps are not recorded.

    Fewer rows are another graph, so finished ones stay until they are half of all.
    """

    drop_at = 0.5

    def __init__(self, policy: Policy, prompts: Sequence[list[int]], group_size: int, max_new_tokens: int) -> None:
        super().__init__(policy, prompts, group_size, max_new_tokens)
        assert self.shared is not None
        self.held = [
            [pad(states.repeat_interleave(group_size, 0), (0, 0, 0, max_new_tokens)) for states in layer]
            for layer in self.shared.held
        ]
        self.shared = None
        self.seen = self.seen.bool()
        self.columns = torch.arange(self.seen.shape[1], device=policy.device)
        self.place = self.columns[:1].clone()
        self.given = torch.zeros_like(self.positions)
        self.graph: torch.cuda.CUDAGraph | None = None
        self.found = self.logits

    def step(self, tokens: Tensor) -> Tensor:
        """Logits behind ``tokens``, until the next step."""
        self.given.copy_(tokens)
        self.place.fill_(self.width - 1)
        if self.policy.device.type != "cuda":
            return self._forward()
        if self.graph is None:
            self.graph = self._captured()
        self.graph.replay()
        return self.found

    def select(self, kept: Tensor) -> None:
        """Go on with some of the rows."""
        self.held = [[states.index_select(0, kept) for states in layer] for layer in self.held]
        self.seen, self.positions, self.given = self.seen[kept], self.positions[kept], self.given[kept]
        self.graph = None

    def _captured(self) -> torch.cuda.CUDAGraph:
        # What libraries set up at their first call must not be in the graph. The call writes what the graph will.
        aside: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            self._forward()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.found = self._forward()
        return graph

    def _forward(self) -> Tensor:
        masks: dict[int | None, Tensor] = {}

        def mask(window: int | None) -> Tensor:
            if window not in masks:
                near = self.columns > self.place - (window or len(self.columns))
                masks[window] = (self.seen & near & (self.columns <= self.place))[:, None, None]
            return masks[window]

        def mix(attention: Any, query: Tensor, key: Tensor, value: Tensor, window: int | None) -> Tensor:
            keys, values = self.held[attention.layer_idx]
            for store, states in ((keys, key), (values, value)):
                store.index_copy_(2, self.place, states.unsqueeze(2).to(store.dtype))
            return attend(attention, query.unsqueeze(2), keys, values, mask(window), scaling=attention.scaling)[0]

        return self.head(hidden_states(self.policy.model, self.given, self.positions, mix))
