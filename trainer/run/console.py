"""How a run is shown while it works, and again by ``grpo_env watch``: a live table in a terminal, else plain lines."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from grpo_env.core import Example, Score

Row = Mapping[str, Any]

BARS = "▁▂▃▄▅▆▇█"
TREND = 32  # characters of a trend line
QUIET = 3.0  # seconds of the run between two plain lines
SILENT = 10.0  # seconds without a row after which the table says so
RECENT = 50  # rows that the remaining time is estimated from
HELD_OUT = 8  # evaluations in the table's last line

# What is shown below the reward's parts: the metric's name, its label, its format.
ROWS = (
    ("length", "length, tokens", ".1f"),
    ("truncated", "truncated", ".1%"),
    ("unscored", "unscored", ".1%"),
    ("uniform_groups", "uniform groups", ".1%"),
    ("kl", "KL to the start", ".4f"),
    ("entropy", "entropy, nats", ".3f"),
    ("clip_fraction", "clipped tokens", ".2%"),
    ("rollout_logprob_gap", "log-prob gap, nats", ".1e"),
    ("grad_norm", "gradient norm", ".3f"),
    ("tokens_per_second", "tokens/s", ",.0f"),
)


class Report:
    """Shows one run of ``steps`` steps, from the rows of its ``metrics.jsonl``."""

    def __init__(self, steps: int, console: Console | None = None, *, silent: bool = False) -> None:
        self.console = console or Console(stderr=True, highlight=False, quiet=silent)
        self._steps = steps
        self._rows: list[Row] = []
        self._heard = time.time()
        self._spoke = -QUIET
        self._table: Table | None = None
        self._live = Live(console=self.console, refresh_per_second=4, get_renderable=self._view)
        self._shows_table = self.console.is_terminal and not silent

    def say(self, line: str, style: str = "") -> None:
        """One line, above the table where there is one. ``line`` is shown as it stands, brackets and all."""
        self.console.print(Text(line, style=style), soft_wrap=True)

    def recall(self, rows: Iterable[Row]) -> None:
        """Take up the rows of a run that goes on; nothing is said."""
        self._rows = [row for row in rows if row["kind"] in ("train", "eval")]

    def show(self, row: Row, heard: float | None = None) -> None:
        """Show a row of ``metrics.jsonl``, written at the time ``heard`` (default: now).

        A row that an earlier one stands for already, as after a resume, takes the place of that one and of those after.
        """
        self._heard = time.time() if heard is None else heard
        if row["kind"] == "warning":
            line = Text(f"warning    step {row['step'] + 1}: {row['seen']}. {row['try']}", style="yellow")
            self.console.print(line, soft_wrap=not self._shows_table)
            return
        while self._rows and _place(self._rows[-1]) >= _place(row):
            self._rows.pop()
        self._rows.append(row)
        self._table = None
        if row["kind"] == "eval":
            self.say(evaluation_line(row), "bold")
        elif self._shows_table:
            if not self._live.is_started:
                self._live.start()
        elif abs(row["seconds"] - self._spoke) >= QUIET or row["step"] + 1 == self._steps:
            self._spoke = row["seconds"]
            self.say(f"step {row['step'] + 1}/{self._steps} | {step_line(row)} | left {self._left()}")

    def completions(self, title: str, judged: Iterable[tuple[Example, str, Score]]) -> None:
        """Show completions with their scores."""
        self.say(title, "bold")
        for example, text, score in judged:
            self.say(f"--- {example.id}, gold {example.answer}", "dim")
            self.say(text)
            self.say(f"{score}", "cyan")

    def close(self) -> None:
        """Leave the table as it stands."""
        if self._live.is_started:
            self._live.stop()

    def _left(self) -> str:
        last, base = self._rows[-1], self._rows[-RECENT:][0]
        steps = _done(last) - _done(base)
        return clock((last["seconds"] - base["seconds"]) / steps * (self._steps - _done(last))) if steps else "?"

    def _view(self) -> Group:
        if not self._rows:
            return Group()
        last, silence = self._rows[-1], time.time() - self._heard
        self._table = self._table or table([row for row in self._rows if row["kind"] == "train"])
        title = f"step {_done(last)}/{self._steps}   elapsed {clock(last['seconds'])}   left {self._left()}"
        if silence >= SILENT and _done(last) < self._steps:
            title += f"   silent for {clock(silence)}"
        held_out = [row for row in self._rows if row["kind"] == "eval" and row["accuracy"] is not None]
        shown = "  ".join(f"{row['step']}: {row['accuracy']:.3f}" for row in held_out[-HELD_OUT:])
        return Group(Text(title, style="bold"), self._table, Text(f"held-out accuracy after step   {shown}"))


def table(rows: Sequence[Row]) -> Table:
    """Each metric of training rows: its last value, the mean of the last ten, and its course."""
    shown = Table(box=None, header_style="dim", pad_edge=False)
    shown.add_column("")
    shown.add_column("now", justify="right", min_width=8)
    shown.add_column("mean of 10", justify="right")
    shown.add_column("trend")
    row = rows[-1] if rows else {}
    metrics = [(name, name.replace("parts/", "  "), ".3f") for name in _rewards(row)]
    for name, label, form in [*metrics, *(metric for metric in ROWS if _says_anything(row, metric[0]))]:
        values = [value for one in rows if (value := one.get(name)) is not None]
        if values:
            last = values[-10:]
            shown.add_row(label, f"{values[-1]:{form}}", f"{sum(last) / len(last):{form}}", Text(trend(values)))
    return shown


def step_line(row: Row) -> str:
    """The metrics of a training row in one line."""
    shown = [f"{name} {row[name]:.3f}" for name in _rewards(row) if row[name] is not None]
    shown += [f"{name} {row[name]:{form}}" for name, _, form in ROWS if _says_anything(row, name)]
    return " | ".join(shown).replace("parts/", "")


def evaluation_line(row: Row) -> str:
    """Held-out accuracy in one line."""
    if row["accuracy"] is None:
        return f"held-out after {row['step']} steps: nothing could be scored"
    low, high = row["accuracy_low"], row["accuracy_high"]
    line = f"held-out after {row['step']} steps: greedy accuracy {row['accuracy']:.3f} (95% {low:.3f} to {high:.3f})"
    sampled = row.get("sampled_accuracy")
    line = line if sampled is None else f"{line}, sampled {sampled:.3f}"
    known = [(name.removesuffix("/accuracy"), row[name]) for name in task_accuracies(row) if row[name] is not None]
    return f"{line}; greedy by task: {', '.join(f'{task} {mean:.3f}' for task, mean in known)}" if known else line


def trend(values: Sequence[float], width: int = TREND) -> str:
    """A line of bars, each the mean of a stretch of values, between their smallest and their largest."""
    stretches = [values[at * len(values) // width : (at + 1) * len(values) // width] for at in range(width)]
    means = [sum(part) / len(part) for part in (stretches if len(values) >= width else [[v] for v in values])]
    low, high = min(means), max(means)
    return "".join(BARS[round((mean - low) / (high - low) * 7) if high > low else 0] for mean in means)


def clock(seconds: float) -> str:
    """M:SS, or H:MM:SS from an hour on."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _done(row: Row) -> int:
    """Updates that were made when the row was written."""
    return int(row["step"]) + int(row["kind"] == "train")


def _place(row: Row) -> tuple[int, bool]:
    """A row's place in the order of a run: the evaluation after n updates stands before update n (from 0)."""
    return int(row["step"]), row["kind"] == "train"


def _rewards(row: Row) -> list[str]:
    return [name for name in row if name == "reward" or name.startswith("parts/")] + task_accuracies(row)


def task_accuracies(row: Row) -> list[str]:
    """Names of the accuracies of single tasks, where a run has several."""
    return [name for name in row if name.endswith("/accuracy") and not name.startswith(("parts/", "sampled_"))]


def _says_anything(row: Row, name: str) -> bool:
    """Whether a metric says anything: not where there is no KL penalty, nothing unscored, nothing truncated."""
    optional = name in ("kl", "unscored", "clip_fraction", "truncated")
    return row.get(name) is not None and (row[name] != 0 or not optional)
