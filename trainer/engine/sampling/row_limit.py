"""Sampling in parts where memory is too small for all rows of a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from accelerate.utils.memory import clear_device_cache

from grpo_env.errors import RunError, memory_ran_out

from .protocol import OnGroupTokens, SamplingRequest

Generate = Callable[[SamplingRequest, OnGroupTokens], None]


@dataclass
class RowLimit:
    """How many rows are sampled at once: ``rows``, or all of a request while that is ``None``.

    It is lowered whenever memory runs out, and stays so.
    """

    rows: int | None = None

    def generate(
        self, request: SamplingRequest, on_group: OnGroupTokens, generate: Generate, report: Callable[[str], None]
    ) -> None:
        """Call ``generate`` for one part of the prompts after the other until all groups of a request are complete.

        If memory runs out, the groups that are complete are kept, and half as many prompts are sampled at once from
        then on; ``report`` gets a message. Raises ``RunError`` if memory is too small for the rows of one prompt.
        """
        size = request.group_size
        missing = set(range(len(request.prompts)))

        def complete(numbers: list[int], index: int, rows: list[list[int]], logps: list[list[float]]) -> None:
            """Report group ``index`` of a part by its number in the whole request."""
            missing.remove(numbers[index])
            on_group(numbers[index], rows, logps)

        while missing:
            at_once = len(missing) if self.rows is None else min(len(missing), max(1, self.rows // size))
            numbers = sorted(missing)[:at_once]
            try:
                generate(request.part(numbers), partial(complete, numbers))
                continue
            except (MemoryError, RuntimeError) as error:
                if not memory_ran_out(error):
                    raise
                if at_once == 1:
                    raise RunError(
                        f"out of memory with the {size} completions of one prompt at a time; try a lower "
                        "sampling.max_new_tokens or group_size, or engine.precision=bf16"
                    ) from error
            # Outside of the except block, whose exception would keep the tensors of the failed attempt alive.
            clear_device_cache(garbage_collection=True)
            self.rows = at_once // 2 * size
            report(f"out of memory while sampling: now at most {self.rows} completions are sampled at once")
