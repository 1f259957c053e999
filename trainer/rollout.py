"""From examples to scored completions: the half of a training step that needs no gradient."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeVar

from accelerate import Accelerator
from accelerate.utils import gather_object

from grpo_env.core import Example, Group, Score, Verifier, judge_groups
from grpo_env.task import Task

from .policy import Policy
from .sampler import Rollout, sample

T = TypeVar("T")


class Judged(NamedTuple):
    """One completion of one example, with its score."""

    example: Example
    rollout: Rollout
    score: Score


def take(examples: Sequence[Example], count: int, step: int, seed: int) -> list[Example]:
    """The ``count`` examples of a step (0-based): every example once an epoch, in an order drawn anew for each.

    A function of its arguments alone, so a resumed run goes on where it stopped.
    """
    places = (divmod(index, len(examples)) for index in range(step * count, (step + 1) * count))
    return [examples[_order(seed, epoch, len(examples))[place]] for epoch, place in places]


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, size: int) -> list[int]:
    return random.Random(f"{seed}/order/{epoch}").sample(range(size), size)


def roll_out(
    policy: Policy,
    task: Task,
    verifier: Verifier,
    examples: Sequence[Example],
    group_size: int,
    *,
    max_new_tokens: int,
    temperature: float,
    seed: str,
) -> list[Judged]:
    """Sample and score ``group_size`` completions of every example; a group's rows are adjacent.

    Processes share the examples, whole groups each, and all get the whole result. ``seed`` and an example's id fix
    its samples, whatever else is sampled beside it and wherever.
    """
    own = examples[own_share(policy.accelerator, len(examples))]
    rollouts = sample(
        policy,
        [policy.prompt_ids(example, task.format) for example in own],
        group_size,
        max_new_tokens=max_new_tokens,
        temperature=temperature,
        seeds=[f"{seed}/{example.id}" for example in own],
    )
    completions = [rollout.completion(task.format.prefill) for rollout in rollouts]
    groups = [
        Group(example, completions[number * group_size : (number + 1) * group_size])
        for number, example in enumerate(own)
    ]
    scores = chain.from_iterable(judge_groups(verifier, groups))
    judged = [
        Judged(example, rollout, score)
        for example, rollout, score in zip(
            (each for each in own for _ in range(group_size)), rollouts, scores, strict=True
        )
    ]
    gathered: list[Judged] = gather_object(judged)
    return gathered


def own_share(accelerator: Accelerator, count: int) -> slice:
    """This process's share of ``count`` items, in order of the processes."""
    here, world = accelerator.process_index, accelerator.num_processes
    return slice(here * count // world, (here + 1) * count // world)
