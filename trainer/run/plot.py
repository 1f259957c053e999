"""``grpo_env plot``: a picture of several runs, by step and by time, with one color per configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grpo_env.errors import RunError, UsageError
from grpo_env.figures import new_figure, style_axes

from .curves import running_mean
from .groups import Curve, RecordedRun, group_runs, mean_curve

COLORS = tuple(f"C{number}" for number in range(10))  # matplotlib's default colors
DASHES = ("--", ":", "-.", (0, (5, 1)), (0, (1, 3)), (0, (3, 1, 1, 1, 1, 1)))  # one for each seed
# Columns of the picture: title, kind of row, metric.
PANELS = (
    ("held-out accuracy, greedy", "eval", "accuracy"),
    ("held-out accuracy, sampled", "eval", "sampled_accuracy"),
    ("reward while training", "train", "reward"),
)


def plot_runs(folders: Sequence[Path], output: Path, console: Console) -> None:
    """Draw runs into ``output`` and print a table of them.

    A picture of the same runs is overwritten, any other file is not. Raises ``UsageError``.
    """
    if output.suffix != ".png":
        raise UsageError(f"{output}: the picture is a .png file; give --output a name that ends in .png")
    paths = sorted({str(folder.resolve()) for folder in folders})
    if len(paths) < len(folders):
        raise UsageError("a run is given twice; give each run once")
    signature = f"grpo_env plot {hashlib.sha256(repr(paths).encode()).hexdigest()}"
    if output.exists() and not (output.is_file() and signature.encode() in output.read_bytes()):
        raise UsageError(
            f"{output}: already exists and is not a picture of these runs; give another name with --output"
        )
    groups, other_differences = group_runs([RecordedRun.read(folder) for folder in folders])
    if len(groups) > len(COLORS):
        raise UsageError(f"{len(groups)} different configurations; one picture shows at most {len(COLORS)}")
    try:
        draw_runs(groups, other_differences).savefig(output, dpi=120, metadata={"Software": signature})
    except OSError as error:
        raise RunError(f"{output}: cannot be written ({error.strerror or error})") from error
    console.print(runs_table(groups))
    if other_differences:
        console.print(f"also different: {', '.join(other_differences)}", markup=False)
    console.print(f"Wrote {output}", markup=False, soft_wrap=True)


def draw_runs(groups: Mapping[str, Sequence[RecordedRun]], other_differences: Sequence[str]) -> Any:
    """A matplotlib figure: the mean of each group's seeds as a strong line, single seeds as thin dashed ones."""
    figure = new_figure(14, 8)
    panels = figure.subplots(2, len(PANELS), sharey="col")
    seeds = sorted({run.seed for runs in groups.values() if len(runs) > 1 for run in runs})
    dashes = {seed: DASHES[number % len(DASHES)] for number, seed in enumerate(seeds)}
    for (title, kind, metric), by_step, by_time in zip(PANELS, *panels, strict=True):
        style_axes(by_step, title, "step")
        by_step.locator_params("x", integer=True)
        style_axes(by_time, x_label="seconds of training, without evaluation and saving")
        for color, runs in zip(COLORS, groups.values(), strict=False):
            curves = [run.curve(kind, metric) for run in runs]
            for axes, x in ((by_step, 0), (by_time, 1)):
                marker = "o" if kind == "eval" else None
                line = _line(mean_curve(curves), x, smooth=kind == "train")
                axes.plot(*line, color=color, linewidth=2, marker=marker, markersize=4)
                for run, curve in zip(runs, curves, strict=True) if len(runs) > 1 else ():
                    line = _line(curve, x, smooth=kind == "train")
                    axes.plot(*line, color=color, linewidth=1, alpha=0.8, linestyle=dashes[run.seed])
    corner = panels[0, 0]
    handles = [corner.plot([], [], color=color, linewidth=2)[0] for color, _ in zip(COLORS, groups, strict=False)]
    handles += [corner.plot([], [], color="gray", linewidth=1, linestyle=dash)[0] for dash in dashes.values()]
    names = [name if len(runs) == 1 or not seeds else f"{name}, mean of {len(runs)}" for name, runs in groups.items()]
    names += [f"seed {seed}" for seed in seeds]
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=9)
    if other_differences:
        figure.suptitle(f"also different: {', '.join(other_differences)}", fontsize=8, wrap=True)
    return figure


def runs_table(groups: Mapping[str, Sequence[RecordedRun]]) -> Table:
    """The last evaluation of each run, with the seconds of training until then."""
    table = Table("configuration", "seed", "run", box=None, header_style="bold")
    for name in ("step", "seconds", "greedy", "sampled"):
        table.add_column(name, justify="right")
    for name, runs in groups.items():
        for run in runs:
            greedy, sampled = (run.curve("eval", metric)[-1:] for metric in ("accuracy", "sampled_accuracy"))
            when = [f"{greedy[0][0]}", f"{greedy[0][1]:.0f}"] if greedy else ["-", "-"]
            values = [f"{last[0][2]:.3f}" if last else "-" for last in (greedy, sampled)]
            table.add_row(Text(name), str(run.seed), Text(str(run.folder)), *when, *values)
    return table


def _line(curve: Curve, x: int, *, smooth: bool) -> tuple[list[float], list[float]]:
    values = [value for _, _, value in curve]
    return [point[x] for point in curve], running_mean(values) if smooth else values
