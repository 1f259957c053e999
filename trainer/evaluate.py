"""How good is a model on held-out examples: greedy and sampled accuracy, pass@k, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from grpo_env.core import Example
from grpo_env.errors import UsageError, nearest
from grpo_env.intervals import Interval, bootstrap, pass_at_k, wilson
from grpo_env.task import Task, load_task

from .config import TrainConfig
from .policy import Policy, load_policy
from .rollout import Judged, roll_out

# The settings of training that an evaluation shares.
SETTINGS = ("model", "seed", "max_new_tokens", "temperature", "device", "precision", "prompts_per_step", "group_size")


def evaluate(
    policy: Policy, task: Task, examples: Sequence[Example], config: TrainConfig, *, samples: int, step: int = 0
) -> list[Judged]:
    """Judge ``samples`` completions of every example, or one greedy completion where ``samples`` is 0.

    As many rows go through the model at once as in a training step, so memory that suffices for one suffices here.
    """
    verifier, group = task.verifier.at(step), max(1, samples)
    at_once = max(1, config.prompts_per_step * config.group_size // group)
    judged: list[Judged] = []
    # By prompt length, so that a chunk holds little padding; the order of the result is that of the examples.
    order = sorted(range(len(examples)), key=lambda index: len(policy.prompt_text(examples[index], task.format)))
    for at in range(0, len(order), at_once):
        judged += roll_out(
            policy,
            task,
            verifier,
            [examples[index] for index in order[at : at + at_once]],
            group,
            max_new_tokens=config.max_new_tokens,
            temperature=config.temperature if samples else 0.0,
            seed=f"{config.seed}/eval",
        )
    groups = {index: judged[place * group : (place + 1) * group] for place, index in enumerate(order)}
    return [one for index in range(len(examples)) for one in groups[index]]


def summarise(judged: Sequence[Judged], metric: str) -> dict[str, float]:
    """Means over completions: ``accuracy`` (the task's metric), ``reward``, every part, ``length``, ``truncated``.

    Unscored completions are left out of each mean; ``unscored`` is the share without a reward.
    """
    values: dict[str, list[float]] = {"reward": []}
    for one in judged:
        for part in one.score.parts:
            values.setdefault(f"parts/{part.name}", []).extend([part.value] if part.value is not None else [])
        values["reward"].extend([one.score.value] if one.score.value is not None else [])
    right = metric_values(judged, metric)
    return {
        "accuracy": fmean(right) if right else math.nan,
        **{name: fmean(found) if found else math.nan for name, found in values.items()},
        "length": fmean(len(one.rollout.ids) for one in judged),
        "truncated": fmean(one.rollout.finish == "length" for one in judged),
        "unscored": fmean(not one.score.scored for one in judged),
    }


def metric_values(judged: Sequence[Judged], metric: str) -> list[float]:
    """The task's metric of every completion that has it: not of unscored ones."""
    found = (next((part.value for part in one.score.walk() if part.name == metric), None) for one in judged)
    return [value for value in found if value is not None]


def run_eval(
    task: Task | str,
    model: str | None = None,
    *,
    samples: int = 8,
    limit: int | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Evaluate a model on a task's held-out examples.

    Args:
        task: a task, or its name or file.
        model: ``bundled``, a folder or a hub id; default: the task's own.
        samples: sampled completions per problem, for pass@k with k = 1, 2, 4, … up to it.
        limit: evaluate on the first so many problems.
        settings: any of ``SETTINGS``, as in training; the task's ``train`` section gives their defaults.

    Returns:
        ``greedy`` and ``sampled`` means (see ``summarise``) and ``pass@k``, each of the latter and the greedy
        accuracy with its 95 % interval. Raises ``UsageError``.
    """
    task = load_task(task) if isinstance(task, str) else task
    for name in settings:
        if name not in SETTINGS:
            raise UsageError(f"eval: unknown setting {name!r}; {nearest(name, SETTINGS)}")
    chosen = {**task.defaults, **settings, **({"model": model} if model else {})}
    config = TrainConfig.from_mapping(chosen, "eval")
    examples = task.examples("eval", limit)
    policy = load_policy(config.model, device=config.device, precision=config.precision)
    greedy = evaluate(policy, task, examples, config, samples=0)
    sampled = evaluate(policy, task, examples, config, samples=samples)
    return {
        "task": task.name,
        "model": policy.name,
        "metric": task.metric,
        "examples": len(examples),
        "samples": samples,
        "temperature": config.temperature,
        "max_new_tokens": config.max_new_tokens,
        "seed": config.seed,
        "greedy": summarise(greedy, task.metric),
        "greedy_interval": accuracy_interval(greedy, task.metric),
        "sampled": summarise(sampled, task.metric),
        **_pass_at(sampled, task.metric, samples, config.seed),
    }


def accuracy_interval(judged: Sequence[Judged], metric: str) -> Interval:
    """95 % interval of the mean metric of one completion a problem: Wilson's if it is 0 or 1, else by bootstrap."""
    values = metric_values(judged, metric)
    if set(values) <= {0.0, 1.0}:
        return wilson(sum(values), len(values))
    return bootstrap(values)


def _pass_at(judged: Sequence[Judged], metric: str, samples: int, seed: int) -> dict[str, Any]:
    """pass@k for k = 1, 2, 4, ... up to ``samples``. Right is a metric of 1; unscored completions do not count."""
    groups = [metric_values(judged[at : at + samples], metric) for at in range(0, len(judged), samples)]
    result: dict[str, Any] = {}
    for k in sorted({2**power for power in range(samples.bit_length())} | {samples}):
        chances = [pass_at_k(len(group), sum(v >= 1 for v in group), k) for group in groups if len(group) >= k]
        if chances:
            result[f"pass@{k}"] = {"value": fmean(chances), "interval": bootstrap(chances, seed)}
    return result
