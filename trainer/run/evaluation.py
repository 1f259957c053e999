"""Evaluation on held-out examples: their rollouts, and means over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from grpo_env.confidence_intervals import Interval, estimate

from ..config import SamplingConfig, TrainConfig
from ..engine.sampling.sampler import Rollout
from ..shared_types import Prompt, ScoredRollout

Sample = Callable[[Sequence[Prompt], int, SamplingConfig, str, Callable[[int], None]], list[ScoredRollout]]
"""``sample_rollouts`` of a policy, or ``ServedModel.sample_groups``."""


def evaluate(
    sample: Sample,
    prompts: Sequence[Prompt],
    config: TrainConfig,
    *,
    samples: int,
    advance: Callable[[int], None] = lambda count: None,
) -> list[ScoredRollout]:
    """Sample and score ``samples`` completions of every prompt, or one greedy completion if ``samples`` is 0.

    At least as many rows are sampled at once as in a training step, and less than twice as many.
    ``advance`` is called with the numbers of completions as they end.
    """
    group_size, sampling = max(1, samples), config.sampling
    if not samples:
        sampling = sampling.model_copy(update={"temperature": 0.0})
    step = max(1, config.prompts_per_step * config.group_size // group_size)  # prompts
    chunk = math.ceil(len(prompts) / max(1, len(prompts) // step)) or 1
    rollouts: list[ScoredRollout] = []
    for start in range(0, len(prompts), chunk):
        rollouts += sample(prompts[start : start + chunk], group_size, sampling, f"{config.seed}/eval", advance)
    return rollouts


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
        **{name: fmean(scored) if (scored := known(column)) else math.nan for name, column in values.items()},
        "length": fmean(rollout.rollout.num_sampled for rollout in rollouts),
        "truncated": fmean(rollout.rollout.finish == "length" for rollout in rollouts),
        "unscored": fmean(not rollout.score.scored for rollout in rollouts),
        **episode_metrics([rollout.rollout for rollout in rollouts]),
    }


def episode_metrics(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Means and counts over the episodes among ``rollouts``; nothing if there are none.

    ``turns``, ``calls`` and ``told_tokens`` (read by the model, and not sampled by it) are means over episodes;
    ``call_problems`` is the fraction of calls that could not be run or failed, ``out_of_turns`` that of episodes that
    had no turn left, ``environments_failed`` the number of those that could not be scored because of their environment.
    """
    rows = [rollout for rollout in rollouts if rollout.spans is not None]
    if not rows:
        return {}
    episodes = [rollout.completion() for rollout in rows]
    results = [result for episode in episodes for turn in episode.turns for result in turn.results]
    return {
        "turns": fmean(len(episode.turns) for episode in episodes),
        "calls": len(results) / len(episodes),
        "call_problems": sum(bool(result.problem) for result in results) / max(1, len(results)),
        "out_of_turns": fmean(episode.finish == "turns" for episode in episodes),
        "environments_failed": sum(bool(e.environment and e.environment.failure) for e in episodes),
        "told_tokens": fmean(len(rollout.ids) - rollout.num_sampled for rollout in rows),
    }


def known(values: Iterable[float | None]) -> list[float]:
    """The values that are not ``None``."""
    return [value for value in values if value is not None]


def accuracy_interval(rollouts: Sequence[ScoredRollout]) -> Interval | None:
    """The interval of the mean metric of one completion per problem, see ``estimate``."""
    mean = estimate(known(rollout.correct for rollout in rollouts))
    return mean and mean.interval
