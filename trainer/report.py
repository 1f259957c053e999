"""What a run says while it works: a live table in a terminal, plain lines elsewhere; all of it on stderr."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from .rollout import Judged

BARS = "▁▂▃▄▅▆▇█"
TREND = 32  # characters of a trend line
QUIET = 3.0  # seconds between two plain lines

# What is shown below the reward's parts: the metric's name, its label, its format.
ROWS = (
    ("length", "length, tokens", ".1f"),
    ("truncated", "truncated", ".1%"),
    ("unscored", "unscored", ".1%"),
    ("uniform_groups", "uniform groups", ".1%"),
    ("kl", "KL to the start", ".4f"),
    ("entropy", "entropy, nats", ".3f"),
    ("clip_fraction", "clipped tokens", ".2%"),
    ("grad_norm", "gradient norm", ".3f"),
    ("tokens_per_second", "tokens/s", ",.0f"),
)


class Report:
    """Shows one run of ``steps`` steps."""

    def __init__(self, steps: int, console: Console | None = None, *, silent: bool = False) -> None:
        self.console = console or Console(stderr=True, highlight=False, quiet=silent)
        self._steps, self._start = steps, 0
        self._began = time.monotonic()
        self._spoke = -math.inf
        self._history: list[Mapping[str, float]] = []
        self._held_out: list[tuple[int, float]] = []
        self._live = Live(console=self.console, refresh_per_second=4, transient=False)
        self._table = self.console.is_terminal and not silent

    def begin(self, start: int) -> None:
        """Start the clock; a resumed run begins after ``start`` steps."""
        self._start, self._began = start, time.monotonic()

    def say(self, line: str, style: str = "") -> None:
        """One line, above the table where there is one. ``line`` is shown as it stands, brackets and all."""
        self.console.print(Text(line, style=style), soft_wrap=True)

    def step(self, step: int, row: Mapping[str, float]) -> None:
        """Show the metrics of a finished step (0-based)."""
        self._history.append(row)
        if self._table:
            if not self._live.is_started:
                self._live.start()
            self._live.update(self._view(step + 1))
        elif time.monotonic() - self._spoke >= QUIET or step + 1 == self._steps:
            self._spoke = time.monotonic()
            shown = [f"step {step + 1}/{self._steps}", *(f"{name} {row[name]:.3f}" for name in _rewards(row))]
            shown += [f"{name} {row[name]:{form}}" for name, _, form in ROWS if _shown(row, name)]
            self.say(" | ".join([*shown, f"left {self._left(step + 1)}"]).replace("parts/", ""))

    def evaluation(self, step: int, row: Mapping[str, float], interval: tuple[float, float]) -> None:
        """Show held-out accuracy after ``step`` updates."""
        self._held_out.append((step, row["accuracy"]))
        if self._live.is_started:
            self._live.update(self._view(step))
        low, high = interval
        line = f"held-out after {step} steps: greedy accuracy {row['accuracy']:.3f} (95% {low:.3f} to {high:.3f})"
        if "sampled_accuracy" in row:
            line += f", sampled {row['sampled_accuracy']:.3f}"
        self.say(line, "bold")

    def completions(self, title: str, judged: Sequence[Judged]) -> None:
        """Show completions with their scores."""
        self.say(title, "bold")
        for one in judged:
            self.say(f"--- {one.example.id}, gold {one.example.answer}", "dim")
            self.say(one.rollout.text)
            self.say(f"{one.score}", "cyan")

    def close(self) -> None:
        """Leave the table as it stands."""
        if self._live.is_started:
            self._live.stop()

    def _left(self, done: int) -> str:
        worked = max(1, done - self._start)
        return _clock((time.monotonic() - self._began) / worked * (self._steps - done))

    def _view(self, done: int) -> Group:
        elapsed = _clock(time.monotonic() - self._began)
        table = Table(box=None, header_style="dim", pad_edge=False)
        table.add_column("")
        table.add_column("now", justify="right", min_width=8)
        table.add_column("mean of 10", justify="right")
        table.add_column("trend")
        row = self._history[-1]
        for name in _rewards(row):
            self._add(table, name, name.replace("parts/", "  "), ".3f")
        for name, label, form in ROWS:
            if _shown(row, name):
                self._add(table, name, label, form)
        held_out = "  ".join(f"{step}: {value:.3f}" for step, value in self._held_out)
        title = f"step {done}/{self._steps}   elapsed {elapsed}   left {self._left(done)}"
        return Group(Text(title, style="bold"), table, Text(f"held-out accuracy after step   {held_out}"))

    def _add(self, table: Table, name: str, label: str, form: str) -> None:
        values = [value for row in self._history if not math.isnan(value := row.get(name, math.nan))]
        if values:
            last = values[-10:]
            table.add_row(label, f"{values[-1]:{form}}", f"{sum(last) / len(last):{form}}", Text(trend(values)))


def trend(values: Sequence[float], width: int = TREND) -> str:
    """A line of bars, each the mean of a stretch of values, between their smallest and their largest."""
    stretches = [values[at * len(values) // width : (at + 1) * len(values) // width] for at in range(width)]
    means = [sum(part) / len(part) for part in (stretches if len(values) >= width else [[v] for v in values])]
    low, high = min(means), max(means)
    return "".join(BARS[round((mean - low) / (high - low) * 7) if high > low else 0] for mean in means)


def _rewards(row: Mapping[str, float]) -> list[str]:
    return ["reward", *(name for name in row if name.startswith("parts/"))]


def _shown(row: Mapping[str, float], name: str) -> bool:
    """Whether a metric says anything: not where there is no KL penalty, nothing unscored, nothing truncated."""
    optional = name in ("kl", "unscored", "clip_fraction", "truncated")
    return name in row and not math.isnan(row[name]) and (row[name] != 0 or not optional)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
