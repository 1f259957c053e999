"""Which completions a report shows: those that teach most, and those where reward and metric disagree most."""

from __future__ import annotations

from grpo_env.equality import all_equal, equal, is_correct

from ..rows import ScoreRow

SAMPLES = 5  # of each kind
HEADINGS = (
    ABOVE := "Furthest above the mean of the group",
    BELOW := "Furthest below the mean of the group",
    HIGHEST := "Highest rewards",
    LOWEST := "Lowest rewards",
    CORRECT_LOW := "Correct, low reward",
    WRONG_HIGH := "Wrong, high reward",
)


class Samples:
    """The rows to show: for each kind at most one of a group, so that they are of different prompts.

    A reward says little by itself, and many rows share the highest one. What is learned from a completion is how far
    its reward is from its group's mean, so that decides, and the reward itself only where no group has two rewards.
    """

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[float, ScoreRow]]] = {heading: [] for heading in HEADINGS}
        self._group: dict[str, tuple[float, ScoreRow]] = {}
        self._totals: list[float] = []

    def offer(self, row: ScoreRow, total: float, metric: float | None) -> None:
        """Consider a scored completion of the current group."""
        self._totals.append(total)
        self._keep(HIGHEST, total, row)
        self._keep(LOWEST, -total, row)
        if metric is not None:
            self._keep(*((CORRECT_LOW, -total, row) if is_correct(metric) else (WRONG_HIGH, total, row)))

    def end_group(self) -> None:
        """The next completion belongs to another prompt."""
        if not all_equal(self._totals):
            mean = sum(self._totals) / len(self._totals)
            (highest, high_row), (lowest, low_row) = self._group[HIGHEST], self._group[LOWEST]
            self._group |= {ABOVE: (highest - mean, high_row), BELOW: (lowest + mean, low_row)}
        for heading, best in self._group.items():  # of equal keys the first stays first
            self._kept[heading] = sorted([*self._kept[heading], best], key=lambda entry: -entry[0])[:SAMPLES]
        self._group.clear()
        self._totals.clear()

    def _keep(self, heading: str, key: float, row: ScoreRow) -> None:
        if heading not in self._group or key > self._group[heading][0]:
            self._group[heading] = (key, row)

    def by_heading(self, mean: float) -> dict[str, list[ScoreRow]]:
        """The rows by heading. A reward is low below the ``mean`` reward and high above it."""
        kept = {heading: [row for _, row in best] for heading, best in self._kept.items()}
        if kept[ABOVE]:
            kept[HIGHEST] = kept[LOWEST] = []
        kept[LOWEST] = [row for row in kept[LOWEST] if not any(row is other for other in kept[HIGHEST])]
        kept[CORRECT_LOW] = [row for row in kept[CORRECT_LOW] if row["total"] < mean and not equal(row["total"], mean)]
        kept[WRONG_HIGH] = [row for row in kept[WRONG_HIGH] if row["total"] > mean and not equal(row["total"], mean)]
        return {heading: rows for heading, rows in kept.items() if rows}
