"""maj@k: how often the majority of k answers is correct (Wang et al. 2023, self-consistency)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from math import comb

LARGEST_K = 8  # besides the whole group: the cost of the exact sum grows with the cube of k

# The votes of a group: for each distinct answer the number of completions with it, and the fraction that is correct.
Votes = tuple[tuple[int, float], ...]


def count_votes(answers: Sequence[str | None], correct: Sequence[float]) -> Votes:
    """Votes by answer, compared as text without white space. Completions without an answer do not vote."""
    by_answer: dict[str, list[float]] = defaultdict(list)
    for answer, value in zip(answers, correct, strict=True):
        text = "".join((answer or "").split())
        if text:
            by_answer[text].append(value)
    return tuple(sorted((len(values), sum(values) / len(values)) for values in by_answer.values()))


@lru_cache(maxsize=100_000)
def majority_at_k(votes: Votes, unanswered: int, k: int) -> float:
    """The probability that the most frequent answer of ``k`` completions is correct, over all subsets of size ``k``.

    Ties are split evenly. ``unanswered`` completions have no answer; a subset with no answer at all is wrong. Exact:
    for each answer and each winning number of votes, it counts the subsets in which no other answer gets more.
    """
    size = sum(count for count, _ in votes) + unanswered
    if not 0 < k <= size:
        raise ValueError(f"maj@{k} needs at least {k} completions, not {size}")
    if k == size:
        top = max((count for count, _ in votes), default=0)
        winners = [value for count, value in votes if count == top]
        return sum(winners) / len(winners) if winners else 0.0
    won = 0.0
    for index, (answer_votes, value) in enumerate(votes):
        if not value:
            continue
        rivals = [count for rival, (count, _) in enumerate(votes) if rival != index]
        for top in range(1, min(answer_votes, k) + 1):
            ways = _ways(rivals, unanswered, k - top, top)
            won += value * comb(answer_votes, top) * sum(number / (1 + ties) for ties, number in ways.items())
    return won / comb(size, k)


def _ways(rivals: Sequence[int], unanswered: int, places: int, top: int) -> Counter[int]:
    """Ways to choose ``places`` completions with at most ``top`` votes per rival, by how many rivals reach ``top``."""
    ways: Counter[tuple[int, int]] = Counter({(0, 0): 1})  # (places filled, rivals with ``top`` votes) -> ways
    for count in rivals:
        extended: Counter[tuple[int, int]] = Counter()
        for (filled, ties), number in ways.items():
            for chosen in range(min(count, top, places - filled) + 1):
                extended[filled + chosen, ties + (chosen == top)] += number * comb(count, chosen)
        ways = extended
    result: Counter[int] = Counter()
    for (filled, ties), number in ways.items():
        result[ties] += number * comb(unanswered, places - filled)
    return result
