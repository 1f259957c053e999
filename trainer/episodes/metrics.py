"""Metrics of episodes of several turns: how many turns and calls they have, and what went wrong in them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ..engine.sampling.sampler import Rollout


def episode_metrics(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Means and counts over the episodes among ``rollouts``; nothing if there are none.

    ``turns``, ``calls`` and ``told_tokens`` (read by the model, and not sampled by it) are means over episodes;
    ``call_problems`` is the fraction of calls that could not be run or failed, ``out_of_turns`` that of episodes that
    had no turn left, ``environments_failed`` the number of those that could not be scored because of their environment.
    """
    rows = [(rollout, rollout.episode) for rollout in rollouts if rollout.episode is not None]
    if not rows:
        return {}
    episodes = [episode for _, episode in rows]
    results = [result for episode in episodes for turn in episode.turns for result in turn.results]
    return {
        "turns": fmean(len(episode.turns) for episode in episodes),
        "calls": len(results) / len(episodes),
        "call_problems": sum(bool(result.problem) for result in results) / max(1, len(results)),
        "out_of_turns": fmean(episode.finish == "turns" for episode in episodes),
        "environments_failed": sum(bool(e.environment and e.environment.failure) for e in episodes),
        "told_tokens": fmean(len(rollout.ids) - rollout.num_sampled for rollout, _ in rows),
    }
