"""Sampling in parts where memory is too small for all rows of a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from accelerate.utils.memory import clear_device_cache

from grpo_env.errors import RunError, memory_ran_out

from .protocol import OnGroupTokens, SamplingRequest

# Samples a request, with so many of its prompts at once.
Generate = Callable[[SamplingRequest, OnGroupTokens, int], None]


@dataclass
class RowLimit:
    """How many rows are sampled at once: ``rows``, or all of a request while that is ``None``.

    It is lowered whenever memory runs out, and stays so.
    """

    rows: int | None = None
    waves_reported: bool = False

    def generate(
        self,
        request: SamplingRequest,
        on_group: OnGroupTokens,
        generate: Generate,
        report: Callable[[str], None],
        fitting_prompts: int | None = None,
        refills: bool = False,
    ) -> None:
        """Call ``generate`` until all groups of a request are complete, with at most ``fitting_prompts`` at once.

        With ``refills``, it gets all of them, the longest prompts first, and begins others as rows end; otherwise it
        gets one part after another. If memory runs out, the groups that are complete are kept, and half as many
        prompts are sampled at once from then on; ``report`` gets a message. Unless all prompts fit, the prefix cache
        is emptied and not used. Raises ``RunError`` if memory is too small for the rows of one prompt.
        """
        count, size = len(request.prompts), request.group_size
        if fitting_prompts is not None and fitting_prompts < count and not self.waves_reported:
            self.waves_reported = True
            report(
                f"sampling {'with refills' if refills else 'in waves'}: the free memory is estimated to hold "
                f"{fitting_prompts * size} of {count * size} completions of maximum length"
            )
        missing = set(range(count))
        while missing:
            limits = [len(missing), fitting_prompts, None if self.rows is None else max(1, self.rows // size)]
            at_once = min(limit for limit in limits if limit is not None)
            if at_once < len(missing):  # what is kept of some would take the room of the others
                request = request.without_prefix_cache()
            numbers = sorted(missing)[:at_once]
            if refills:
                numbers = sorted(missing, key=lambda number: -len(request.prompts[number]))
            if not self._fits(request.part(numbers), partial(_complete, missing, numbers, on_group), at_once, generate):
                # Outside of an except block, whose exception would keep the tensors of the failed attempt alive.
                request = request.without_prefix_cache()
                clear_device_cache(garbage_collection=True)
                self.rows = at_once // 2 * size
                report(f"out of memory while sampling: now at most {self.rows} completions are sampled at once")

    @staticmethod
    def _fits(part: SamplingRequest, on_group: OnGroupTokens, at_once: int, generate: Generate) -> bool:
        try:
            generate(part, on_group, at_once)
        except (MemoryError, RuntimeError) as error:
            if not memory_ran_out(error):
                raise
            if at_once == 1:
                raise RunError(
                    f"out of memory with the {part.group_size} completions of one prompt at a time; try a lower "
                    "sampling.max_new_tokens or group_size, or engine.precision=bf16"
                ) from error
            return False
        return True


def _complete(
    missing: set[int],
    numbers: list[int],
    on_group: OnGroupTokens,
    index: int,
    rows: list[list[int]],
    logps: list[list[float]],
) -> None:
    """Report group ``index`` of a part by its number in the whole request."""
    missing.remove(numbers[index])
    on_group(numbers[index], rows, logps)
