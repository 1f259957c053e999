"""Where memory runs out in an update: the work is repeated with micro-batches of half the size.

Sampling has the same in ``engine/sampling/own.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TypeVar

from accelerate.utils.memory import clear_device_cache

from grpo_env.errors import RunError, memory_ran_out

from .batch import Batch
from .engine.policy import Policy
from .engine.sharding import is_sharded

T = TypeVar("T")


def with_oom_retry(policy: Policy, batch: Batch, work: Callable[[], T]) -> T:
    """The result of ``work``, which is repeated with every micro-batch of the batch halved whenever memory runs out.

    ``batch.reduced_tokens`` is then the size of the largest half, less than ``engine.micro_batch_tokens``: rows that
    were alone, because they are larger than that, do not count. Raises ``RunError`` if single completions are too
    large, or if the weights are sharded: processes must make the same number of passes, so one of them cannot halve
    its own.
    """
    while True:
        try:
            return work()
        except (MemoryError, RuntimeError) as error:
            if not memory_ran_out(error):
                raise
            alone = all(len(micro.prompts) == 1 for micro in batch.micro_batches)
            if alone or is_sharded(policy):
                raise RunError(_advice(policy, batch, alone)) from error
        # Outside the except block, whose exception keeps the tensors of the failed attempt alive.
        clear_device_cache(garbage_collection=True)
        parts = [micro.halves() for micro in batch.micro_batches]
        batch.micro_batches = list(chain.from_iterable(parts))
        halves = (half for pair in parts if len(pair) > 1 for half in pair)
        batch.reduced_tokens = max(half.positions(shared=policy.shares_prompts) for half in halves)


def _advice(policy: Policy, batch: Batch, alone: bool) -> str:
    largest = max(micro.positions(shared=policy.shares_prompts) for micro in batch.micro_batches)
    size = "one completion" if alone else f"micro-batches of {largest} token positions"
    smaller = "" if alone else f"engine.micro_batch_tokens={largest // 2}, "
    return (
        f"process {policy.accelerator.process_index}: out of memory with {size} at a time; try {smaller}"
        "engine.gradient_checkpointing=true, engine.precision=bf16 or a lower sampling.max_new_tokens"
    )
