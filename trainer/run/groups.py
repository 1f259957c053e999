"""Recorded runs, grouped by their configuration: runs of one group differ only in their seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.taskfile.yaml_file import read_yaml

from .folder import TASK, RunFiles, read_config

Curve = list[tuple[int, float, float]]  # number of updates, seconds of training until then, value


@dataclass(frozen=True)
class RecordedRun:
    """A run as its folder records it; keys of ``task`` and ``settings`` (without the seed) are dotted."""

    folder: Path
    task: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    rows: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> RecordedRun:
        """Raises ``UsageError`` for a folder that is not a run, or has no metrics yet."""
        settings = _flat(read_config(folder))
        seed = settings.pop("seed")
        task = read_yaml(folder / TASK)
        for key in ("train", "cases", "description", "version"):
            task.pop(key, None)
        rows = RunFiles(folder).metrics()
        if not rows:
            raise UsageError(f"{folder}: nothing to plot yet: metrics.jsonl has no rows")
        return cls(folder, _flat(task), settings, seed, rows)

    def curve(self, kind: str, metric: str) -> Curve:
        """A metric by number of updates, without the points that have no value."""
        steps = (row["sample_seconds"] + row["update_seconds"] for row in self.rows if row["kind"] == "train")
        seconds = list(accumulate(steps, initial=0.0))
        rows = [row for row in self.rows if row["kind"] == kind and row.get(metric) is not None]
        return [(row["step"], seconds[row["step"]], row[metric]) for row in rows]


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean of curves, in time and value, at the steps where all of them have a point."""
    by_step = [{point[0]: point for point in curve} for curve in curves]
    common = sorted(set.intersection(*(set(points) for points in by_step)))
    return [(step, fmean(p[step][1] for p in by_step), fmean(p[step][2] for p in by_step)) for step in common]


def group_runs(runs: Sequence[RecordedRun]) -> tuple[dict[str, list[RecordedRun]], list[str]]:
    """Runs by configuration, seeds ascending, and the settings that differ but are not part of the groups' names.

    A group is named by the fewest settings that distinguish it from the others. Runs of one configuration and one seed
    are groups of their own, named by their folders. Settings that not all runs have, since they were added to the
    package between them, are ignored.
    """
    groups = _same_configuration(runs)
    keys = dict.fromkeys(key for configuration, _ in groups for key in configuration)
    differ = [key for key in keys if len({repr(configuration.get(key)) for configuration, _ in groups}) > 1]
    naming: list[str] = []
    for key in differ:
        if _distinct(groups, [*naming, key]) > _distinct(groups, naming):
            naming.append(key)
    names = [
        ", ".join(f"{key}={configuration.get(key)}" for key in naming) or str(configuration["task"])
        for configuration, _ in groups
    ]
    named = {name: group for name, (_, group) in zip(names, groups, strict=True)}
    return named, [key for key in differ if key not in naming]


Group = tuple[dict[str, Any], list[RecordedRun]]


def _same_configuration(runs: Sequence[RecordedRun]) -> list[Group]:
    shared = set[str].intersection(*(set(run.settings) for run in runs))
    same: dict[str, Group] = {}
    for run in sorted(runs, key=lambda run: run.seed):
        settings = {key: value for key, value in run.settings.items() if key in shared}
        configuration = {"task": run.task["task"], **settings, **run.task}
        same.setdefault(repr(sorted(configuration.items())), (configuration, []))[1].append(run)
    groups: list[Group] = []
    for configuration, group in same.values():
        if len({run.seed for run in group}) == len(group):
            groups.append((configuration, group))
        else:
            groups += [({**configuration, "run": str(run.folder)}, [run]) for run in group]
    return groups


def _distinct(groups: Sequence[Group], keys: Sequence[str]) -> int:
    return len({repr([configuration.get(key) for key in keys]) for configuration, _ in groups})


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested keys as dotted ones."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
