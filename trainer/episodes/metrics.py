"""Metrics of episodes of several turns: how many turns and calls they have, and what went wrong in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from grpo_env.core import Completion

from ..engine.sampling.sampler import Rollout

PROBLEMS = ("unreadable", "unknown_tool", "wrong_arguments", "raised", "late")


def episode_metrics(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Means and counts over the episodes among ``rollouts``; nothing if there are none.

    ``turns``, ``calls`` and ``told_tokens`` (read by the model, and not sampled by it) are means over episodes;
    ``call_problems`` is the fraction of calls that could not be run or failed, and ``calls/PROBLEM`` counts each kind.
    ``out_of_turns`` is the fraction of episodes that had no turn left, ``environments_failed`` the number of those that
    could not be scored because their environment failed.
    """
    rows = [(rollout, rollout.episode) for rollout in rollouts if rollout.episode is not None]
    if not rows:
        return {}
    episodes = [episode for _, episode in rows]
    return {
        "turns": fmean(len(episode.turns) for episode in episodes),
        **_call_metrics(episodes),
        "out_of_turns": fmean(episode.finish == "turns" for episode in episodes),
        "environments_failed": sum(bool(e.environment and e.environment.failure) for e in episodes),
        "told_tokens": fmean(len(rollout.ids) - rollout.num_sampled for rollout, _ in rows),
    }


def _call_metrics(episodes: Sequence[Completion]) -> dict[str, float]:
    results = [result for episode in episodes for turn in episode.turns for result in turn.results]
    problems = Counter[str](result.problem for result in results)
    failed = {f"calls/{problem}": problems[problem] for problem in PROBLEMS}
    return {
        "calls": len(results) / len(episodes),
        "call_problems": sum(failed.values()) / max(1, len(results)),
        **failed,
    }
