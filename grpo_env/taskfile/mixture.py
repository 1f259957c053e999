"""Mixtures: several tasks in one training run, each with a weight, as in Open-R1's ``dataset_mixture``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from grpo_env.errors import UsageError

from .schema import NAME, Section, Version
from .task import Task, find_task_file, load_task, make_task
from .validation import validate
from .yaml_file import read_yaml


class MemberSpec(Section):
    """A task and its weight."""

    use: str | dict[str, Any]
    """A task's name, file (relative to this one), or a whole task."""
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """Its share of the prompts."""


class MixtureSpec(Section):
    """A mixture file."""

    version: Version
    """Of this format."""
    task: str = Field(pattern=NAME)
    """Its name."""
    description: str = ""
    """One line for the list of tasks."""
    mixture: list[MemberSpec] = Field(min_length=1)
    """Its tasks."""
    train: dict[str, Any] = Field(default={})
    """Recommended training settings; those of its tasks are not used."""


@dataclass(frozen=True)
class Mixture:
    """Tasks with their weights: fractions of the prompts of a step, up to a common factor.

    ``defaults`` are recommended training settings, ``source`` names the file in messages.
    """

    name: str
    source: str
    members: tuple[tuple[Task, float], ...]
    defaults: Mapping[str, Any]

    @classmethod
    def of(cls, task: Task) -> Mixture:
        """A mixture of one task."""
        return cls(task.name, task.source, ((task, 1.0),), task.defaults)

    @property
    def tasks(self) -> list[Task]:
        """The tasks, in order."""
        return [task for task, _ in self.members]

    def resolved(self) -> dict[str, Any]:
        """A YAML-ready mapping; loading it again gives the same tasks."""
        if len(self.members) == 1:
            return self.tasks[0].resolved()
        members = [{"use": task.resolved(), "weight": weight} for task, weight in self.members]
        return {"version": 1, "task": self.name, "mixture": members, "train": dict(self.defaults)}


def load_mixture(name: str | Path, overrides: Mapping[str, Any] | None = None) -> Mixture:
    """The tasks of a mixture file, or a single task (see ``load_task``). Raises ``UsageError``."""
    path = find_task_file(name)
    data = read_yaml(path)
    if "mixture" not in data:
        return Mixture.of(make_task(data, str(path), path.parent, overrides))
    for key in overrides or {}:
        raise UsageError(f"{key}: {path} is a mixture; change the keys of its tasks in their own files")
    spec = validate(MixtureSpec, data, str(path))
    tasks = [
        _load_member(member, path.parent, f"{path}: mixture.{index}.use") for index, member in enumerate(spec.mixture)
    ]
    names = [task.name for task in tasks]
    for task_name in names:
        if names.count(task_name) > 1:
            raise UsageError(f"{path}: mixture: two tasks are called {task_name!r}; rename one of them")
    weights = [member.weight for member in spec.mixture]
    return Mixture(spec.task, str(path), tuple(zip(tasks, weights, strict=True)), spec.train)


def _load_member(member: MemberSpec, folder: Path, where: str) -> Task:
    if isinstance(member.use, dict):
        return make_task(member.use, where, folder)
    file = folder / member.use
    try:
        return load_task(file if file.is_file() else member.use)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
