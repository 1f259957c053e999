"""From examples to scored completions: the half of a training step that needs no gradient."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeVar

from accelerate import Accelerator
from accelerate.utils import gather_object

from grpo_env.core import BatchVerifier, Example, Group, Score, Verifier, judge_groups
from grpo_env.task import Task

from .config import TrainConfig
from .policy import Policy
from .sampler import Rollout, sample

T = TypeVar("T")


class Judged(NamedTuple):
    """One completion of one example, with its score."""

    example: Example
    rollout: Rollout
    score: Score


def take(examples: Sequence[Example], count: int, step: int, seed: int | str) -> list[Example]:
    """The ``count`` examples of a step (0-based): every example once an epoch, in an order drawn anew for each.

    A function of its arguments alone, so a resumed run goes on where it stopped.
    """
    places = (divmod(index, len(examples)) for index in range(step * count, (step + 1) * count))
    return [examples[_order(seed, epoch, len(examples))[place]] for epoch, place in places]


@lru_cache(maxsize=8)
def _order(seed: int | str, epoch: int, size: int) -> list[int]:
    return random.Random(f"{seed}/order/{epoch}").sample(range(size), size)


def fill_batch(
    policy: Policy, task: Task, verifier: Verifier, examples: Sequence[Example], config: TrainConfig, step: int
) -> tuple[list[Judged], list[Judged]]:
    """The step's ``prompts_per_step`` groups, and all that were sampled to find them.

    Without ``resample`` both are the same. With it, groups in which that part has one value only, and so teaches
    nothing, give way to groups of further prompts, for ``resample_rounds`` rounds (dynamic sampling: Yu et al. 2025,
    DAPO, equation 11); the first such groups stay in if others are still too few.
    """
    size, world = config.group_size, policy.accelerator.num_processes
    telling: list[list[Judged]] = []
    telling_nothing: list[list[Judged]] = []
    for attempt in range(1 + config.resample_rounds * bool(config.resample)):
        missing = config.prompts_per_step - len(telling)
        if missing <= 0:
            break
        again = f"/{attempt}" if attempt else ""  # an order and random numbers of its own, whatever came before
        wanted = take(examples, config.prompts_per_step, step, f"{config.seed}{again}")[: -(-missing // world) * world]
        rows = roll_out(
            policy,
            task,
            verifier,
            wanted,
            size,
            max_new_tokens=config.max_new_tokens,
            temperature=config.temperature,
            seed=f"{config.seed}/{step}{again}",
        )
        for group in (rows[at : at + size] for at in range(0, len(rows), size)):
            (telling if _tells(group, config.resample) else telling_nothing).append(group)
    tried = telling + telling_nothing
    return list(chain.from_iterable(tried[: config.prompts_per_step])), list(chain.from_iterable(tried))


def _tells(group: Sequence[Judged], part: str | None) -> bool:
    """Whether scored completions of a group differ in a part's value. Without a part, every group counts."""
    return part is None or len({one.score.part(part).value for one in group if one.score.scored}) > 1


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

    A group is scored, in a thread of its own, when its completions have ended and others are still being sampled.
    Processes share the examples, whole groups each, and all get the whole result. ``seed`` and an example's id fix
    its samples, whatever else is sampled beside it and wherever.
    """
    own = examples[own_share(policy.accelerator, len(examples))]
    groups: dict[int, Group] = {}
    scores: dict[int, Future[list[list[Score]]]] = {}
    # Models and servers want many at once, and what a model says depends in its last bits on what is beside it.
    together = any(isinstance(part, BatchVerifier) for part in verifier.within())
    scorer = ThreadPoolExecutor(1)

    def ended(number: int, found: list[Rollout]) -> None:
        groups[number] = Group(own[number], [rollout.completion(task.format.prefill) for rollout in found])
        if not together:
            scores[number] = scorer.submit(judge_groups, verifier, [groups[number]])

    try:
        rollouts = sample(
            policy,
            [policy.prompt_ids(example, task.format) for example in own],
            group_size,
            max_new_tokens=max_new_tokens,
            temperature=temperature,
            seeds=[f"{seed}/{example.id}" for example in own],
            ended=ended,
        )
        if together:
            judgements = judge_groups(verifier, [groups[number] for number in range(len(own))])
        else:
            judgements = [scores[number].result()[0] for number in range(len(own))]
    finally:
        scorer.shutdown(cancel_futures=True)
    judged = [
        Judged(example, rollout, score)
        for example, rollout, score in zip(
            (each for each in own for _ in range(group_size)), rollouts, chain.from_iterable(judgements), strict=True
        )
    ]
    gathered: list[Judged] = gather_object(judged)
    return gathered


def own_share(accelerator: Accelerator, count: int) -> slice:
    """This process's share of ``count`` items, in order of the processes."""
    here, world = accelerator.process_index, accelerator.num_processes
    return slice(here * count // world, (here + 1) * count // world)
