"""Decoding steps as CUDA graphs: all kernels of a step are launched at once, with the addresses they were recorded at.

A step of a small model is hundreds of kernels of a few microseconds each, and launching one from Python takes longer
than it runs. So that no tensor moves, keys and values have room for every token to come; places that are not yet filled
are masked, and finite, since they are still multiplied by 0. Every row has its own position, so a row that ended can be
replaced by that of another prompt.

Its gain is not measured: this has never run on a GPU. On a CPU, the same step without the graph is tested against plain
forward passes. At the start of every run on CUDA, ``sampling.own.with_cuda_graphs`` compares recorded with plain steps,
and if they differ or recording fails, decoding goes on without graphs and the run's first lines say why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import torch
from torch import Tensor

from ..decoder import FusedDecoder
from ..policy import Policy
from ..prefix_cache import Layers, Prefix
from .attention import SharedPrompts, attention_forward
from .layers import hidden_states

# Positions of a row are a multiple of this: products whose rows begin at other addresses than multiples of 16 bytes are
# computed by slower kernels.
STEP = 8

# Bytes that a GPU reads in the time in which a layer is recorded: about 1.2 ms (the layer runs twice from Python, and
# its kernels are put into the graph) at 2.5 TB/s. An estimate, not measured.
RECORDING_BYTES = 3e9


class CudaGraphDecoder(FusedDecoder):
    """``FusedDecoder`` with a copy of its prompt in each row, from column 0 on. Without CUDA the step runs, but is not
    recorded.

    Another number of rows is another graph, so finished rows stay until they are half of all and reading them on would
    take longer than to record the others, or others take their place.
    """

    drop_at = 0.5
    refills = True

    def __init__(
        self,
        policy: Policy,
        prompts: Sequence[list[int]],
        group_size: int,
        max_new_tokens: int,
        prefixes: Sequence[Prefix | None] = (),
    ) -> None:
        super().__init__(policy, prompts, group_size, max_new_tokens, prefixes)
        assert self.prompts is not None
        width = self.row_positions(policy, self.width, max_new_tokens)
        self.key_values = [
            [states.new_zeros(len(self.positions), states.shape[1], width, states.shape[3]) for states in layer]
            for layer in self.prompts.layers
        ]
        self.rows, self.columns = (torch.arange(size, device=policy.device) for size in (len(self.positions), width))
        self._fill(self.rows, self.prompts)
        self.prompts = None
        self.input_ids = torch.zeros_like(self.positions)
        self.graph: torch.cuda.CUDAGraph | None = None
        self.graph_logits = self.logits

    def step(self, tokens: Tensor) -> Tensor:
        """(rows, V) logits after ``tokens``; the next step overwrites them."""
        self.input_ids.copy_(tokens)
        self.positions.clamp_(max=len(self.columns) - 1)  # of rows that ended long ago
        if self.policy.device.type != "cuda":
            return self._forward()
        if self.graph is None:
            self.graph = self._record()
        self.graph.replay()
        return self.graph_logits

    def drops(self, ended: int, tokens_left: int) -> bool:
        """See ``Decoder``."""
        if not super().drops(ended, tokens_left):
            return False
        if self.policy.device.type != "cuda":  # nothing is recorded
            return True
        saved = ended / len(self.positions) * sum(states.nbytes for states in self.key_values[0]) * tokens_left
        return saved >= RECORDING_BYTES

    def select(self, rows: Tensor) -> None:
        """Keep only some of the rows."""
        for layer in self.key_values:  # in place, or all layers would be stored twice
            layer[:] = [states.index_select(0, rows) for states in layer]
        self.positions, self.input_ids, self.rows = self.positions[rows], self.input_ids[rows], self.rows[: len(rows)]
        self.graph = None

    def prefix(self, row: int) -> Layers:
        """See ``Decoder``."""
        length = int(self.positions[row])
        return [(keys[row, :, :length].clone(), values[row, :, :length].clone()) for keys, values in self.key_values]

    def admit(self, rows: Tensor, prompts: Sequence[list[int]]) -> None:
        """Put groups of further prompts, none longer than the longest so far, in the place of ``rows``."""
        groups = FusedDecoder(self.policy, prompts, len(rows) // len(prompts), 0)
        assert groups.prompts is not None
        self._fill(rows, groups.prompts)
        self.positions[rows], self.logits[rows] = groups.positions, groups.logits

    def _fill(self, rows: Tensor, prompts: SharedPrompts) -> None:
        for layer, buffers in enumerate(self.key_values):
            for buffer, states in zip(buffers, prompts.copies(layer), strict=True):
                buffer[rows, :, : states.shape[2]] = states

    @classmethod
    def row_positions(cls, policy: Policy, prompt: int, max_new_tokens: int) -> int:
        """See ``Decoder``: a copy of the prompt, and room for all tokens from the start."""
        return math.ceil((prompt + max_new_tokens) / STEP) * STEP

    def _record(self) -> torch.cuda.CUDAGraph:
        device, graph = self.policy.device, torch.cuda.CUDAGraph()
        stream, current = _recording_stream(device), torch.cuda.current_stream(device)
        free, total = torch.cuda.mem_get_info(device)
        if free < total / 4:  # a recording can use none of the memory that torch keeps for later
            torch.cuda.empty_cache()
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            # A first call, since what libraries set up at their first call must not be in the graph. It writes what the
            # graph will write again.
            self._forward()
            # Without ``torch.cuda.graph``, which gives back all memory that torch keeps: the next update would have to
            # allocate its gigabytes anew. The scorer's thread may use CUDA meanwhile.
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                self.graph_logits = self._forward()
            except BaseException:
                with suppress(RuntimeError):  # which only says that there was an error
                    graph.capture_end()
                raise
            graph.capture_end()
        current.wait_stream(stream)
        return graph

    def _forward(self) -> Tensor:
        masks: dict[int | None, Tensor] = {}

        def mask(window: int | None) -> Tensor:
            if window not in masks:
                distance = self.positions[:, None] - self.columns
                masks[window] = ((distance >= 0) & (distance < (window or len(self.columns))))[:, None, None]
            return masks[window]

        def attention_fn(module: Any, query: Tensor, key: Tensor, value: Tensor, window: int | None) -> Tensor:
            keys, values = self.key_values[module.layer_idx]
            for buffer, states in ((keys, key), (values, value)):
                buffer[self.rows, :, self.positions] = states.to(buffer.dtype)
            return attention_forward(module, query.unsqueeze(2), keys, values, mask(window), scaling=module.scaling)[0]

        return self.head(hidden_states(self.policy.model, self.input_ids, self.positions, attention_fn))


@cache
def _recording_stream(device: torch.device) -> Any:
    """One stream for all recordings: cuBLAS keeps 32 MB (on an H100) for every stream that it was ever used on."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
