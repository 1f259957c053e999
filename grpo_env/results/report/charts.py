"""Charts of a report as data: what to draw. ``svg`` and ``png`` say how."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .groups import MEANINGS
from .measures import Bins, Estimate

if TYPE_CHECKING:
    from .report import Report


@dataclass(frozen=True)
class Columns:
    """Counts of values or of ranges as upright bars."""

    title: str
    bins: Bins


@dataclass(frozen=True)
class Bars:
    """Named numbers as lying bars from 0, to the left if negative. ``limits`` always fit in."""

    title: str
    values: Mapping[str, float]
    limits: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Stack:
    """Named counts as one bar of their shares."""

    title: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Series:
    """Points of a line; ``lows`` and ``highs`` bound a band around it where there is one."""

    xs: Sequence[float]
    ys: Sequence[float]
    lows: Sequence[float] = ()
    highs: Sequence[float] = ()


@dataclass(frozen=True)
class Lines:
    """Lines with markers. ``x_ticks`` are set where the x are not measured but chosen."""

    title: str
    series: Mapping[str, Series]
    x_label: str
    x_ticks: Sequence[float] = ()
    log_x: bool = False
    y_range: tuple[float, float] | None = None


Chart = Columns | Bars | Stack | Lines


def charts(report: Report) -> dict[str, list[Chart]]:
    """The charts of each section that has some."""
    metric = report.metric
    found: dict[str, list[Chart]] = {
        "parts": [Columns("total (the reward)", report.total.values)],
        "shares": [],
        "groups": [Stack("groups by what they can teach", {str(one): report.kinds.get(one, 0) for one in MEANINGS})],
        "pass": [],
        "length": [],
        "steps": [],
    }
    found["parts"] += [
        Columns(f"{part.name}, weight {part.weight:g}", part.values) for part in report.parts if not part.depth
    ]
    shares = {part.name: part.variance_share for part in report.parts if part.variance_share is not None}
    if shares:
        found["shares"].append(Bars("share of the reward's variance", shares))
    follow = {part.name: part.with_metric for part in report.parts if part.with_metric is not None}
    follow = {name: value for name, value in follow.items() if name != metric}
    if follow:
        found["shares"].append(Bars(f"correlation with {metric}", follow, (-1.0, 1.0)))
    if len(report.pass_at) > 1:
        series = {"pass@k": _estimates(report.pass_at), "maj@k": _estimates(report.maj_at)}
        series = {name: line for name, line in series.items() if line.xs}
        title = "pass@k and maj@k with 95 % intervals" if len(series) > 1 else "pass@k with 95 % intervals"
        ends = [value for line in series.values() for value in (*line.lows, *line.highs)]
        tenths = math.floor(min(ends) * 10) / 10, math.ceil(max(ends) * 10) / 10
        found["pass"].append(Lines(title, series, "k", tuple(report.pass_at), log_x=True, y_range=tenths))
    if report.length:
        lines = {"reward": report.length.reward, metric: report.length.metric}
        series = {name: Series(line.xs, line.ys) for name, line in lines.items()}
        found["length"].append(Lines("mean by length", series, f"length, {report.length.unit}"))
    for steps in report.steps:
        fifths = [(place, value) for place, value in enumerate(steps.by_position, start=1) if value is not None]
        xs, ys = zip(*fifths, strict=True)
        profile = {steps.part: Series(xs, ys)}
        scale = (steps.lowest, steps.highest) if steps.lowest < steps.highest else None
        title = f"{steps.part}: mean step value"
        found["steps"].append(Lines(title, profile, "fifth of the steps", (1, 2, 3, 4, 5), y_range=scale))
        number = {"reward": Series(steps.reward_by_number.xs, steps.reward_by_number.ys)}
        found["steps"].append(Lines(f"{steps.part}: reward by number of steps", number, "steps"))
    shown = {name: [chart for chart in drawn if _has_points(chart)] for name, drawn in found.items()}
    return {name: drawn for name, drawn in shown.items() if drawn}


def _has_points(chart: Chart) -> bool:
    return not isinstance(chart, Lines) or any(line.xs for line in chart.series.values())


def _estimates(at: Mapping[int, Estimate]) -> Series:
    lows, highs = [one.interval[0] for one in at.values()], [one.interval[1] for one in at.values()]
    return Series(tuple(at), [one.value for one in at.values()], lows, highs)


def bounds(chart: Lines) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ranges of x and y that hold everything, with a little room where y has no range of its own."""
    xs = [*chart.x_ticks, *(x for line in chart.series.values() for x in line.xs)]
    ys = [y for line in chart.series.values() for y in (*line.ys, *line.lows, *line.highs)]
    low, high = chart.y_range or (min(ys), max(ys))
    room = 0.0 if chart.y_range else (high - low) * 0.08 or 0.5
    return (min(xs), max(xs)), (low - room, high + room)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers (1, 2 or 5 times a power of ten apart) from ``low`` to ``high``, at most ``most + 1`` of them."""
    if high <= low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]
