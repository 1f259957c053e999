"""Values of reasoning steps by rollouts: how good the completions are that are sampled from the end of a step on.

VinePPO (Kazemnejad et al. 2025, arXiv:2410.01679, section 4) takes the difference of two values as the advantage of the
step between them; Math-Shepherd (Wang et al. 2024, arXiv:2312.08935, section 3.3) takes values as labels of steps.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from grpo_env.equality import all_equal
from grpo_env.taskfile.task import Task

from ..config import SamplingConfig, TrainConfig
from ..engine.policy import Policy
from ..engine.sampling.sampler import Rollout
from ..rollout import sample_from
from ..scored_groups import ValuedStep
from ..shared_types import Prompt, ScoredRollout, Start
from ..step_tokens import completion_ends


@dataclass
class Prefix:
    """The prompt and the first tokens of ``rows`` of one group, and the rewards of their continuations."""

    rows: list[int]
    length: int
    rewards: list[float] = field(default_factory=list)


Prefixes = Mapping[tuple[int, ...], Prefix]


def step_values(
    policy: Policy, tasks: Sequence[Task], rollouts: Sequence[ScoredRollout], config: TrainConfig, step: int
) -> tuple[list[list[ValuedStep]] | None, dict[str, float]]:
    """Estimate the value of every prefix of these completions that ends with a step, unless that is off.

    Returns the steps of each completion, none for one without a score, and metrics that say what their values cost:
    ``values``, the prefixes that were continued, ``value_tokens`` sampled for them, and ``value_seconds`` with scoring.

    Groups of equal rewards are left out: that is cheaper, and slightly biased.

    The completions are those of all processes, which divide the prefixes among them and all return the same.
    ``config.seed``, ``step`` and the completions determine the result.
    """
    count = config.step_values.rollouts
    if not count:
        return None, {}
    began, by_name = time.perf_counter(), {task.name: task for task in tasks}
    rewards = [row.score.value for row in rollouts]
    size = config.group_size
    groups = [range(start, start + size) for start in range(0, len(rollouts), size)]
    prefixes: list[Prefixes] = []
    for group in groups:
        known = {row: reward for row in group if (reward := rewards[row]) is not None}
        uniform = all_equal(list(known.values()))
        prefixes.append({} if uniform else _shared_prefixes(policy, by_name, rollouts, list(known)))
    waiting = [prefix for of_group in prefixes for prefix in of_group.values() if len(prefix.rows) <= count]
    verifiers, starts = {name: task.verifier.at(step) for name, task in by_name.items()}, []
    for number, prefix in enumerate(waiting):
        row = rollouts[prefix.rows[0]]
        prompt = Prompt(by_name[row.task], verifiers[row.task], row.example)
        starts.append(Start(prompt, row.rollout, prefix.length, f"{config.seed}/{step}/values/{number}"))
    continued, tokens = continuations(policy, starts, count, config.sampling)
    for prefix, scored in zip(waiting, continued, strict=True):
        prefix.rewards = [row.score.value for row in scored if row.score.value is not None]
    rows = [
        valued_steps(row, len(rollouts[row].rollout.ids), of_group, group, rewards)
        for of_group, group in zip(prefixes, groups, strict=True)
        for row in group
    ]
    seconds = time.perf_counter() - began
    return rows, {"values": len(waiting), "value_tokens": tokens, "value_seconds": seconds}


def step_boundaries(policy: Policy, task: Task, rollout: Rollout) -> list[int]:
    """Indices of the tokens that end the lines of a completion, without those after which no token is left."""
    ends = completion_ends(policy.decode, rollout)[:-1]
    found = task.step_ends(rollout.completion(task.format.prefill), ends, "line")
    return sorted({step.token for step in found if step.token is not None})


def _shared_prefixes(
    policy: Policy,
    by_name: Mapping[str, Task],
    rollouts: Sequence[ScoredRollout],
    rows: Sequence[int],
) -> dict[tuple[int, ...], Prefix]:
    """The distinct prefixes of a group's scored rows that end with a step, by their tokens."""
    prefixes: dict[tuple[int, ...], Prefix] = {}
    for row in rows:
        rollout = rollouts[row].rollout
        for token in step_boundaries(policy, by_name[rollouts[row].task], rollout):
            prefix = prefixes.setdefault(tuple(rollout.ids[: token + 1]), Prefix([], token + 1))
            prefix.rows.append(row)
    return prefixes


def continuations(
    policy: Policy, starts: Sequence[Start], count: int, sampling: SamplingConfig
) -> tuple[list[list[ScoredRollout]], int]:
    """``count`` continuations of each of ``starts``, scored as whole completions, and the number of their new tokens.

    Processes divide the starts among them.
    """
    scored = sample_from(policy, starts, count, sampling)
    tokens = sum(len(row.rollout.ids) for row in scored) - count * sum(start.length for start in starts)
    return [scored[place : place + count] for place in range(0, len(scored), count)], tokens


def valued_steps(
    row: int, tokens: int, prefixes: Prefixes, group: Sequence[int], rewards: Sequence[float | None]
) -> list[ValuedStep]:
    """The steps of a completion of ``tokens`` tokens; the last one ends with it, and its value is the own reward.

    The prompt is a prefix that all completions of the group continue.
    """
    own = rewards[row]
    if own is None:
        return []
    ends = [(prefix.length - 1, prefix) for prefix in prefixes.values() if row in prefix.rows]
    before, _ = values_at([rewards[other] for other in group if other != row], [], own)
    steps: list[ValuedStep] = []
    for token, prefix in sorted(ends, key=lambda end: end[0]):
        others = [rewards[other] for other in prefix.rows if other != row]
        here, after = values_at(others, prefix.rewards, own)
        steps.append(ValuedStep(token, before, after))
        before = here
    return [*steps, ValuedStep(tokens - 1, before, own)]


def values_at(others: Sequence[float | None], continuations: Sequence[float], own: float) -> tuple[float, float]:
    """The estimated value of a prefix of a completion: as what its next step starts from, and as what its last reached.

    Both are means of the rewards of ``continuations`` and of the ``others`` that share the prefix. The completion's
    ``own`` reward is in the second mean only: it follows from the next step, so that a baseline with it would be
    biased, while every step before the prefix sees it as one sample more. Without any sample, both are ``own``.
    """
    samples = [*continuations, *(reward for reward in others if reward is not None)]
    return fmean(samples or [own]), fmean([*samples, own])
