"""Groups: the completions of one prompt. Which of them teach nothing, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from .measures import equal

Kind = Literal["mixed", "all wrong", "all right", "starved", "single"]

MEANINGS: dict[Kind, str] = {
    "mixed": "the rewards differ: GRPO learns from the difference",
    "all wrong": "equal rewards, and every completion is equally wrong by the metric: too hard as things are",
    "all right": "equal rewards, and every completion is right by the metric: there is nothing left to learn",
    "starved": "equal rewards although the metric or a paid part differs, or fewer than two completions have a reward: "
    "the reward hides a difference that is there",
    "single": "the prompt has one completion, so there is nothing to compare it with",
}


class Member(NamedTuple):
    """What a group's kind and votes depend on: one completion's reward, metric, answer, parts with a weight, steps."""

    total: float | None
    metric: float | None
    answer: str | None = None
    paid: Mapping[str, float | None] = {}
    steps: tuple[float, ...] = ()


def kind(members: Sequence[Member]) -> Kind:
    """Which of ``MEANINGS`` a group is."""
    if len(members) == 1:
        return "single"
    scored = [member for member in members if member.total is not None]
    if len(scored) < 2:
        return "starved"
    if not equal([member.total or 0.0 for member in scored]):
        return "mixed"
    metrics = [member.metric for member in scored if member.metric is not None]
    paid = [[value for m in scored if (value := m.paid.get(name)) is not None] for name in scored[0].paid]
    if not metrics or not equal(metrics) or not all(equal(values) for values in paid):
        return "starved"
    return "all right" if metrics[0] >= 1 else "all wrong"


def steps_differ(members: Sequence[Member]) -> bool:
    """Whether process supervision has something to tell apart in the group: not all step values are equal."""
    return not equal([value for member in members if member.total is not None for value in member.steps])


def misranked(members: Sequence[Member]) -> bool:
    """Whether some wrong completion of the group earns more than some right one."""
    known = [m for m in members if m.total is not None and m.metric is not None]
    right = [m.total or 0.0 for m in known if (m.metric or 0.0) >= 1]
    wrong = [m.total or 0.0 for m in known if (m.metric or 0.0) < 1]
    return bool(right) and bool(wrong) and max(wrong) > min(right) and not equal([max(wrong), min(right)])
