"""``curves.png``: rewards, held-out accuracy and completion length of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grpo_env.figures import new_figure, style_axes

from .console import task_accuracies

Row = Mapping[str, Any]


def plot_curves(rows: Sequence[Row], path: Path, title: str) -> None:
    """Draw the rows of ``metrics.jsonl`` into a PNG file."""
    train = [row for row in rows if row["kind"] == "train"]
    evaluations = [row for row in rows if row["kind"] == "eval"]
    figure = new_figure(13, 3.8, constrained=False)  # a constrained layout draws twice: half the time of a short run
    figure.subplots_adjust(left=0.04, right=0.99, bottom=0.13, top=0.84, wspace=0.12)
    rewards, accuracy, length = figure.subplots(1, 3)
    figure.suptitle(title)
    style_axes(rewards, "rewards while training", "step")
    style_axes(accuracy, "held-out accuracy", "step")
    style_axes(length, "completion length, tokens", "step")

    for name in dict.fromkeys(name for row in train for name in row if name.startswith("parts/")):
        _smooth_line(rewards, train, name, label=name.removeprefix("parts/"))
    _smooth_line(rewards, train, "reward", label="reward", color="black", linewidth=2)

    tasks = dict.fromkeys(name for row in evaluations for name in task_accuracies(row))
    labels = {"accuracy": "greedy", "sampled_accuracy": "sampled"}
    for name, label in (labels | {name: name.removesuffix("/accuracy") for name in tasks}).items():
        points = [(row["step"], row[name]) for row in evaluations if row.get(name) is not None]
        if points:
            accuracy.plot(*zip(*points, strict=True), marker="o", label=label)
    accuracy.set_ylim(-0.02, 1.02)

    _smooth_line(length, train, "length", label="sampled", color="tab:green")
    length.set_ylim(bottom=0)
    for axes in (rewards, accuracy, length):
        axes.locator_params("x", nbins=6, integer=True)
        if axes is not length and axes.lines:
            axes.legend(loc="best", fontsize=8)
    figure.savefig(path, dpi=120)


def running_mean(values: Sequence[float]) -> list[float]:
    """The mean of each value and those before it, over a twentieth of all values."""
    window = max(1, len(values) // 20)
    windows = [values[max(0, at - window) : at + 1] for at in range(len(values))]
    return [sum(part) / len(part) for part in windows]


def _smooth_line(
    axes: Any, rows: Sequence[Row], name: str, *, label: str, color: Any = None, linewidth: float = 1.5
) -> None:
    """The running mean as a strong line over the values as a faint one."""
    points = [(row["step"], row[name]) for row in rows if row.get(name) is not None]
    if not points:
        return
    steps, values = zip(*points, strict=True)
    (line,) = axes.plot(steps, running_mean(values), label=label, color=color, linewidth=linewidth)
    axes.plot(steps, values, color=line.get_color(), alpha=0.2, linewidth=1)
