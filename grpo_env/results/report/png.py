"""Charts of a report as PNG files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grpo_env.errors import RunError, UsageError
from grpo_env.figures import new_figure

from .charts import Bars, Chart, Columns, Lines, Stack, bounds

COLOURS = ("#0067a5", "#c2570c", "#7a7d84", "#8a4f9e", "#b5b7bb")  # those of style.css

WIDTH, HEIGHT = 4.4, 2.9  # inches of a chart
ABOVE, BELOW, RIGHT = 0.4, 0.6, 0.2  # inches around its axes


def write_pngs(sections: Iterable[tuple[str, list[Chart]]], folder: Path) -> list[Path]:
    """Draw each section's charts into a file of its name. Raises ``UsageError`` if one is there already."""
    files = {folder / f"{name}.png": drawn for name, drawn in sections}
    for file in files:
        if file.exists():
            raise UsageError(f"{file}: exists already; give another folder with --png")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, drawn in files.items():
            with file.open("xb") as out:
                picture(drawn).savefig(out, dpi=110, format="png")
    except OSError as error:
        raise RunError(f"{folder}: cannot be written ({error.strerror or error})") from error
    return list(files)


def picture(charts: list[Chart]) -> Any:
    """A matplotlib figure with up to three charts a row."""
    across = min(3, len(charts))
    down = -(-len(charts) // across)
    figure = new_figure(WIDTH * across, HEIGHT * down, constrained=False)  # constrained, all is drawn twice
    names = [_names(chart) for chart in charts]
    left = max(0.6, 0.2 + 0.08 * max((len(name) for each in names for name in each), default=0))
    figure.subplots_adjust(
        left=left / (WIDTH * across),
        right=1 - RIGHT / (WIDTH * across),
        bottom=BELOW / (HEIGHT * down),
        top=1 - ABOVE / (HEIGHT * down),
        wspace=(left + RIGHT) / (WIDTH - left - RIGHT),
        hspace=(ABOVE + BELOW) / (HEIGHT - ABOVE - BELOW),
    )
    panels = figure.subplots(down, across, squeeze=False).flat
    for axes in panels[len(charts) :]:
        axes.set_axis_off()
    for axes, chart in zip(panels, charts, strict=False):
        axes.set_title(_plain(chart.title), fontsize=10, loc="left")
        for spine in ("top", "right"):
            axes.spines[spine].set_visible(False)
        draw(axes, chart)
    return figure


def _names(chart: Chart) -> list[str]:
    """What stands left of lying bars, cut to what there is room for."""
    if isinstance(chart, Bars | Stack):
        return [
            name if len(name) <= 24 else f"{name[:23]}…"
            for name in (chart.values if isinstance(chart, Bars) else chart.counts)
        ]
    return []


def draw(axes: Any, chart: Chart) -> None:
    """Draw one chart into matplotlib axes."""
    if isinstance(chart, Columns):
        labels = chart.bins.labels
        axes.bar(range(len(labels)), chart.bins.counts, color=COLOURS[0])
        axes.set_xlim(-0.6, max(4, len(labels)) - 0.4)
        axes.set_xticks(range(len(labels)), labels, fontsize=8, rotation=0 if len(labels) < 6 else 45)
    elif isinstance(chart, Bars):
        bars = axes.barh(range(len(chart.values)), list(chart.values.values()), color=COLOURS[0])
        axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=2)
        axes.set_xlim(min(chart.limits[0], *chart.values.values()), max(chart.limits[1], *chart.values.values()) * 1.15)
        axes.axvline(0, color="black", linewidth=0.8)
    elif isinstance(chart, Stack):
        counts = list(chart.counts.values())
        bars = axes.barh(range(len(counts)), counts, color=COLOURS[: len(counts)])
        axes.bar_label(bars, fmt="{:,.0f}", fontsize=8, padding=2)
        axes.set_xlim(0, max(1, *counts) * 1.2)
    else:
        _lines(axes, chart)
    if names := _names(chart):
        axes.set_yticks(range(len(names)), [_plain(name) for name in names], fontsize=9)
        axes.invert_yaxis()


def _lines(axes: Any, chart: Lines) -> None:
    for colour, marker, (name, line) in zip(COLOURS, "os^Dv", chart.series.items(), strict=False):
        axes.plot(line.xs, line.ys, color=colour, marker=marker, markersize=4, label=_plain(name))
        if line.lows:
            axes.fill_between(line.xs, line.lows, line.highs, color=colour, alpha=0.18, linewidth=0)
    if chart.log_x:
        axes.set_xscale("log", base=2)
    if chart.x_ticks:
        axes.set_xticks(chart.x_ticks, [f"{tick:g}" for tick in chart.x_ticks])
        axes.minorticks_off()
    low, high = bounds(chart)[1]
    axes.set_ylim(low, high + 0.02 * (high - low))
    axes.set_xlabel(_plain(chart.x_label), fontsize=9)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def _plain(text: str) -> str:
    # Names of parts are no formulas, which is what a dollar sign begins here.
    return text.replace("$", r"\$")
