"""Charts of a report as PNG files."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grpo_env.errors import RunError, UsageError
from grpo_env.figures import COLORS, new_figure, style_axes

from .charts import Bars, Chart, Columns, Lines, Stack, bounds

WIDTH, HEIGHT = 4.4, 2.9  # inches of a chart
LETTER = 0.09  # inches, width of a letter of a label and its part of the space between labels
ABOVE, BELOW, RIGHT = 0.4, 0.6, 0.2  # inches, margins of its axes


def write_pngs(sections: Iterable[tuple[str, list[Chart]]], folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Draw each section's charts into ``SECTION.png``. Raises ``UsageError`` if it exists, unless ``overwrite``."""
    files = {folder / f"{name}.png": charts for name, charts in sections}
    for file in files:
        if file.exists() and not overwrite:
            raise UsageError(f"{file}: already exists; give another folder with --png, or add --overwrite")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, charts in files.items():
            with file.open("wb" if overwrite else "xb") as out:
                draw_charts(charts).savefig(out, dpi=110, format="png")
    except OSError as error:
        raise RunError(f"cannot write to {folder} ({error.strerror or error})") from error
    return list(files)


def draw_charts(charts: list[Chart]) -> Any:
    """A matplotlib figure with up to three charts per row."""
    columns = min(3, len(charts))
    rows = math.ceil(len(charts) / columns)
    figure = new_figure(WIDTH * columns, HEIGHT * rows, constrained=False)  # a constrained layout draws twice
    longest = max((len(name) for chart in charts for name in _names(chart)), default=0)
    left = max(0.6, 0.2 + 0.08 * longest)
    figure.subplots_adjust(
        left=left / (WIDTH * columns),
        right=1 - RIGHT / (WIDTH * columns),
        bottom=BELOW / (HEIGHT * rows),
        top=1 - ABOVE / (HEIGHT * rows),
        wspace=(left + RIGHT) / (WIDTH - left - RIGHT),
        hspace=(ABOVE + BELOW) / (HEIGHT - ABOVE - BELOW),
    )
    panels = figure.subplots(rows, columns, squeeze=False).flat
    for axes in panels[len(charts) :]:
        axes.set_axis_off()
    for axes, chart in zip(panels, charts, strict=False):
        style_axes(axes, _escape(chart.title), grid=False)
        draw(axes, chart)
    return figure


def _names(chart: Chart) -> list[str]:
    """The labels of horizontal bars, shortened to fit."""
    if not isinstance(chart, Bars | Stack):
        return []
    names = chart.values if isinstance(chart, Bars) else chart.counts
    return [name if len(name) <= 24 else f"{name[:23]}…" for name in names]


def draw(axes: Any, chart: Chart) -> None:
    """Draw one chart into matplotlib axes."""
    if isinstance(chart, Columns):
        labels = chart.bins.labels
        axes.bar(range(len(labels)), chart.bins.counts, color=COLORS[0])
        axes.set_xlim(-0.6, max(4, len(labels)) - 0.4)
        every = max(1, math.ceil(max(map(len, labels)) * LETTER * len(labels) / WIDTH))
        axes.set_xticks(range(len(labels))[::every], labels[::every], fontsize=8)
    elif isinstance(chart, Bars):
        bars = axes.barh(range(len(chart.values)), list(chart.values.values()), color=COLORS[0])
        axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=2)
        axes.set_xlim(min(chart.limits[0], *chart.values.values()), max(chart.limits[1], *chart.values.values()) * 1.15)
        axes.axvline(0, color="black", linewidth=0.8)
    elif isinstance(chart, Stack):
        counts = list(chart.counts.values())
        bars = axes.barh(range(len(counts)), counts, color=COLORS[: len(counts)])
        axes.bar_label(bars, fmt="{:,.0f}", fontsize=8, padding=2)
        axes.set_xlim(0, max(1, *counts) * 1.2)
    else:
        _lines(axes, chart)
    if names := _names(chart):
        axes.set_yticks(range(len(names)), [_escape(name) for name in names], fontsize=9)
        axes.invert_yaxis()


def _lines(axes: Any, chart: Lines) -> None:
    for color, marker, (name, line) in zip(COLORS, "os^Dv", chart.series.items(), strict=False):
        axes.plot(line.xs, line.ys, color=color, marker=marker, markersize=4, label=_escape(name))
        if line.lows:
            axes.fill_between(line.xs, line.lows, line.highs, color=color, alpha=0.18, linewidth=0)
    if chart.log_x:
        axes.set_xscale("log", base=2)
    if chart.x_ticks:
        axes.set_xticks(chart.x_ticks, [f"{tick:g}" for tick in chart.x_ticks])
        axes.minorticks_off()
    low, high = bounds(chart)[1]
    axes.set_ylim(low, high + 0.02 * (high - low))
    axes.set_xlabel(_escape(chart.x_label), fontsize=9)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def _escape(text: str) -> str:
    # A dollar sign in a part's name would start a formula.
    return text.replace("$", r"\$")
