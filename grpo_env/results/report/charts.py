"""The charts of a report as data. ``svg`` draws them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .measures import Bins, Series

if TYPE_CHECKING:
    from .report import Part, Report


@dataclass(frozen=True)
class Columns:
    """Counts of values or ranges as vertical bars."""

    title: str
    bins: Bins


@dataclass(frozen=True)
class Lines:
    """Lines with markers."""

    title: str
    series: Mapping[str, Series]
    x_label: str


Chart = Columns | Lines


def charts(report: Report) -> dict[str, list[Chart]]:
    """The charts by section, without empty ones."""
    sections: dict[str, list[Chart]] = {"parts": [], "length": []}
    if report.total.scored:
        sections["parts"].append(Columns("total (the reward)", report.total.values))
    for part in report.parts:
        if not part.depth and part.varies and not is_like_reward(part, report):
            sections["parts"].append(Columns(f"{part.name}, weight {part.weight_text}", part.values))
    if (length := report.length) and (length.reward.xs or length.metric.xs):
        trends = {"reward": length.reward, report.metric: length.metric}
        sections["length"].append(Lines("mean by length", trends, f"length in {length.unit}"))
    return {name: section for name, section in sections.items() if section}


def is_like_reward(part: Part, report: Report) -> bool:
    """Whether the chart of a part would show the bars of the reward's again."""
    return part.varies and part.values.counts == report.total.values.counts


def bounds(chart: Lines) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ranges of x and y over all points, with a margin in y."""
    xs = [x for line in chart.series.values() for x in line.xs]
    ys = [y for line in chart.series.values() for y in line.ys]
    low, high = min(ys), max(ys)
    margin = (high - low) * 0.08 or 0.5
    return (min(xs), max(xs)), (low - margin, high + margin)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from ``low`` to ``high``, 1, 2 or 5 times a power of ten apart, at most six."""
    if high <= low:
        return [low]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]
