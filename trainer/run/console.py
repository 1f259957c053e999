"""The console output of a run: lines for its rows of metrics, its evaluations and what goes wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console

from grpo_env.console import plain_console
from grpo_env.core import Example, Score
from grpo_env.progress import clock
from grpo_env.terminal import escape_controls

Row = Mapping[str, Any]

LINE_INTERVAL = 3.0  # seconds of the run between two lines about steps
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
