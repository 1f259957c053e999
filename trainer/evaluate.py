"""Evaluation on held-out examples: rollouts, their means, pass@k, and ``grpo_env eval``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console

from grpo_env import scoring_process
from grpo_env.confidence_intervals import Interval, bootstrap, pass_at_k, wilson
from grpo_env.core import Example
from grpo_env.environments import pool
from grpo_env.files.writer import check_new
from grpo_env.taskfile.task import Task, load_task

from .config import TrainConfig
from .conversation import check_conversation
from .engine.policy import Policy, load_policy
from .engine.sampling.own import with_cuda_graphs
from .episode_metrics import episode_metrics
from .progress import progress
from .prompt_lengths import fitting_examples
from .prompts import make_prompts, task_examples
from .rollout import ScoredRollout, sample_rollouts, score_rollouts
from .sampling_policy import print_policy, sampling_config
from .score_rows import write_scores

# The settings of training that apply to an evaluation.
SETTINGS = (
    "model",
    "seed",
    "prompts_per_step",
    "group_size",
    "sampling.max_new_tokens",
    "sampling.max_prompt_tokens",
    "sampling.overlong_prompts",
    "sampling.temperature",
    "sampling.environments",
    "engine.device",
    "engine.precision",
)


def run_eval(
    task: Task | str,
    model: str | None = None,
    *,
    samples: int = 8,
    limit: int | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    console: Console | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Evaluate a model on a task's held-out examples.

    Args:
        task: a task, or its name or file.
        model: ``bundled``, a folder or a hub id; default: the task's own.
        samples: sampled completions per problem, for pass@k with k = 1, 2, 4, ... up to it.
        limit: evaluate on the first so many problems.
        out: a new ``.jsonl`` file for the sampled completions with their scores, as ``grpo_env score`` writes them.
        overwrite: replace ``out`` if it exists.
        console: gets messages and the progress.
        settings: any of ``SETTINGS``, as for ``train``; their defaults come from the task's ``train`` section.

    Returns:
        ``greedy`` and ``sampled`` means (see ``summarize``) and ``pass@k``. pass@k and the greedy accuracy have 95 %
        confidence intervals.

    Raises:
        UsageError: wrong settings, an unusable model or task, a file that exists.
    """
    task = load_task(task) if isinstance(task, str) else task
    console = console or Console(stderr=True, quiet=True)
    config = sampling_config(task, "eval", SETTINGS, model, settings)
    if out is not None:
        check_new(out, overwrite=overwrite)
    examples = task_examples(task, "eval", limit, lambda line: console.print(line, markup=False, style="yellow"))
    scoring_process.start()
    policy = with_cuda_graphs(load_policy(config.model, device=config.engine.device, precision=config.engine.precision))
    print_policy(policy, console)
    check_conversation(policy, task)
    examples, overlong = fitting_examples(policy, task, "eval", examples, config.sampling)
    rows = len(examples) * (1 + samples) // policy.accelerator.num_processes
    with progress("eval", rows, console) as advance, pool.ended_after():
        greedy = evaluate(policy, task, examples, config, samples=0, advance=advance)
        sampled = evaluate(policy, task, examples, config, samples=samples, advance=advance)
    if out is not None and policy.accelerator.is_main_process:
        write_scores(out, task, sampled, samples, overwrite=overwrite)
    return {
        "task": task.name,
        "model": policy.name,
        "metric": task.metric,
        "examples": len(examples),
        "samples": samples,
        "temperature": config.sampling.temperature,
        "max_new_tokens": config.sampling.max_new_tokens,
        "seed": config.seed,
        "greedy": summarize(greedy),
        "greedy_interval": accuracy_interval(greedy),
        "sampled": summarize(sampled),
        **_pass_at(sampled, samples, config.seed),
        **({"overlong_prompts": overlong} if overlong else {}),
    }


def evaluate(
    policy: Policy,
    task: Task,
    examples: Sequence[Example],
    config: TrainConfig,
    *,
    samples: int,
    step: int = 0,
    advance: Callable[[int], None] = lambda count: None,
) -> list[ScoredRollout]:
    """Sample and score ``samples`` completions of every example, or one greedy completion if ``samples`` is 0.

    As many rows are sampled at once as in a training step, so an evaluation needs no more memory than training.
    ``advance`` is called with the numbers of completions as they end.
    """
    group_size = max(1, samples)
    chunk = max(1, config.prompts_per_step * config.group_size // group_size)
    rollouts: list[ScoredRollout] = []
    # Sorted by prompt length, so that a chunk contains little padding; the result has the order of the examples.
    order = sorted(range(len(examples)), key=lambda index: len(policy.prompt_text(examples[index], task.format)))
    for start in range(0, len(order), chunk):
        sampled = sample_rollouts(
            policy,
            make_prompts(task, [examples[index] for index in order[start : start + chunk]], step),
            group_size,
            max_new_tokens=config.sampling.max_new_tokens,
            environments=config.sampling.environments,
            temperature=config.sampling.temperature if samples else 0.0,
            seed=f"{config.seed}/eval",
            advance=advance,
        )
        rollouts += score_rollouts(policy, sampled)
    groups = {index: rollouts[place * group_size : (place + 1) * group_size] for place, index in enumerate(order)}
    return [rollout for index in range(len(examples)) for rollout in groups[index]]


def summarize(rollouts: Sequence[ScoredRollout]) -> dict[str, float]:
    """Means over completions: ``accuracy`` (the task's metric), ``reward``, every part, ``length``, ``truncated``.

    ``length`` counts sampled tokens, in an episode those of all turns. Unscored completions are left out of each mean;
    ``unscored`` is the fraction without a reward. For several tasks, ``TASK/accuracy`` and ``TASK/reward`` are the
    means of each task. Episodes have ``episode_metrics`` as well.
    """
    values: dict[str, list[float | None]] = {"accuracy": [], "reward": []}
    several_tasks = len({rollout.task for rollout in rollouts}) > 1
    for rollout in rollouts:
        row = {"accuracy": rollout.correct, "reward": rollout.score.value}
        row |= {f"parts/{part.name}": part.value for part in rollout.score.parts}
        if several_tasks:
            row |= {f"{rollout.task}/{name}": row[name] for name in ("accuracy", "reward")}
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return {
        **{name: fmean(scored) if (scored := _known(column)) else math.nan for name, column in values.items()},
        "length": fmean(rollout.rollout.num_sampled for rollout in rollouts),
        "truncated": fmean(rollout.rollout.finish == "length" for rollout in rollouts),
        "unscored": fmean(not rollout.score.scored for rollout in rollouts),
        **episode_metrics([rollout.rollout for rollout in rollouts]),
    }


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def accuracy_interval(rollouts: Sequence[ScoredRollout]) -> Interval:
    """95 % interval of the mean metric of one completion per problem: Wilson's for values 0 and 1, else bootstrap."""
    values = _known(rollout.correct for rollout in rollouts)
    if set(values) <= {0.0, 1.0}:
        return wilson(sum(values), len(values))
    return bootstrap(values)


def _pass_at(rollouts: Sequence[ScoredRollout], samples: int, seed: int) -> dict[str, Any]:
    """pass@k for k = 1, 2, 4, ... and ``samples``. Correct means a metric of 1; unscored completions are left out."""
    groups = [
        _known(row.correct for row in rollouts[start : start + samples]) for start in range(0, len(rollouts), samples)
    ]
    result: dict[str, Any] = {}
    for k in sorted({2**power for power in range(samples.bit_length())} | {samples}):
        probabilities = [pass_at_k(len(group), sum(v >= 1 for v in group), k) for group in groups if len(group) >= k]
        if probabilities:
            result[f"pass@{k}"] = {"value": fmean(probabilities), "interval": bootstrap(probabilities, seed)}
    return result
