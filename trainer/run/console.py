"""The console output of a run: lines for its rows of metrics, its evaluations and what goes wrong."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from grpo_env.console import plain_console
from grpo_env.core import Example, Score
from grpo_env.terminal import escape_controls

Row = Mapping[str, Any]

LINE_INTERVAL = 3.0  # seconds of the run between two lines about steps
PROGRESS_INTERVAL = 60.0  # seconds between two lines about the progress of sampling
RECENT_ROWS = 50  # rows that the remaining time is estimated from
QUESTION_WIDTH = 300  # characters

# Metrics after the parts of the reward: name, format.
METRICS = (
    ("length", ".1f"),
    ("truncated", ".1%"),
    ("unscored", ".1%"),
    ("turns", ".2f"),
    ("calls", ".2f"),
    ("call_problems", ".1%"),
    ("out_of_turns", ".1%"),
    ("environments_failed", ",.0f"),
    ("uniform_groups", ".1%"),
    ("phantom_gradient", ".1%"),
    ("kl", ".4f"),
    ("entropy", ".3f"),
    ("clip_fraction", ".2%"),
    ("rollout_logprob_gap", ".1e"),
    ("grad_norm", ".3f"),
    ("tokens_per_second", ",.0f"),
    ("value_tokens", ",.0f"),
    ("value_seconds", ".2f"),
)
HIDDEN_AT_ZERO = {"kl", "unscored", "clip_fraction", "truncated", "phantom_gradient"} | {
    *("calls", "call_problems", "out_of_turns", "environments_failed")
}


def question(example: Example) -> str:
    """The last message of an example's prompt, or the end of a text, in at most ``QUESTION_WIDTH`` characters."""
    text = example.prompt if isinstance(example.prompt, str) else example.prompt[-1].content if example.prompt else ""
    text = " ".join(text.split())
    return text if len(text) <= QUESTION_WIDTH else f"… {text[-QUESTION_WIDTH:]}"


class RunConsole:
    """Shows a run of ``steps`` steps, row by row of its ``metrics.jsonl``: ``step 0 (1/30)`` is the first of 30."""

    def __init__(self, steps: int, console: Console | None = None, *, process: int = 0) -> None:
        """``process``: of several, only number 0 shows more than ``report``."""
        self.console = console or plain_console(stderr=True, quiet=process > 0)
        self.steps, self._process = steps, process
        self._rows: deque[Row] = deque(maxlen=RECENT_ROWS)
        self._last_line_seconds = -LINE_INTERVAL

    def print(self, line: str, style: str = "") -> None:
        """Print a line. Brackets are not markup, and nothing steers the terminal."""
        self.console.print(escape_controls(line), style=style, soft_wrap=True)

    def report(self, line: str) -> None:
        """Print a line about a problem of this process, which may be none of the others'."""
        if self._process:
            line = f"process {self._process}: {line}"
            plain_console(stderr=True).print(escape_controls(line), style="red", soft_wrap=True)
        else:
            self.print(line, "red")

    def restore(self, rows: Iterable[Row]) -> None:
        """Take over the rows of a resumed run without printing them."""
        self._rows.extend(row for row in rows if row["kind"] in ("train", "eval"))

    def show(self, row: Row) -> None:
        """Show a row of ``metrics.jsonl``; of those of steps, at most one every ``LINE_INTERVAL``, and the last."""
        if row["kind"] == "warning":
            self.print(f"warning    step {row['step']}: {row['seen']}. {row['try']}", "yellow")
            return
        self._rows.append(row)
        if row["kind"] == "eval":
            self.print(evaluation_line(row), "bold")
        elif abs(row["seconds"] - self._last_line_seconds) >= LINE_INTERVAL or row["step"] + 1 == self.steps:
            self._last_line_seconds = row["seconds"]
            self.print(f"step {row['step']} ({row['step'] + 1}/{self.steps}) | {step_line(row)} | left {self._left()}")

    def progress(self, label: str, total: int, advice: str = "") -> AbstractContextManager[Callable[[int], None]]:
        """See ``progress``."""
        return progress(label, total, self.console, advice)

    def completions(self, title: str, scored: Iterable[tuple[Example, str, Score]]) -> None:
        """Show completions with their scores."""
        self.print(title, "bold")
        for example, text, score in scored:
            self.print(f"--- {example.id}, gold {example.answer}", "dim")
            self.print(question(example), "dim")
            self.print(text)
            self.print(f"{score}", "cyan")

    def _left(self) -> str:
        last, base = self._rows[-1], self._rows[0]
        steps = _updates(last) - _updates(base)
        return clock((last["seconds"] - base["seconds"]) / steps * (self.steps - _updates(last))) if steps else "?"


def step_line(row: Row) -> str:
    """The metrics of a training row in one line."""
    values = [f"{name} {row[name]:.3f}" for name in _rewards(row) if row[name] is not None]
    values += [f"{name} {row[name]:{form}}" for name, form in METRICS if _is_shown(row, name)]
    return " | ".join(values).replace("parts/", "")


def evaluation_line(row: Row) -> str:
    """Held-out accuracy in one line."""
    if row["accuracy"] is None:
        return f"held-out after {row['step']} steps: nothing could be scored"
    line = f"held-out after {row['step']} steps: greedy accuracy {row['accuracy']:.3f}"
    if row["accuracy_low"] is not None:
        line += f" (95% {row['accuracy_low']:.3f} to {row['accuracy_high']:.3f})"
    sampled = row.get("sampled_accuracy")
    line = line if sampled is None else f"{line}, sampled {sampled:.3f}"
    means = {name.removesuffix("/accuracy"): row[name] for name in task_accuracies(row)}
    tasks = [f"{task} {mean:.3f}" for task, mean in means.items() if mean is not None]
    return f"{line}; greedy by task: {', '.join(tasks)}" if tasks else line


def _updates(row: Row) -> int:
    """Number of updates before the row was written."""
    return int(row["step"]) + int(row["kind"] == "train")


def _rewards(row: Row) -> list[str]:
    return [name for name in row if name == "reward" or name.startswith("parts/")] + task_accuracies(row)


def task_accuracies(row: Row) -> list[str]:
    """Names of the accuracies of single tasks, if a run has several."""
    return [name for name in row if name.endswith("/accuracy") and not name.startswith(("parts/", "sampled_"))]


def _is_shown(row: Row, name: str) -> bool:
    """Whether a row has a metric; some are hidden at 0, such as the KL without a KL penalty."""
    return row.get(name) is not None and (row[name] != 0 or name not in HIDDEN_AT_ZERO)


@contextmanager
def progress(label: str, total: int, console: Console, advice: str = "") -> Iterator[Callable[[int], None]]:
    """How far sampling is, and the time left: a bar on a terminal, a line every minute elsewhere.

    The block gets a function to call with the number of further completions of ``total``. ``advice`` is added to the
    first line.
    """
    if console.is_terminal:
        columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.completed:,} of {task.total:,} completions"))
        with Progress(TextColumn(label), *columns, TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task(label, total=total)
            yield lambda count: bar.advance(task, count)
        return
    done, finished, began = 0, threading.Event(), time.monotonic()

    def advance(count: int) -> None:
        nonlocal done
        done += count

    def print_lines() -> None:
        further = advice
        while not finished.wait(PROGRESS_INTERVAL):
            left = clock((time.monotonic() - began) / done * (total - done)) if done else "?"
            line = f"{label}: {done:,} of {total:,} completions, left {left}{further}"
            console.print(line, style="dim", soft_wrap=True)
            further = ""

    thread = threading.Thread(target=print_lines, daemon=True)
    thread.start()
    try:
        yield advance
    finally:
        finished.set()
        thread.join()


def clock(seconds: float) -> str:
    """M:SS, or H:MM:SS from an hour on."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
