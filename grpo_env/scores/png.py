"""Charts of a report as PNG files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grpo_env.curves import new_figure
from grpo_env.errors import RunError, UsageError

from .charts import Bars, Chart, Columns, Lines, Stack, bounds

COLOURS = ("#0067a5", "#c2570c", "#7a7d84", "#8a4f9e", "#b5b7bb")  # those of style.css


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
    figure = new_figure(4.4 * across, 2.9 * down)
    panels = figure.subplots(down, across, squeeze=False).flat
    for axes in panels[len(charts) :]:
        axes.set_axis_off()
    for axes, chart in zip(panels, charts, strict=False):
        # Names of parts are no formulas: a dollar sign is one.
        axes.set_title(_plain(chart.title), fontsize=10, loc="left")
        for spine in ("top", "right"):
            axes.spines[spine].set_visible(False)
        draw(axes, chart)
    return figure


def draw(axes: Any, chart: Chart) -> None:
    """Draw one chart into matplotlib axes."""
    if isinstance(chart, Columns):
        labels = chart.bins.labels
        axes.bar(range(len(labels)), chart.bins.counts, color=COLOURS[0])
        axes.set_xlim(-0.6, max(4, len(labels)) - 0.4)
        axes.set_xticks(range(len(labels)), labels, fontsize=8, rotation=0 if len(labels) < 6 else 45)
    elif isinstance(chart, Bars):
        names = [_plain(name) for name in chart.values]
        bars = axes.barh(names, list(chart.values.values()), color=COLOURS[0])
        axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=2)
        axes.set_xlim(min(chart.limits[0], *chart.values.values()), max(chart.limits[1], *chart.values.values()) * 1.15)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.invert_yaxis()
    elif isinstance(chart, Stack):
        counts = list(chart.counts.values())
        bars = axes.barh([_plain(name) for name in chart.counts], counts, color=COLOURS[: len(counts)])
        axes.bar_label(bars, fmt="{:,.0f}", fontsize=8, padding=2)
        axes.set_xlim(0, max(1, *counts) * 1.2)
        axes.invert_yaxis()
    else:
        _lines(axes, chart)


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
    return text.replace("$", r"\$")
