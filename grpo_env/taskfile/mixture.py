"""Several tasks in one training run, each with its share of the prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grpo_env.errors import UsageError

from .schema import NAME, explain, read_yaml
from .task import Task, find_task_file, load_task, make_task


class MemberSpec(BaseModel):
    """A task by name, file or in full, and its weight."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
    use: str | dict[str, Any]
    """A task's name, its file (from this one's folder), or a whole task in place."""
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """Its share of the prompts, up to a common factor."""


class MixtureSpec(BaseModel):
    """A whole file of a mixture."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
    version: Literal[1]
    """Of this format."""
    task: str = Field(pattern=NAME)
    """The mixture's name."""
    description: str = ""
    """One line that says what it is."""
    mixture: list[MemberSpec] = Field(min_length=1)
    """Its tasks."""
    train: dict[str, Any] = {}
    """Recommended training settings; those of its tasks are not used."""


@dataclass(frozen=True)
class Mixture:
    """Tasks with their weights: shares of the prompts of a step, up to a common factor.

    ``defaults`` are recommended settings for training, ``source`` the file (for messages).
    """

    name: str
    source: str
    members: tuple[tuple[Task, float], ...]
    defaults: Mapping[str, Any]

    @classmethod
    def of(cls, task: Task) -> Mixture:
        """One task by itself."""
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


def parse_mixture(data: Mapping[str, Any], source: str) -> MixtureSpec:
    """Validate a file's mapping. Raises ``UsageError`` naming ``source`` and the key path."""
    try:
        return MixtureSpec.model_validate(data)
    except ValidationError as error:
        raise explain(error, data, MixtureSpec, source) from error


def load_mixture(name: str | Path, overrides: Mapping[str, Any] | None = None) -> Mixture:
    """A task (see ``load_task``), or a file whose ``mixture`` lists tasks; their files are relative to its folder.

    Raises ``UsageError``.
    """
    path = find_task_file(name)
    data = read_yaml(path)
    if "mixture" not in data:
        return Mixture.of(make_task(data, str(path), path.parent, overrides))
    for key in overrides or {}:
        raise UsageError(f"{key}: {path} is a mixture; keys of its tasks are changed in their own files")
    spec = parse_mixture(data, str(path))
    members = []
    for index, member in enumerate(spec.mixture):
        where = f"{path}: mixture.{index}.use"
        if isinstance(member.use, dict):
            task = make_task(member.use, where, path.parent)
        else:
            beside = path.parent / member.use
            try:
                task = load_task(beside if beside.is_file() else member.use)
            except UsageError as error:
                raise UsageError(f"{where}: {error}") from error
        members.append((task, member.weight))
    names = [task.name for task, _ in members]
    for task_name in names:
        if names.count(task_name) > 1:
            raise UsageError(f"{path}: mixture: two tasks are called {task_name!r}; one of them needs another name")
    return Mixture(spec.task, str(path), tuple(members), spec.train)
