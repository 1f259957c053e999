"""The strata of a file of scores: completions alike in verdict, status, kind, source, and agreement in their group.

With a second reader, which is another part of the scores, also in whether it agrees with the metric.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from grpo_env.equality import is_correct
from grpo_env.results.part_scores import PartScore, part_score
from grpo_env.results.rows import ScoreRow, group_of, metric_of

ACCEPTED, REJECTED = "accepted", "rejected"
OTHERS = "others"
_SOURCE = re.compile(r"([a-z][a-z_]{0,29}): ")


class Verdict(NamedTuple):
    """A row with its metric's score, and its stratum; the stratum of an unscored row is empty."""

    row: ScoreRow
    score: PartScore
    stratum: str

    @property
    def accepted(self) -> bool:
        """Whether the metric says correct."""
        return is_correct(self.score.value)


def verdicts(rows: Iterable[ScoreRow], second: str | None = None) -> Iterator[Verdict]:
    """Each row with its stratum, in order. Raises ``UsageError`` for rows without a metric, or the ``second`` part."""
    for _, group in groupby(rows, group_of):
        scored = [(row, part_score(row, metric_of(row))) for row in group]
        values = [is_correct(score.value) for _, score in scored if score.value is not None]
        agreement = "" if len(values) < 2 else "uniform group" if len(set(values)) == 1 else "mixed group"
        for row, score in scored:
            views = agreement, second and _view(second, part_score(row, second), score)
            yield Verdict(row, score, "" if score.value is None else _name(score, *views))


def _view(name: str, second: PartScore, score: PartScore) -> str:
    """Whether the second reader agrees with the metric; empty where either has no verdict."""
    if second.value is None or score.value is None:
        return ""
    return f"{name} {'agrees' if is_correct(second.value) == is_correct(score.value) else 'disagrees'}"


def _name(score: PartScore, *views: str | None) -> str:
    assert score.value is not None
    status = score.status if score.status != "scored" else ""
    # Answer verifiers and composites put where the verdict comes from first: "boxed: a different number".
    source = _SOURCE.match(score.explanation)
    details = filter(None, (status, score.kind, source and source[1], *views))
    return ": ".join(filter(None, (ACCEPTED if is_correct(score.value) else REJECTED, ", ".join(details))))


def merged(sizes: Mapping[str, int], most: int) -> dict[str, str]:
    """The stratum that each stratum becomes: itself for the largest, for others one of all with its verdict.

    At least two remain, as strata of different verdicts are never merged, and otherwise at most ``most``.
    """
    ranked = sorted(sizes, key=lambda name: (-sizes[name], name))
    small = ranked[most - 2 :] if len(ranked) > most else []
    verdicts = {name: name.partition(":")[0] for name in small}
    counts = Counter(verdicts.values())
    others = {name: f"{verdict}: {OTHERS}" for name, verdict in verdicts.items() if counts[verdict] > 1}
    return {name: name for name in ranked} | others
