"""Charts as inline SVG whose colours are the page's, so that they follow its light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable

from markupsafe import Markup

from .charts import Bars, Chart, Columns, Lines, Stack, bounds, ticks
from .spans import visible

WIDTH = 360  # units of the drawing; the page shows it at about as many pixels, so that text keeps its size
LINE = 14  # height of a line of text
LETTER = 6  # width of a small letter
NAME = 120  # width left for the names of lying bars
BOTTOM, LEFT, TOP = 34, 40, 24


def svg(chart: Chart) -> Markup:
    """The drawing, with its title as text for those who cannot see it."""
    height, marks = _columns(chart) if isinstance(chart, Columns) else (
        _bars(chart) if isinstance(chart, Bars) else _stack(chart) if isinstance(chart, Stack) else _lines(chart)
    )  # fmt: skip
    head = Markup('<svg viewBox="0 0 {} {}" role="img"><title>{}</title>').format(WIDTH, height, visible(chart.title))
    return head + _text(0, 11, chart.title, "title") + Markup("").join(marks) + Markup("</svg>")


def _columns(chart: Columns) -> tuple[int, list[Markup]]:
    height, base = 138, 118
    counts, whole = chart.bins.counts, sum(chart.bins.counts) or 1
    wide = WIDTH / max(4, len(counts))
    every = math.ceil((max(map(len, chart.bins.labels), default=1) + 1) * LETTER / wide)  # so that no labels touch
    marks = []
    for place, (label, count) in enumerate(zip(chart.bins.labels, counts, strict=True)):
        tall = count / (max(counts) or 1) * (base - 2 * LINE - 12)
        middle = (place + 0.5) * wide
        marks.append(_rect(middle - wide * 0.4, base - tall, wide * 0.8, tall, "c0"))
        if count:
            marks.append(_text(middle, base - tall - 4, _percent(count / whole), "small", "middle"))
        if (len(counts) - 1 - place) % every == 0:
            half = len(label) * LETTER / 2
            marks.append(_text(min(max(middle, half), WIDTH - half), base + LINE, label, "small", "middle"))
    return height, [*marks, _line(0, base, len(counts) * wide, base)]


def _bars(chart: Bars) -> tuple[int, list[Markup]]:
    row = 22
    low, high = min(*chart.limits, *chart.values.values()), max(*chart.limits, *chart.values.values())
    left = NAME + (36 if low < 0 else 0)
    scale = (WIDTH - left - 36) / (high - low)
    zero = left - low * scale
    marks = []
    for place, (name, value) in enumerate(chart.values.items()):
        y = TOP + place * row
        start, end = sorted((zero, zero + value * scale))
        marks.append(_rect(start, y, end - start, row - 7, "c0" if value >= 0 else "c1"))
        marks.append(_text(0, y + 11, _short(name, 18)))
        place_of_text, anchor = (end + 4, "start") if value >= 0 else (start - 4, "end")
        marks.append(_text(place_of_text, y + 11, f"{value:.2f}", "small", anchor))
    bottom = TOP + len(chart.values) * row
    return bottom + 4, [*marks, _line(zero, TOP - 3, zero, bottom - 3)]


def _stack(chart: Stack) -> tuple[int, list[Markup]]:
    whole, x, y = sum(chart.counts.values()) or 1, 0.0, TOP + 44
    marks = []
    for place, (name, count) in enumerate(chart.counts.items()):
        if not count:
            continue
        wide = count / whole * WIDTH
        marks.append(_rect(x, TOP, max(0.5, wide - 1), 26, f"c{place}"))
        marks.append(_rect(0, y - 10, 11, 11, f"c{place}"))
        marks.append(_text(18, y, f"{name}: {count:,} ({_percent(count / whole)})"))
        x, y = x + wide, y + LINE + 5
    return y - 8, marks


def _lines(chart: Lines) -> tuple[int, list[Markup]]:
    height = 210
    top, base = TOP + LINE + 6, height - BOTTOM
    (x_low, x_high), (y_low, y_high) = bounds(chart)
    across = _scale(x_low, x_high, LEFT + 8, WIDTH - 14, log=chart.log_x)
    up = _scale(y_low, y_high, base, top)
    marks = []
    for tick in ticks(y_low, y_high):
        marks += [
            _line(LEFT, up(tick), WIDTH, up(tick), "grid"),
            _text(LEFT - 5, up(tick) + 4, f"{tick:.4g}", "small", "end"),
        ]
    for tick in chart.x_ticks or ticks(x_low, x_high):
        marks.append(
            _text(across(tick), base + LINE, f"{tick:,.4g}" if tick < 10_000 else f"{tick:,.0f}", "small", "middle")
        )
    marks.append(_text((LEFT + WIDTH) / 2, height - 4, chart.x_label, anchor="middle"))
    label_at = float(LEFT)
    for place, (name, line) in enumerate(chart.series.items()):
        points = list(zip(map(across, line.xs), map(up, line.ys), strict=True))
        if line.lows:
            around = [(across(x), up(y)) for x, y in zip(line.xs, line.highs, strict=True)]
            around += [(across(x), up(y)) for x, y in reversed(list(zip(line.xs, line.lows, strict=True)))]
            marks.append(Markup('<polygon class="c{} band" points="{}"/>').format(place, _points(around)))
        marks.append(Markup('<polyline class="s{}" points="{}"/>').format(place, _points(points)))
        marks += [_marker(x, y, place) for x, y in points]
        marks += [_marker(label_at + 4, TOP + 4, place), _text(label_at + 13, TOP + 8, _short(name, 22))]
        label_at += 32 + 6.5 * min(22, len(name))
    return height, marks


def _scale(low: float, high: float, start: float, end: float, *, log: bool = False) -> Callable[[float], float]:
    turn: Callable[[float], float] = math.log if log else float
    first, last = turn(low), turn(high)
    if first == last:
        return lambda value: (start + end) / 2
    return lambda value: start + (turn(value) - first) / (last - first) * (end - start)


def _marker(x: float, y: float, place: int) -> Markup:
    """A dot for the first line, a square for others: told apart without colour."""
    if place:
        return _rect(x - 3.2, y - 3.2, 6.4, 6.4, f"c{place}")
    return Markup('<circle class="c0" cx="{:.1f}" cy="{:.1f}" r="3.5"/>').format(x, y)


def _points(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _rect(x: float, y: float, width: float, height: float, css: str) -> Markup:
    shape = '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>'
    return Markup(shape).format(css, x, y, width, height)


def _line(x1: float, y1: float, x2: float, y2: float, css: str = "axis") -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(css, x1, y1, x2, y2)


def _text(x: float, y: float, text: str, css: str = "", anchor: str = "start") -> Markup:
    if not text:
        return Markup("")
    place = Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
    return place.format(css, x, y, anchor, visible(text))


def _percent(share: float) -> str:
    return "0" if not share else f"{share:.0%}" if share >= 0.01 else "<1%"


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
