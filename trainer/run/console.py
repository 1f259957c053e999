"""The console output of a run, also shown by ``grpo_env watch``: a live table in a terminal, otherwise plain lines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from grpo_env.core import Example, Score
from grpo_env.terminal import escape_controls

Row = Mapping[str, Any]

BARS = "▁▂▃▄▅▆▇█"
TREND_WIDTH = 32  # characters of a trend line
LINE_INTERVAL = 3.0  # seconds of the run between two plain lines
PROGRESS_INTERVAL = 60.0  # seconds between two lines about an evaluation that is going on
STALLED_AFTER = 10.0  # seconds without a new row after which the table says so
RECENT_ROWS = 50  # rows that the remaining time is estimated from
SHOWN_EVALUATIONS = 8  # in the last line of the table
QUESTION_WIDTH = 300  # characters

# Metrics shown below the parts of the reward: name, label, format.
METRICS = (
    ("length", "length, tokens", ".1f"),
    ("truncated", "truncated", ".1%"),
    ("unscored", "unscored", ".1%"),
    ("turns", "turns", ".2f"),
    ("calls", "tool calls", ".2f"),
    ("call_problems", "calls with a problem", ".1%"),
    ("out_of_turns", "out of turns", ".1%"),
    ("environments_failed", "failed environments", ",.0f"),
    ("uniform_groups", "uniform groups", ".1%"),
    ("kl", "KL to the start", ".4f"),
    ("entropy", "entropy, nats", ".3f"),
    ("clip_fraction", "clipped tokens", ".2%"),
    ("rollout_logprob_gap", "log-prob gap, nats", ".1e"),
    ("astray", "left out by the gap", ".2%"),
    ("grad_norm", "gradient norm", ".3f"),
    ("tokens_per_second", "tokens/s", ",.0f"),
    ("value_tokens", "tokens for values", ",.0f"),
    ("value_seconds", "seconds for values", ".2f"),
    ("reward_model/agreement", "model agrees with rule", ".1%"),
    ("reward_model/pairs", "pairs in order", ".1%"),
)
EPISODE_PROBLEMS = ("calls", "call_problems", "out_of_turns", "environments_failed")


def question(example: Example) -> str:
    """The last message of an example's prompt, or the end of a text, in at most ``QUESTION_WIDTH`` characters."""
    text = example.prompt if isinstance(example.prompt, str) else example.prompt[-1].content if example.prompt else ""
    text = " ".join(text.split())
    return text if len(text) <= QUESTION_WIDTH else f"… {text[-QUESTION_WIDTH:]}"


class RunConsole:
    """Shows a run of ``steps`` steps, row by row of its ``metrics.jsonl``: ``step 0 (1/30)`` is the first of 30."""

    def __init__(self, steps: int, console: Console | None = None, *, process: int = 0) -> None:
        """``process``: of several, only number 0 shows more than ``report``."""
        silent = process > 0
        self.console = console or Console(stderr=True, highlight=False, quiet=silent)
        self._process = process
        self._steps = steps
        self._rows: list[Row] = []
        self._last_row_time = time.time()
        self._last_line_seconds = -LINE_INTERVAL
        self._table: Table | None = None
        self._progress = ""
        self._live = Live(console=self.console, refresh_per_second=4, get_renderable=self._render)
        self._shows_table = self.console.is_terminal and not silent

    def print(self, line: str, style: str = "") -> None:
        """Print a line, above the table if there is one. Brackets are not markup, and nothing steers the terminal."""
        self.console.print(Text(escape_controls(line), style=style), soft_wrap=True)

    def report(self, line: str) -> None:
        """Print a line about a problem of this process, which may be none of the others'."""
        if self._process:
            line = f"process {self._process}: {line}"
            Console(stderr=True, highlight=False).print(Text(escape_controls(line), style="red"), soft_wrap=True)
        else:
            self.print(line, "red")

    def restore(self, rows: Iterable[Row]) -> None:
        """Take over the rows of a resumed run without printing them."""
        self._rows = [row for row in rows if row["kind"] in ("train", "eval")]

    def show(self, row: Row, written: float | None = None) -> None:
        """Show a row of ``metrics.jsonl``, which was ``written`` at this time (default: now).

        If the run was resumed and writes a step again, the row replaces the earlier one and all rows after that.
        """
        self._last_row_time = time.time() if written is None else written
        if row["kind"] == "warning":
            line = Text(f"warning    step {row['step']}: {row['seen']}. {row['try']}", style="yellow")
            self.console.print(line, soft_wrap=not self._shows_table)
            return
        while self._rows and _order(self._rows[-1]) >= _order(row):
            self._rows.pop()
        self._rows.append(row)
        self._table = None
        if row["kind"] == "eval":
            self.print(evaluation_line(row), "bold")
        elif self._shows_table:
            if not self._live.is_started:
                self._live.start()
        elif abs(row["seconds"] - self._last_line_seconds) >= LINE_INTERVAL or row["step"] + 1 == self._steps:
            self._last_line_seconds = row["seconds"]
            self.print(f"step {row['step']} ({row['step'] + 1}/{self._steps}) | {step_line(row)} | left {self._left()}")

    @contextmanager
    def progress(self, label: str, total: int, advice: str = "") -> Iterator[Callable[[int], None]]:
        """Show how many completions of ``total`` are done: in the table, otherwise as a line every minute.

        The block gets a function to call with the number of further completions. ``advice`` is added to the first line.
        """
        done, finished, began = 0, threading.Event(), time.monotonic()

        def advance(count: int) -> None:
            nonlocal done
            done += count
            self._progress = f"{label}: {done} of {total} completions"

        def print_lines() -> None:
            further = advice
            while not finished.wait(PROGRESS_INTERVAL):
                if not self._live.is_started:
                    left = clock((time.monotonic() - began) / done * (total - done)) if done else "?"
                    self.print(f"{self._progress}, left {left}{further}", "dim")
                    further = ""

        advance(0)
        thread = threading.Thread(target=print_lines, daemon=True)
        thread.start()
        try:
            yield advance
        finally:
            finished.set()
            thread.join()
            self._progress = ""

    def completions(self, title: str, scored: Iterable[tuple[Example, str, Score]]) -> None:
        """Show completions with their scores."""
        self.print(title, "bold")
        for example, text, score in scored:
            self.print(f"--- {example.id}, gold {example.answer}", "dim")
            self.print(question(example), "dim")
            self.print(text)
            self.print(f"{score}", "cyan")

    def close(self) -> None:
        """Stop updating the table and leave it on the screen."""
        if self._live.is_started:
            self._live.stop()

    def _left(self) -> str:
        last, base = self._rows[-1], self._rows[-RECENT_ROWS:][0]
        steps = _updates(last) - _updates(base)
        return clock((last["seconds"] - base["seconds"]) / steps * (self._steps - _updates(last))) if steps else "?"

    def _render(self) -> Group:
        if not self._rows:
            return Group()
        last, stalled = self._rows[-1], time.time() - self._last_row_time
        self._table = self._table or metrics_table([row for row in self._rows if row["kind"] == "train"])
        title = f"{_updates(last)}/{self._steps} steps   elapsed {clock(last['seconds'])}   left {self._left()}"
        if self._progress:
            title += f"   {self._progress}"
        elif stalled >= STALLED_AFTER and _updates(last) < self._steps:
            title += f"   no new row for {clock(stalled)}"
        evaluations = [row for row in self._rows if row["kind"] == "eval" and row["accuracy"] is not None]
        accuracies = "  ".join(f"{row['step']}: {row['accuracy']:.3f}" for row in evaluations[-SHOWN_EVALUATIONS:])
        return Group(Text(title, style="bold"), self._table, Text(f"held-out accuracy after step   {accuracies}"))


def metrics_table(rows: Sequence[Row]) -> Table:
    """A table of the metrics of training rows: last value, mean of the last ten, and trend."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("")
    table.add_column("now", justify="right", min_width=8)
    table.add_column("mean of 10", justify="right")
    table.add_column("trend")
    row = rows[-1] if rows else {}
    metrics = [(name, name.replace("parts/", "  "), ".3f") for name in _rewards(row)]
    for name, label, form in [*metrics, *(metric for metric in METRICS if _is_shown(row, metric[0]))]:
        values = [value for earlier in rows if (value := earlier.get(name)) is not None]
        if values:
            last = values[-10:]
            table.add_row(label, f"{values[-1]:{form}}", f"{sum(last) / len(last):{form}}", Text(trend(values)))
    return table


def step_line(row: Row) -> str:
    """The metrics of a training row in one line."""
    values = [f"{name} {row[name]:.3f}" for name in _rewards(row) if row[name] is not None]
    values += [f"{name} {row[name]:{form}}" for name, _, form in METRICS if _is_shown(row, name)]
    return " | ".join(values).replace("parts/", "")


def evaluation_line(row: Row) -> str:
    """Held-out accuracy in one line."""
    if row["accuracy"] is None:
        return f"held-out after {row['step']} steps: nothing could be scored"
    low, high = row["accuracy_low"], row["accuracy_high"]
    line = f"held-out after {row['step']} steps: greedy accuracy {row['accuracy']:.3f} (95% {low:.3f} to {high:.3f})"
    sampled = row.get("sampled_accuracy")
    line = line if sampled is None else f"{line}, sampled {sampled:.3f}"
    means = {name.removesuffix("/accuracy"): row[name] for name in task_accuracies(row)}
    tasks = [f"{task} {mean:.3f}" for task, mean in means.items() if mean is not None]
    return f"{line}; greedy by task: {', '.join(tasks)}" if tasks else line


def step_values_line(rows: Sequence[Row]) -> str:
    """What the step values of a run cost, from its training rows; if there are none, why."""
    values, tokens, seconds = (sum(row[name] for row in rows) for name in ("values", "value_tokens", "value_seconds"))
    if not values and all(row["uniform_groups"] == 1 for row in rows):
        return "none: in each group all rewards were equal, so there is nothing to learn from its steps"
    if not values:
        return "none: no step of a completion in a group with different rewards was continued"
    ratio = tokens / max(1, sum(row["tokens"] for row in rows))
    whole = sum(row["sample_seconds"] + row["update_seconds"] for row in rows)
    return (
        f"{values:,} values from {tokens:,} tokens, {ratio:.2f} for each token of the completions, in {seconds:.1f} of "
        f"{whole:.1f} s of training"
    )


def trend(values: Sequence[float], width: int = TREND_WIDTH) -> str:
    """Bars between the smallest and the largest value; if not all fit, each is the mean of several values."""
    bins = [values[at * len(values) // width : (at + 1) * len(values) // width] for at in range(width)]
    means = [sum(part) / len(part) for part in bins] if len(values) >= width else values
    low, high = min(means), max(means)
    return "".join(BARS[round((mean - low) / (high - low) * 7) if high > low else 0] for mean in means)


def clock(seconds: float) -> str:
    """M:SS, or H:MM:SS from an hour on."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _updates(row: Row) -> int:
    """Number of updates before the row was written."""
    return int(row["step"]) + int(row["kind"] == "train")


def _order(row: Row) -> tuple[int, bool]:
    """Sort key of a run's rows: the evaluation after n updates comes before update n (from 0)."""
    return int(row["step"]), row["kind"] == "train"


def _rewards(row: Row) -> list[str]:
    return [name for name in row if name == "reward" or name.startswith("parts/")] + task_accuracies(row)


def task_accuracies(row: Row) -> list[str]:
    """Names of the accuracies of single tasks, if a run has several."""
    return [name for name in row if name.endswith("/accuracy") and not name.startswith(("parts/", "sampled_"))]


def _is_shown(row: Row, name: str) -> bool:
    """Whether a row has a metric; some are hidden at 0, such as the KL without a KL penalty."""
    optional = name in ("kl", "unscored", "clip_fraction", "truncated", "astray", *EPISODE_PROBLEMS)
    return row.get(name) is not None and (row[name] != 0 or not optional)
