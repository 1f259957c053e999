"""Charts as inline SVG. The colors are classes of the page's style sheet, so that they follow light and dark mode."""

from __future__ import annotations

import math
from collections.abc import Callable

from markupsafe import Markup

from grpo_env.terminal import shortened

from .charts import Chart, Columns, Lines, bounds, ticks
from .spans import visible

WIDTH = 360  # units; the page shows the drawing at about as many pixels, so that text keeps its size
LINE = 14  # height of a line of text
LETTER = 6  # average width of a small character
BOTTOM, LEFT, TOP = 34, 40, 24


Link = Callable[[float], str]


def svg(chart: Chart, link: Link | None = None) -> Markup:
    """The drawing, with its title for screen readers. ``link`` gives the address of points of a line at x, or none."""
    height, marks = _columns(chart) if isinstance(chart, Columns) else _lines(chart, link)
    head = Markup('<svg viewBox="0 0 {} {}" role="{}"><title>{}</title>').format(
        WIDTH, height, "group" if link else "img", visible(chart.title)
    )
    return head + _text(0, 11, chart.title, "title") + Markup("").join(marks) + Markup("</svg>")


def _columns(chart: Columns) -> tuple[int, list[Markup]]:
    height, base = 138, 118
    counts, total = chart.bins.counts, sum(chart.bins.counts) or 1
    column = WIDTH / max(4, len(counts))
    longest = max(map(len, chart.bins.labels), default=1)
    # Avoids overlaps; the first and the last label may be moved inward by half of their length, less half a column.
    label_every = max(1, math.ceil((1.5 * longest + 1) * LETTER / column - 0.5))
    marks = []
    for index, (label, count) in enumerate(zip(chart.bins.labels, counts, strict=True)):
        bar = count / (max(counts) or 1) * (base - 2 * LINE - 12)
        middle = (index + 0.5) * column
        marks.append(_rect(middle - column * 0.4, base - bar, column * 0.8, bar, "c0"))
        if count:
            marks.append(_text(middle, base - bar - 4, _percent(count / total), "small", "middle"))
        if (len(counts) - 1 - index) % label_every == 0:
            half = len(label) * LETTER / 2
            marks.append(_text(min(max(middle, half), WIDTH - half), base + LINE, label, "small", "middle"))
    return height, [*marks, _line(0, base, len(counts) * column, base)]


def _lines(chart: Lines, link: Link | None) -> tuple[int, list[Markup]]:
    height = 210
    top, base = TOP + LINE + 6, height - BOTTOM
    (x_low, x_high), (y_low, y_high) = bounds(chart)
    across = _scale(x_low, x_high, LEFT + 8, WIDTH - 14)
    up = _scale(y_low, y_high, base, top)
    marks = []
    for tick in ticks(y_low, y_high):
        marks += [
            _line(LEFT, up(tick), WIDTH, up(tick), "grid"),
            _text(LEFT - 5, up(tick) + 4, f"{tick:.4g}", "small", "end"),
        ]
    for tick in ticks(x_low, x_high):
        marks.append(
            _text(across(tick), base + LINE, f"{tick:,.4g}" if tick < 10_000 else f"{tick:,.0f}", "small", "middle")
        )
    marks.append(_text((LEFT + WIDTH) / 2, height - 4, chart.x_label, anchor="middle"))
    legend_x = float(LEFT)
    for index, (name, line) in enumerate(chart.series.items()):
        points = list(zip(map(across, line.xs), map(up, line.ys), strict=True))
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        marks.append(Markup('<polyline class="s{}" points="{}"/>').format(index, corners))
        for step, (x, y) in zip(line.xs, points, strict=True):
            marker = _marker(x, y, index)
            if link and (address := link(step)):
                label = visible(f"{name}, {chart.x_label} {step:g}")
                marker = Markup('<a href="{}" aria-label="{}">{}</a>').format(address, label, marker)
            marks.append(marker)
        marks += [_marker(legend_x + 4, TOP + 4, index), _text(legend_x + 13, TOP + 8, shortened(name, 22))]
        legend_x += 32 + 6.5 * min(22, len(name))
    return height, marks


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    if low == high:
        return lambda value: (start + end) / 2
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _marker(x: float, y: float, index: int) -> Markup:
    """A dot for the first line and squares for the others, so that they differ in more than color."""
    if index:
        return _rect(x - 3.2, y - 3.2, 6.4, 6.4, f"c{index}")
    return Markup('<circle class="c0" cx="{:.1f}" cy="{:.1f}" r="3.5"/>').format(x, y)


def _rect(x: float, y: float, width: float, height: float, css: str) -> Markup:
    shape = '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>'
    return Markup(shape).format(css, x, y, width, height)


def _line(x1: float, y1: float, x2: float, y2: float, css: str = "axis") -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(css, x1, y1, x2, y2)


def _text(x: float, y: float, text: str, css: str = "", anchor: str = "start") -> Markup:
    if not text:
        return Markup("")
    element = Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
    return element.format(css, x, y, anchor, visible(text))


def _percent(fraction: float) -> str:
    if not fraction:
        return "0"
    return f"{fraction:.0%}" if fraction >= 0.01 else "<1%"
