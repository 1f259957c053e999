"""Tables and figure of the study, with 95 % intervals over seeds (Student's t, which assumes normal values)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

Row = Mapping[str, Any]
Runs = Mapping[int, Sequence[Row]]  # by seed: the rows of metrics.jsonl
Measure = tuple[str, Callable[[str, Sequence[Row]], float]]  # its name, and the value of a mode's run; nan: none

# 97.5 % quantiles of Student's t by degrees of freedom.
T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
LAST = 10  # steps with 64 completions of new problems each: 640 samples
BASELINE = "outcome"


def load(folder: Path, seeds: int) -> dict[int, list[Row]]:
    """The finished runs of a mode with the first ``seeds`` seeds, by seed."""
    runs = {}
    for run in sorted(folder.glob("*")):
        if (run / "model").exists() and int(run.name) < seeds:
            runs[int(run.name)] = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return runs


def learning_table(task: str, modes: Mapping[str, Runs]) -> list[str]:
    """Accuracy at equal steps and at equal time, and the paired differences to outcome supervision."""
    clocks = {mode: clock(runs, *rates(modes)) for mode, runs in modes.items()}
    budget = min(times[-1] for times in clocks.values())
    steps_in_budget = {mode: sum(time <= budget for time in times) for mode, times in clocks.items()}
    measures: list[Measure] = [
        ("held-out greedy", lambda mode, rows: held_out(rows)[-1]["accuracy"]),
        (f"last {LAST} steps", lambda mode, rows: fmean(curve(rows)[-LAST:])),
        ("all steps", lambda mode, rows: fmean(curve(rows))),
        (
            f"last {LAST} steps in {budget:.0f} s",
            lambda mode, rows: fmean(curve(rows)[: steps_in_budget[mode]][-LAST:]),
        ),
        (f"mean over {budget:.0f} s", lambda mode, rows: mean_over_time(curve(rows), clocks[mode], budget)),
    ]
    measures += [(name, lambda mode, rows, of=of: fmean(of(rows)[-LAST:])) for name, of in STEPS[task].items()]
    seconds = {mode: [f"{times[-1] / len(times):.2f}"] for mode, times in clocks.items()}
    return compared(f"{task} | seeds | s per step", modes, seconds, measures, [BASELINE])


def compared(
    head: str,
    modes: Mapping[str, Runs],
    first: Mapping[str, Sequence[str]],
    measures: Sequence[Measure],
    baselines: Sequence[str],
) -> list[str]:
    """A table of measures, with the columns ``head`` before them, and their differences to each of ``baselines``.

    ``first`` are the cells before the measures, after the number of seeds. Differences are paired by seed.
    """
    names = " | ".join(name for name, _ in measures)
    lines = [f"| {head} | {names} |", "|---" * (head.count("|") + 1 + len(measures)) + "|"]
    for mode, runs in modes.items():
        cells = [formatted(interval([measure(mode, rows) for rows in runs.values()])) for _, measure in measures]
        lines.append(f"| {' | '.join([mode, str(len(runs)), *first.get(mode, ()), *cells])} |")
    for baseline in baselines:
        for mode, runs in modes.items():
            seeds = sorted(runs.keys() & modes.get(baseline, {}).keys())
            if mode in baselines or not seeds:
                continue
            cells = [
                formatted(
                    interval([measure(mode, runs[s]) - measure(baseline, modes[baseline][s]) for s in seeds]), "+"
                )
                for _, measure in measures
            ]
            empty = [""] * len(first.get(mode, ()))
            lines.append(f"| {' | '.join([f'{mode} - {baseline}', str(len(seeds)), *empty, *cells])} |")
    return lines


def padding_table(modes: Mapping[str, Runs]) -> list[str]:
    """How much is written, how much of it is useless, and the accuracy."""
    lines = [
        f"| step rewards | seeds | useless fraction, first step | last {LAST} steps "
        f"| written per expected, first step | last {LAST} steps | accuracy, last {LAST} steps | held-out greedy |",
        "|---" * 8 + "|",
    ]
    for mode, runs in modes.items():
        columns = [
            [useless_fraction(rows)[0] for rows in runs.values()],
            [fmean(useless_fraction(rows)[-LAST:]) for rows in runs.values()],
            [written(rows)[0] for rows in runs.values()],
            [fmean(written(rows)[-LAST:]) for rows in runs.values()],
            [fmean(curve(rows)[-LAST:]) for rows in runs.values()],
            [held_out(rows)[-1]["accuracy"] for rows in runs.values()],
        ]
        cells = [
            formatted(interval(column), digits=digits)
            for column, digits in zip(columns, (3, 3, 2, 2, 3, 3), strict=True)
        ]
        lines.append(f"| {mode} | {len(runs)} | {' | '.join(cells)} |")
    return lines


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half width of its 95 % interval, which is infinite for a single value; nan if a value is."""
    if any(map(math.isnan, values)):
        return math.nan, math.nan
    if len(values) < 2:
        return values[0], math.inf
    return fmean(values), T[len(values) - 1] * stdev(values) / math.sqrt(len(values))


def formatted(estimate: tuple[float, float], sign: str = "", digits: int = 3) -> str:
    mean, half = estimate
    if math.isnan(mean):
        return "none"
    return f"{mean:{sign}.{digits}f}" + (f" ± {half:.{digits}f}" if half < math.inf else "")


def held_out(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["kind"] == "eval"]


def curve(rows: Sequence[Row], name: str = "accuracy") -> list[float]:
    """A metric of every training step, measured on problems that are new to the run."""
    return [row[name] for row in rows if row["kind"] == "train"]


def useless_fraction(rows: Sequence[Row]) -> list[float]:
    """The fraction of the equations written in each step that are useless."""
    return [a / b for a, b in zip(curve(rows, "parts/useless"), curve(rows, "parts/written"), strict=True)]


def written(rows: Sequence[Row]) -> list[float]:
    """The number of equations written in each step, divided by the number that the problems expect."""
    return [a / b for a, b in zip(curve(rows, "parts/written"), curve(rows, "parts/expected"), strict=True)]


# What the steps of a task show besides its accuracy, of which tables have the mean of the last steps.
EQUATIONS: Mapping[str, Callable[[Sequence[Row]], list[float]]] = {
    f"correct equations, last {LAST} steps": lambda rows: curve(rows, "parts/equations"),
    "written per expected": written,
}
STEPS = {
    "short": EQUATIONS,
    "long": EQUATIONS,
    "till": {
        f"looked up, last {LAST} steps": lambda rows: curve(rows, "parts/looked_up"),
        f"calls that can be run, last {LAST} steps": lambda rows: curve(rows, "parts/tool_calls"),
    },
}


def rates(modes: Mapping[str, Runs]) -> tuple[float, float]:
    """Seconds to sample a token and to train on a token, on this machine without other load.

    They are estimated by the fastest tenth of all steps of a task, because other load only adds time.
    """
    steps = [row for runs in modes.values() for rows in runs.values() for row in rows if row["kind"] == "train"]
    return (
        fastest((row["sample_seconds"], row["tokens"]) for row in steps),
        fastest((row["update_seconds"], trained_tokens(row)) for row in steps),
    )


def fastest(work: Iterable[tuple[float, float]]) -> float:
    """Seconds per amount of work, the fastest tenth of ``(seconds, amount)``; 0 if there was no work."""
    measured = sorted(seconds / amount for seconds, amount in work if amount)
    return measured[len(measured) // 10] if measured else 0.0


def trained_tokens(row: Row) -> float:
    """Tokens that a step trains on: those of groups whose advantages are not all 0."""
    return float(row["tokens"] * (1 - row["uniform_groups"]))


def clock(runs: Runs, sampling_rate: float, training_rate: float) -> list[float]:
    """Seconds from the start to the end of each step, computed from its work: the mean over seeds."""
    seconds = [
        [row["tokens"] * sampling_rate + trained_tokens(row) * training_rate for row in rows if row["kind"] == "train"]
        for rows in runs.values()
    ]
    return list(accumulate(fmean(step) for step in zip(*seconds, strict=True)))


def mean_over_time(values: Sequence[float], ends: Sequence[float], budget: float) -> float:
    """The mean of a step function over the first ``budget`` seconds; ``ends`` are the times at which its steps end."""
    starts = [0.0, *ends[:-1]]
    intervals = zip(values, starts, ends, strict=True)
    return sum(value * max(0.0, min(end, budget) - start) for value, start, end in intervals) / budget


def draw(tasks: Mapping[str, Mapping[str, Runs]], path: Path) -> None:
    """Draw learning curves over steps and over time, and the fraction of useless equations, with 95 % bands."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.6 * len(tasks)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(tasks), 2, squeeze=False)
    for (left, right), (task, modes) in zip(grid, tasks.items(), strict=True):
        for mode, runs in modes.items():
            seconds = clock(runs, *rates(modes))
            steps = list(range(1, len(seconds) + 1))
            if task == "padding":
                band(left, steps, [useless_fraction(rows) for rows in runs.values()], mode)
                band(right, steps, [written(rows) for rows in runs.values()], mode)
            else:
                band(left, steps, [curve(rows) for rows in runs.values()], mode)
                band(right, seconds, [curve(rows) for rows in runs.values()], mode)
        padding = task == "padding"
        left.set_title(
            f"{task}: fraction of useless equations" if padding else f"{task}: accuracy of sampled completions"
        )
        right.set_title(f"{task}: equations written per expected one" if padding else f"{task}: the same over time")
        left.set_xlabel("step")
        right.set_xlabel("step" if padding else "seconds, computed from the work")
        for axes in (left, right):
            axes.grid(alpha=0.3)
            axes.set_ylim(bottom=0)
        left.legend(loc="best", fontsize=8)
    figure.savefig(path, dpi=100)


def band(axes: Any, xs: Sequence[float], seeds: Sequence[Sequence[float]], label: str) -> None:
    """Draw the mean over seeds of running means, with its interval."""
    smooth = [[fmean(values[max(0, i - LAST // 2 + 1) : i + 1]) for i in range(len(values))] for values in seeds]
    means, halves = zip(*(interval(step) for step in zip(*smooth, strict=True)), strict=True)
    (line,) = axes.plot(xs, means, label=f"{label} ({len(seeds)})")
    if len(seeds) > 1:
        low, high = ([m + side * h for m, h in zip(means, halves, strict=True)] for side in (-1, 1))
        axes.fill_between(xs, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
