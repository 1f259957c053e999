"""Which prompts a step takes: of which tasks, and in which order, which is another in every epoch."""

from __future__ import annotations

import random
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate

from grpo_env.core import Example
from grpo_env.taskfile.task import Task

from ..rollout import make_prompts
from ..shared_types import Prompt


@dataclass
class PromptSampler:
    """A task, its weight in the mixture, and its training examples."""

    task: Task
    weight: float
    examples: Sequence[Example]


def sample_prompts(samplers: Sequence[PromptSampler], count: int, step: int, seed: str) -> list[Prompt]:
    """The prompts of a step, from each task in proportion to its weight.

    One random number decides for all prompts (systematic sampling: Madow and Madow 1944): each task's number of prompts
    is within one of its proportion at every step, and equal to it in expectation.
    """
    if len(samplers) == 1:
        return make_prompts(samplers[0].task, take(samplers[0].examples, count, step * count, seed), step)
    weights = tuple(sampler.weight for sampler in samplers)
    *earlier, now = (_task_counts(weights, count, at, seed) for at in range(step + 1))
    prompts: list[Prompt] = []
    for number, sampler in enumerate(samplers):
        first = sum(counts[number] for counts in earlier)
        prompts += make_prompts(sampler.task, take(sampler.examples, now[number], first, seed), step)
    # Shuffled, so that every process and every round of dynamic sampling gets prompts of each task.
    return random.Random(f"{seed}/mixed/{step}").sample(prompts, count)


@cache
def _task_counts(weights: tuple[float, ...], count: int, step: int, seed: str) -> tuple[int, ...]:
    """How many of a step's ``count`` prompts are of each task."""
    bounds, start = list(accumulate(weights)), random.Random(f"{seed}/tasks/{step}").random()
    counts = Counter(bisect(bounds[:-1], (start + index) / count * bounds[-1]) for index in range(count))
    return tuple(counts[number] for number in range(len(weights)))


def take(examples: Sequence[Example], count: int, first: int, seed: int | str) -> list[Example]:
    """The ``count`` examples of a step after the ``first`` ones, which earlier steps took: every example once per
    epoch, in a new order each epoch.

    A function of its arguments alone, so a resumed run continues with the same examples.
    """
    positions = (divmod(index, len(examples)) for index in range(first, first + count))
    return [examples[_order(seed, epoch, len(examples))[position]] for epoch, position in positions]


@lru_cache(maxsize=8)
def _order(seed: int | str, epoch: int, size: int) -> list[int]:
    return random.Random(f"{seed}/order/{epoch}").sample(range(size), size)
