"""Which completions a report shows: those that teach most, and those where reward and metric disagree most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grpo_env.equality import all_equal, equal, is_correct

from ..rows import ScoreRow

SAMPLES = 5  # of each kind


class Top:
    """Keeps the rows with the highest keys; of equal keys the first."""

    def __init__(self, size: int = SAMPLES) -> None:
        self._size = size
        self._kept: list[tuple[float, Any]] = []

    def offer(self, key: float, row: Any) -> None:
        """Keep ``row`` if it is among the highest so far."""
        if len(self._kept) < self._size or key > self._kept[-1][0]:
            self._kept = sorted([*self._kept, (key, row)], key=lambda entry: -entry[0])[: self._size]

    def rows(self) -> list[Any]:
        """The rows kept, highest key first."""
        return [row for _, row in self._kept]


@dataclass
class Samples:
    """The rows to show: for each kind at most one of a group, so that they are of different prompts.

    A reward says little by itself, and many rows share the highest one. What is learned from a completion is how far
    its reward is from its group's mean, so that decides, and the reward itself only where no group has two rewards.
    """

    above_mean: Top = field(default_factory=Top)
    below_mean: Top = field(default_factory=Top)
    highest: Top = field(default_factory=Top)
    lowest: Top = field(default_factory=Top)
    correct_low: Top = field(default_factory=Top)
    wrong_high: Top = field(default_factory=Top)
    _group: dict[str, tuple[float, ScoreRow]] = field(default_factory=dict)
    _totals: list[float] = field(default_factory=list)

    def offer(self, row: ScoreRow, total: float, metric: float | None) -> None:
        """Consider a scored completion of the current group."""
        self._totals.append(total)
        self._keep("highest", total, row)
        self._keep("lowest", -total, row)
        if metric is not None:
            self._keep(*(("correct_low", -total, row) if is_correct(metric) else ("wrong_high", total, row)))

    def end_group(self) -> None:
        """The next completion belongs to another prompt."""
        for name, (key, row) in self._group.items():
            getattr(self, name).offer(key, row)
        if not all_equal(self._totals):
            mean = sum(self._totals) / len(self._totals)
            self.above_mean.offer(self._group["highest"][0] - mean, self._group["highest"][1])
            self.below_mean.offer(self._group["lowest"][0] + mean, self._group["lowest"][1])
        self._group.clear()
        self._totals.clear()

    def _keep(self, name: str, key: float, row: ScoreRow) -> None:
        if name not in self._group or key > self._group[name][0]:
            self._group[name] = (key, row)

    def by_heading(self, mean: float) -> dict[str, list[ScoreRow]]:
        """The rows by heading. A reward is low below the ``mean`` reward and high above it."""
        low = [row for row in self.correct_low.rows() if row["total"] < mean and not equal(row["total"], mean)]
        high = [row for row in self.wrong_high.rows() if row["total"] > mean and not equal(row["total"], mean)]
        above, highest = self.above_mean.rows(), self.highest.rows()
        lowest = [row for row in self.lowest.rows() if not any(row is other for other in highest)]
        headings = {
            "Furthest above the mean of the group": above,
            "Furthest below the mean of the group": self.below_mean.rows(),
            "Highest rewards": [] if above else highest,
            "Lowest rewards": [] if above else lowest,
            "Correct, low reward": low,
            "Wrong, high reward": high,
        }
        return {heading: rows for heading, rows in headings.items() if rows}
