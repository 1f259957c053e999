"""Which prompts a step takes: their tasks and their order (shuffled every epoch, or easy first)."""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from itertools import accumulate

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.scoring import select
from grpo_env.taskfile.task import Task

from ..config import TrainConfig
from ..rollout import make_prompts, task_examples
from ..shared_types import Prompt

EASIEST = 0.2  # fraction of the examples that a curriculum begins with


class PromptSampler:
    """A task's training examples in the order of the curriculum, and the task's weight."""

    def __init__(
        self, task: Task, weight: float, config: TrainConfig, report: Callable[[str], None] = lambda line: None
    ) -> None:
        """Load the examples; ``report`` as in ``Task.examples``.

        Raises ``UsageError`` if ``curriculum.difficulty`` does not give a number for every example.
        """
        self.task, self.weight = task, weight
        self._config = config
        self.examples = task_examples(task, "train", report=report)
        if config.curriculum.difficulty is not None:
            self.examples.sort(key=partial(_difficulty, task, config.curriculum.difficulty))

    def take(self, count: int, step: int, seed: str, first: int | None = None) -> list[Example]:
        """The ``count`` examples of a step (0-based).

        ``first``: number of examples that earlier steps took; ``step`` x ``count`` if it is not given.

        With a curriculum, from the easiest examples, whose fraction grows linearly to 1 (curriculum sampling: Kimi Team
        2025, Kimi k1.5, section 2.3.3).
        """
        examples, steps = self.examples, self._config.curriculum.steps
        if steps:
            fraction = min(1.0, EASIEST + (1 - EASIEST) * step / steps)
            examples = examples[: max(1, math.ceil(fraction * len(examples)))]
        return take(examples, count, step, seed, first)


def sample_prompts(samplers: Sequence[PromptSampler], count: int, step: int, seed: str) -> list[Prompt]:
    """The prompts of a step, from each task in proportion to its weight.

    One random number decides for all prompts (systematic sampling: Madow and Madow 1944): each task's number of prompts
    is within one of its proportion at every step, and equal to it in expectation.
    """
    if len(samplers) == 1:
        return make_prompts(samplers[0].task, samplers[0].take(count, step, seed), step)
    weights = tuple(sampler.weight for sampler in samplers)
    *earlier, now = (_task_counts(weights, count, at, seed) for at in range(step + 1))
    prompts: list[Prompt] = []
    for number, sampler in enumerate(samplers):
        first = sum(counts[number] for counts in earlier)
        prompts += make_prompts(sampler.task, sampler.take(now[number], step, seed, first), step)
    # Shuffled, so that every process and every round of dynamic sampling gets prompts of each task.
    return random.Random(f"{seed}/mixed/{step}").sample(prompts, count)


@cache
def _task_counts(weights: tuple[float, ...], count: int, step: int, seed: str) -> tuple[int, ...]:
    """How many of a step's ``count`` prompts are of each task."""
    bounds, start = list(accumulate(weights)), random.Random(f"{seed}/tasks/{step}").random()
    counts = Counter(bisect(bounds[:-1], (start + index) / count * bounds[-1]) for index in range(count))
    return tuple(counts[number] for number in range(len(weights)))


def take(
    examples: Sequence[Example], count: int, step: int, seed: int | str, first: int | None = None
) -> list[Example]:
    """The ``count`` examples of a step (0-based): every example once per epoch, in a new order each epoch.

    A function of its arguments alone, so a resumed run continues with the same examples. ``first`` as in
    ``PromptSampler.take``.
    """
    first = step * count if first is None else first
    positions = (divmod(index, len(examples)) for index in range(first, first + count))
    return [examples[_order(seed, epoch, len(examples))[position]] for epoch, position in positions]


@lru_cache(maxsize=8)
def _order(seed: int | str, epoch: int, size: int) -> list[int]:
    return random.Random(f"{seed}/order/{epoch}").sample(range(size), size)


def _difficulty(task: Task, selector: str, example: Example) -> float:
    at = f"{task.source}: curriculum.difficulty={selector}"
    try:
        value = select(example.info, selector, task)
    except UsageError as error:
        raise UsageError(f"{at}: example {example.name}: {error}") from error
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or math.isnan(number):
        raise UsageError(f"{at}: example {example.name} has {value!r}, but a number is needed, larger for harder")
    return number
