"""Finds the turns of an episode to which step scores belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grpo_env.core import StepScore, Turn


def turns_of_steps(turns: Sequence[Turn], steps: Sequence[StepScore]) -> list[int]:
    """For each step, the number of the turn in which it ends, or of the last one if it ends in none.

    Empty turns in a row have one span in common. Their steps are told apart by their order, one for each of the turns
    from each part of the reward; what is left over is about the end of the episode, and belongs to the last of them.
    """
    counts = Counter((step.start, step.end) for step in steps)
    before = Counter[tuple[int, int]]()
    numbers = []
    for step in steps:
        span = step.start, step.end
        exact = [number for number, turn in enumerate(turns) if (turn.start, turn.end) == span]
        if exact:
            rounds = counts[span] // len(exact)
            numbers.append(exact[before[span] % len(exact)] if before[span] < rounds * len(exact) else exact[-1])
        else:
            around = [number for number, turn in enumerate(turns) if turn.start <= step.end <= turn.end]
            around = around or [len(turns) - 1]
            numbers.append(around[0] if step.start >= turns[around[0]].start else around[-1])
        before[span] += 1
    return numbers
