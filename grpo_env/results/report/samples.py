"""Which completions a report shows: the best, the worst, and those where reward and metric disagree most."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from typing import Any

from ..rows import ScoreRow

SAMPLES = 5  # of each kind


@dataclass
class Top:
    """Keeps the rows with the highest keys; of equal keys the first."""

    size: int = SAMPLES
    _heap: list[tuple[float, int, Any]] = field(default_factory=list)
    _seen: int = 0

    def offer(self, key: float, row: Any) -> None:
        """Keep ``row`` if it is among the highest so far."""
        self._seen += 1
        entry = (key, -self._seen, row)
        if len(self._heap) < self.size:
            heappush(self._heap, entry)
        elif entry[:2] > self._heap[0][:2]:
            heappushpop(self._heap, entry)

    def rows(self) -> list[Any]:
        """The rows kept, highest key first."""
        return [row for _, _, row in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]


@dataclass
class Samples:
    """The rows to show: for each kind at most one of a group, so that they are of different prompts."""

    best: Top = field(default_factory=Top)
    worst: Top = field(default_factory=Top)
    correct_low: Top = field(default_factory=Top)
    wrong_high: Top = field(default_factory=Top)
    _group: dict[str, tuple[float, ScoreRow]] = field(default_factory=dict)

    def offer(self, row: ScoreRow, total: float, metric: float | None) -> None:
        """Consider a scored completion of the current group."""
        self._keep("best", total, row)
        self._keep("worst", -total, row)
        if metric is not None:
            self._keep(*(("correct_low", -total, row) if metric >= 1 else ("wrong_high", total, row)))

    def end_group(self) -> None:
        """The next completion belongs to another prompt."""
        for name, (key, row) in self._group.items():
            getattr(self, name).offer(key, row)
        self._group.clear()

    def _keep(self, name: str, key: float, row: ScoreRow) -> None:
        if name not in self._group or key > self._group[name][0]:
            self._group[name] = (key, row)

    def by_heading(self, mean: float) -> dict[str, list[ScoreRow]]:
        """The rows by heading. A reward is low below the ``mean`` reward and high above it."""
        low = [row for row in self.correct_low.rows() if row["total"] < mean]
        high = [row for row in self.wrong_high.rows() if row["total"] > mean]
        best = self.best.rows()
        worst = [row for row in self.worst.rows() if not any(row is best_row for best_row in best)]
        headings = {"Best": best, "Worst": worst, "Correct, low reward": low, "Wrong, high reward": high}
        return {heading: rows for heading, rows in headings.items() if rows}
