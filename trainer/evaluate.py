"""Held-out examples, judged, and the means of what was judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

from grpo_env.core import Example
from grpo_env.curriculum import ask
from grpo_env.intervals import Interval, bootstrap, wilson
from grpo_env.task import Task

from .config import TrainConfig
from .policy import Policy
from .rollout import Judged, roll_out


def evaluate(
    policy: Policy, task: Task, examples: Sequence[Example], config: TrainConfig, *, samples: int, step: int = 0
) -> list[Judged]:
    """Judge ``samples`` completions of every example, or one greedy completion where ``samples`` is 0.

    As many rows go through the model at once as in a training step, so memory that suffices for one suffices here.
    """
    group = max(1, samples)
    at_once = max(1, config.prompts_per_step * config.group_size // group)
    judged: list[Judged] = []
    # By prompt length, so that a chunk holds little padding; the order of the result is that of the examples.
    order = sorted(range(len(examples)), key=lambda index: len(policy.prompt_text(examples[index], task.format)))
    for at in range(0, len(order), at_once):
        judged += roll_out(
            policy,
            ask(task, [examples[index] for index in order[at : at + at_once]], step),
            group,
            max_new_tokens=config.max_new_tokens,
            temperature=config.temperature if samples else 0.0,
            seed=f"{config.seed}/eval",
        )
    groups = {index: judged[place * group : (place + 1) * group] for place, index in enumerate(order)}
    return [one for index in range(len(examples)) for one in groups[index]]


def summarise(judged: Sequence[Judged]) -> dict[str, float]:
    """Means over completions: ``accuracy`` (the task's metric), ``reward``, every part, ``length``, ``truncated``.

    Unscored completions are left out of each mean; ``unscored`` is the share without a reward. Of several tasks,
    ``TASK/accuracy`` and ``TASK/reward`` are those of each.
    """
    values: dict[str, list[float | None]] = {"accuracy": [], "reward": []}
    several = len({one.task for one in judged}) > 1
    for one in judged:
        found = {"accuracy": one.right, "reward": one.score.value}
        found |= {f"parts/{part.name}": part.value for part in one.score.parts}
        found |= {f"{one.task}/{name}": found[name] for name in ("accuracy", "reward") if several}
        for name, value in found.items():
            values.setdefault(name, []).append(value)
    return {
        **{name: fmean(scored) if (scored := _known(found)) else math.nan for name, found in values.items()},
        "length": fmean(len(one.rollout.ids) for one in judged),
        "truncated": fmean(one.rollout.finish == "length" for one in judged),
        "unscored": fmean(not one.score.scored for one in judged),
    }


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def accuracy_interval(judged: Sequence[Judged]) -> Interval:
    """95 % interval of the mean metric of one completion a problem: Wilson's if it is 0 or 1, else by bootstrap."""
    values = _known(one.right for one in judged)
    if set(values) <= {0.0, 1.0}:
        return wilson(sum(values), len(values))
    return bootstrap(values)
