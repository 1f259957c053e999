"""Which prompts a step takes: of which tasks, and in a new order every epoch, easy ones first, or the unmastered."""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import accumulate, chain, cycle, islice
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from grpo_env.core import Example, Verifier
from grpo_env.errors import UsageError, nearest
from grpo_env.scoring import select
from grpo_env.taskfile.task import Task

if TYPE_CHECKING:
    from .config import TrainConfig
    from .rollout import ScoredRollout

# Examples that are always right still come now and then, or nobody would see that they are forgotten.
MASTERED = 0.05


class Prompt(NamedTuple):
    """An example to put to the model, and the verifier that judges the answers."""

    task: Task
    verifier: Verifier
    example: Example


class PromptSampler:
    """A task's training examples, and its weight beside other tasks.

    Under ``curriculum.mode: pass_rate``, ``rates`` holds the mean metric of each example's last group, by id.
    """

    def __init__(self, task: Task, weight: float, config: TrainConfig) -> None:
        """Raises ``UsageError`` where ``curriculum.difficulty`` is no number in every example."""
        self.task, self.weight = task, weight
        self.rates: dict[str, float] = {}
        self._config = config
        self.examples = task.examples("train")
        if config.curriculum.mode == "schedule" and config.curriculum.difficulty is not None:
            self.examples.sort(key=partial(_difficulty, task, config.curriculum.difficulty))

    def take(self, count: int, step: int, seed: str) -> list[Example]:
        """The ``count`` examples of a step (0-based): a function of its arguments, and of ``rates`` where they count.

        ``schedule``: among the easiest, whose share grows by a straight line to all of them (curriculum sampling);
        ``pass_rate``: with probability in proportion to 1 - rate (prioritised sampling). Both after Kimi k1.5 (Kimi
        Team 2025, section 2.3.3).
        """
        config, size = self._config, len(self.examples)
        if config.curriculum.mode == "pass_rate":
            draws = random.Random(f"{seed}/order/{step}")
            # Weighted sampling without replacement (Efraimidis and Spirakis 2006).
            weights = (max(MASTERED, 1 - self.rates.get(example.id, 0.0)) for example in self.examples)
            keys = [math.log(1 - draws.random()) / weight for weight in weights]
            ranked = sorted(range(size), key=keys.__getitem__, reverse=True)
            return [self.examples[place] for place in islice(cycle(ranked), count)]
        if config.curriculum.mode == "schedule":
            start = config.curriculum.start_fraction
            share = min(1.0, start + (1 - start) * step / max(1, config.curriculum.steps))
            return take(self.examples[: max(1, math.ceil(share * size))], count, step, seed)
        return take(self.examples, count, step, seed)

    def learn(self, judged: Sequence[ScoredRollout]) -> None:
        """Remember the pass rates of what was tried, if they count."""
        if self._config.curriculum.mode != "pass_rate":
            return
        right: dict[str, list[float]] = {}
        for one in judged:
            if one.task == self.task.name and one.right is not None:
                right.setdefault(one.example.id, []).append(one.right)
        self.rates.update({id: fmean(values) for id, values in right.items()})


def check_task(task: Task, config: TrainConfig) -> None:
    """Raises ``UsageError`` where a task's reward has not what the config asks for."""
    parts = {part.name: part for part in getattr(task.verifier, "parts", ())}
    part = config.dynamic_sampling.part
    if part is not None and part not in parts:
        raise UsageError(
            f"dynamic_sampling.part={part}: no such part of the reward of {task.name}; {nearest(part, parts)}"
        )
    if config.supervision != "outcome" and not any(spec.process for spec in parts.values()):
        raise UsageError(
            f"supervision={config.supervision} needs step scores, and no verifier of the task {task.name} has a "
            "'process' weight; use supervision=outcome"
        )


def ask(task: Task, examples: Sequence[Example], step: int = 0) -> list[Prompt]:
    """Examples of a task as prompts; its verifier's schedules are at ``step``."""
    verifier = task.verifier.at(step)
    return [Prompt(task, verifier, example) for example in examples]


def draw(pools: Sequence[PromptSampler], count: int, step: int, seed: str) -> list[Prompt]:
    """The prompts of a step, each pool's in proportion to its weight.

    One random number decides for all of them, so that every share is met within one prompt at every step, and on the
    average exactly (systematic sampling: Madow and Madow 1944).
    """
    if len(pools) == 1:
        return ask(pools[0].task, pools[0].take(count, step, seed), step)
    start = random.Random(f"{seed}/tasks/{step}").random()
    bounds = list(accumulate(pool.weight for pool in pools))
    own = Counter(bisect(bounds[:-1], (start + place) / count * bounds[-1]) for place in range(count))
    asked = [ask(pool.task, pool.take(count, step, seed)[: own[number]], step) for number, pool in enumerate(pools)]
    prompts = list(chain.from_iterable(asked))
    return random.Random(f"{seed}/mixed/{step}").sample(prompts, count)  # so that processes and rounds get of each


def take(examples: Sequence[Example], count: int, step: int, seed: int | str) -> list[Example]:
    """The ``count`` examples of a step (0-based): every example once an epoch, in an order drawn anew for each.

    A function of its arguments alone, so a resumed run goes on where it stopped.
    """
    places = (divmod(index, len(examples)) for index in range(step * count, (step + 1) * count))
    return [examples[_order(seed, epoch, len(examples))[place]] for epoch, place in places]


@lru_cache(maxsize=8)
def _order(seed: int | str, epoch: int, size: int) -> list[int]:
    return random.Random(f"{seed}/order/{epoch}").sample(range(size), size)


def _difficulty(task: Task, selector: str, example: Example) -> float:
    at = f"{task.source}: curriculum.difficulty={selector}"
    try:
        value = select(example.info, selector, task)
    except UsageError as error:
        raise UsageError(f"{at}: example {example.id}: {error}") from error
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or math.isnan(number):
        raise UsageError(f"{at}: example {example.id} has {value!r} there; a number is needed, the larger the harder")
    return number
