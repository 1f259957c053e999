"""maj@k: how often the majority of k answers is right (Wang et al. 2023, self-consistency)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from math import comb

LARGEST_K = 8  # below the whole group; the exact sum grows with the third power of k

# The votes of a group: for each different answer how many completions gave it and how right they are on average.
Votes = tuple[tuple[int, float], ...]


def count_votes(answers: Sequence[str | None], right: Sequence[float]) -> Votes:
    """Votes by answer, compared as text without white space. Completions without an answer do not vote."""
    found: dict[str, list[float]] = defaultdict(list)
    for answer, value in zip(answers, right, strict=True):
        text = "".join((answer or "").split())
        if text:
            found[text].append(value)
    return tuple(sorted((len(values), sum(values) / len(values)) for values in found.values()))


@lru_cache(maxsize=100_000)
def majority(votes: Votes, silent: int, k: int) -> float:
    """The chance that the most frequent answer of ``k`` completions is right, over all subsets of that size.

    Ties are split evenly. ``silent`` completions have no answer; a subset of them alone is wrong. Exact: for each
    answer and each number of votes it may win with, the ways in which no other answer gets more are counted.
    """
    size = sum(count for count, _ in votes) + silent
    if not 0 < k <= size:
        raise ValueError(f"maj@{k} needs at least {k} completions, not {size}")
    if k == size:
        top = max((count for count, _ in votes), default=0)
        winners = [value for count, value in votes if count == top]
        return sum(winners) / len(winners) if winners else 0.0
    won = 0.0
    for index, (own, value) in enumerate(votes):
        if not value:
            continue
        others = [count for at, (count, _) in enumerate(votes) if at != index]
        for top in range(1, min(own, k) + 1):
            ways = _ways(others, silent, k - top, top)
            won += value * comb(own, top) * sum(number / (1 + ties) for ties, number in ways.items())
    return won / comb(size, k)


def _ways(others: Sequence[int], silent: int, room: int, top: int) -> Counter[int]:
    """Ways to fill ``room`` places from answers with at most ``top`` votes each, by how many reach ``top``."""
    ways: Counter[tuple[int, int]] = Counter({(0, 0): 1})  # (places filled, answers with as many votes) -> ways
    for count in others:
        grown: Counter[tuple[int, int]] = Counter()
        for (filled, ties), number in ways.items():
            for taken in range(min(count, top, room - filled) + 1):
                grown[filled + taken, ties + (taken == top)] += number * comb(count, taken)
        ways = grown
    result: Counter[int] = Counter()
    for (filled, ties), number in ways.items():
        result[ties] += number * comb(silent, room - filled)
    return result
