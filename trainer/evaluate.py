"""``grpo_env eval``: how good a model is on a task's held-out examples, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from grpo_env.confidence_intervals import Interval, bootstrap, pass_at_k, wilson
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import Task, load_task

if TYPE_CHECKING:
    from .rollout import ScoredRollout

# The settings of training that an evaluation shares.
SETTINGS = (
    "model",
    "seed",
    "prompts_per_step",
    "group_size",
    "sampling.max_new_tokens",
    "sampling.temperature",
    "engine.device",
    "engine.precision",
)


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
    from .config import TrainConfig, flatten
    from .engine.policy import load_policy
    from .engine.stepwise_decoding import with_cuda_graphs
    from .rollout import evaluate

    task = load_task(task) if isinstance(task, str) else task
    chosen = {**flatten(settings, "eval"), **({"model": model} if model else {})}
    config = TrainConfig.from_mapping(chosen, "eval", defaults=task.defaults)
    for name in chosen:
        if name not in SETTINGS:
            raise UsageError(f"eval: {name} has no effect on an evaluation; settings that do: {', '.join(SETTINGS)}")
    examples = task.examples("eval", limit)
    policy = with_cuda_graphs(load_policy(config.model, device=config.engine.device, precision=config.engine.precision))
    greedy = evaluate(policy, task, examples, config, samples=0)
    sampled = evaluate(policy, task, examples, config, samples=samples)
    return {
        "task": task.name,
        "model": policy.name,
        "metric": task.metric,
        "examples": len(examples),
        "samples": samples,
        "temperature": config.sampling.temperature,
        "max_new_tokens": config.sampling.max_new_tokens,
        "seed": config.seed,
        "greedy": summarise(greedy),
        "greedy_interval": accuracy_interval(greedy),
        "sampled": summarise(sampled),
        **_pass_at(sampled, samples, config.seed),
    }


def summarise(judged: Sequence[ScoredRollout]) -> dict[str, float]:
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


def accuracy_interval(judged: Sequence[ScoredRollout]) -> Interval:
    """95 % interval of the mean metric of one completion a problem: Wilson's if it is 0 or 1, else by bootstrap."""
    values = _known(one.right for one in judged)
    if set(values) <= {0.0, 1.0}:
        return wilson(sum(values), len(values))
    return bootstrap(values)


def _pass_at(judged: Sequence[ScoredRollout], samples: int, seed: int) -> dict[str, Any]:
    """pass@k for k = 1, 2, 4, ... up to ``samples``. Right is a metric of 1; unscored completions do not count."""
    groups = [
        [one.right for one in judged[at : at + samples] if one.right is not None]
        for at in range(0, len(judged), samples)
    ]
    result: dict[str, Any] = {}
    for k in sorted({2**power for power in range(samples.bit_length())} | {samples}):
        chances = [pass_at_k(len(group), sum(v >= 1 for v in group), k) for group in groups if len(group) >= k]
        if chances:
            result[f"pass@{k}"] = {"value": fmean(chances), "interval": bootstrap(chances, seed)}
    return result
