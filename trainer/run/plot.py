"""``grpo_env plot``: runs in one picture, by step and by time; a colour for a configuration, a dash for each seed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grpo_env.errors import RunError, UsageError
from grpo_env.figures import new_figure
from grpo_env.taskfile.yaml_file import read_yaml

from .curves import running_mean
from .folder import RunFiles, read_config

COLOURS = tuple(f"C{number}" for number in range(10))  # those of matplotlib
DASHES = ("--", ":", "-.", (0, (5, 1)), (0, (1, 3)), (0, (3, 1, 1, 1, 1, 1)))
# Column of the picture: title, kind of row, metric.
PANELS = (
    ("held-out accuracy, greedy", "eval", "accuracy"),
    ("held-out accuracy, sampled", "eval", "sampled_accuracy"),
    ("reward while training", "train", "reward"),
)

Curve = list[tuple[int, float, float]]  # number of updates, seconds of training until then, value


@dataclass(frozen=True)
class Seen:
    """What is drawn of a run: its task with dotted keys, its settings without the seed, the seed, its metrics."""

    folder: Path
    task: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    rows: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> Seen:
        """Raises ``UsageError`` for a folder that is no run, or has no metrics yet."""
        settings = _flat(read_config(folder))
        seed = settings.pop("seed")
        task = read_yaml(folder / "task.yaml")
        kept = {key: value for key, value in task.items() if key not in ("train", "cases", "description", "version")}
        rows = RunFiles(folder).metrics()
        if not rows:
            raise UsageError(f"{folder}: nothing to draw yet: it has no rows in metrics.jsonl")
        return cls(folder, _flat(kept), settings, seed, rows)

    def curve(self, kind: str, metric: str) -> Curve:
        """A metric of the weights after each number of updates; points without a value are left out."""
        steps = (row["sample_seconds"] + row["update_seconds"] for row in self.rows if row["kind"] == "train")
        seconds = list(accumulate(steps, initial=0.0))
        found = [row for row in self.rows if row["kind"] == kind and row.get(metric) is not None]
        return [(row["step"], seconds[row["step"]], row[metric]) for row in found]


def compare(folders: Sequence[Path], output: Path, talk: Console) -> None:
    """Draw runs into ``output`` and list them on ``talk``.

    A picture of the same runs is drawn anew; any other file is left as it is. Raises ``UsageError``.
    """
    if output.suffix != ".png":
        raise UsageError(f"{output}: the picture is a .png file; give --output a name that ends so")
    places = sorted({str(folder.resolve()) for folder in folders})
    if len(places) < len(folders):
        raise UsageError("a run is given twice; each is one line of the picture")
    mark = f"grpo_env plot {hashlib.sha256(repr(places).encode()).hexdigest()}"
    if output.exists() and not (output.is_file() and mark.encode() in output.read_bytes()):
        raise UsageError(
            f"{output}: exists already and is not a picture of these runs; give another name with --output"
        )
    groups, also = grouped([Seen.read(folder) for folder in folders])
    if len(groups) > len(COLOURS):
        raise UsageError(f"{len(groups)} different configurations; one picture shows at most {len(COLOURS)}")
    try:
        draw(groups, also).savefig(output, dpi=120, metadata={"Software": mark})
    except OSError as error:
        raise RunError(f"{output}: cannot be written ({error.strerror or error})") from error
    talk.print(listing(groups))
    if also:
        talk.print(f"also different: {', '.join(also)}", markup=False)
    talk.print(f"Wrote {output}", markup=False, soft_wrap=True)


def grouped(runs: Sequence[Seen]) -> tuple[dict[str, list[Seen]], list[str]]:
    """Runs by configuration, seeds ascending, named by the fewest keys that tell them apart; other keys that differ.

    Runs that nothing tells apart are named by their folders. Settings that a run does not have, because they were not
    there yet when it was made, tell nothing.
    """
    shared = set[str].intersection(*(set(run.settings) for run in runs))
    alike: dict[str, list[tuple[dict[str, Any], Seen]]] = {}
    for run in sorted(runs, key=lambda run: run.seed):
        settings = {key: value for key, value in run.settings.items() if key in shared}
        configuration = {"task": run.task["task"], **settings, **run.task}
        alike.setdefault(repr(sorted(configuration.items())), []).append((configuration, run))
    groups: list[tuple[dict[str, Any], list[Seen]]] = []
    for found in alike.values():
        if len({run.seed for _, run in found}) == len(found):
            groups.append((found[0][0], [run for _, run in found]))
        else:
            groups += [({**configuration, "run": str(run.folder)}, [run]) for configuration, run in found]
    keys = dict.fromkeys(key for settings, _ in groups for key in settings)
    differ = [key for key in keys if len({repr(settings.get(key)) for settings, _ in groups}) > 1]
    chosen: list[str] = []
    for key in differ:
        if _told_apart(groups, [*chosen, key]) > _told_apart(groups, chosen):
            chosen.append(key)
    named = {", ".join(f"{key}={s.get(key)}" for key in chosen) or str(s["task"]): found for s, found in groups}
    return named, [key for key in differ if key not in chosen]


def draw(groups: Mapping[str, Sequence[Seen]], also: Sequence[str]) -> Any:
    """The picture, a matplotlib figure: a strong line for each group, the mean of its seeds, which are thin ones."""
    figure = new_figure(14, 8)
    panels = figure.subplots(2, len(PANELS), sharey="col")
    seeds = sorted({run.seed for runs in groups.values() if len(runs) > 1 for run in runs})
    dashes = {seed: DASHES[at % len(DASHES)] for at, seed in enumerate(seeds)}
    for (title, kind, metric), by_step, by_time in zip(PANELS, *panels, strict=True):
        for colour, runs in zip(COLOURS, groups.values(), strict=False):
            curves = [run.curve(kind, metric) for run in runs]
            style = {"color": colour, "linewidth": 2, "marker": "o" if kind == "eval" else None, "markersize": 4}
            for axes, x in ((by_step, 0), (by_time, 1)):
                axes.plot(*_line(mean(curves), x, smooth=kind == "train"), **style)
                for run, curve in zip(runs, curves, strict=True) if len(runs) > 1 else ():
                    thin = {"color": colour, "linewidth": 1, "alpha": 0.8, "linestyle": dashes[run.seed]}
                    axes.plot(*_line(curve, x, smooth=kind == "train"), **thin)
        by_step.set_title(title)
        by_step.set_xlabel("step")
        by_time.set_xlabel("seconds of training, without evaluation and saving")
        for axes in (by_step, by_time):
            axes.grid(alpha=0.3)
    corner = panels[0, 0]
    marks = [corner.plot([], [], color=colour, linewidth=2)[0] for colour, _ in zip(COLOURS, groups, strict=False)]
    marks += [corner.plot([], [], color="gray", linewidth=1, linestyle=dash)[0] for dash in dashes.values()]
    names = [name if len(runs) == 1 or not seeds else f"{name}, mean of {len(runs)}" for name, runs in groups.items()]
    figure.legend(marks, [*names, *(f"seed {seed}" for seed in seeds)], loc="outside lower center", ncols=4, fontsize=9)
    if also:
        figure.suptitle(f"also different: {', '.join(also)}", fontsize=8, wrap=True)
    return figure


def mean(curves: Sequence[Curve]) -> Curve:
    """The mean of curves where all of them have a point, in time as in value."""
    points = [{point[0]: point for point in curve} for curve in curves]
    common = sorted(set.intersection(*(set(each) for each in points)))
    return [(step, fmean(p[step][1] for p in points), fmean(p[step][2] for p in points)) for step in common]


def listing(groups: Mapping[str, Sequence[Seen]]) -> Table:
    """Where each run stands: its last evaluation, and the seconds of training until then."""
    table = Table("configuration", "seed", "run", box=None, header_style="bold")
    for name in ("step", "seconds", "greedy", "sampled"):
        table.add_column(name, justify="right")
    for name, runs in groups.items():
        for run in runs:
            greedy, sampled = (run.curve("eval", metric)[-1:] for metric in ("accuracy", "sampled_accuracy"))
            where = [f"{greedy[0][0]}", f"{greedy[0][1]:.0f}"] if greedy else ["-", "-"]
            values = [f"{end[0][2]:.3f}" if end else "-" for end in (greedy, sampled)]
            table.add_row(Text(name), str(run.seed), Text(str(run.folder)), *where, *values)
    return table


def _line(curve: Curve, x: int, *, smooth: bool) -> tuple[list[float], list[float]]:
    values = [value for _, _, value in curve]
    return [point[x] for point in curve], running_mean(values) if smooth else values


def _told_apart(groups: Sequence[tuple[Mapping[str, Any], Any]], keys: Sequence[str]) -> int:
    return len({repr([settings.get(key) for key in keys]) for settings, _ in groups})


def _flat(tree: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Nested keys as dotted ones."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        flat |= _flat(value, f"{above}{key}.") if isinstance(value, dict) else {f"{above}{key}": value}
    return flat
