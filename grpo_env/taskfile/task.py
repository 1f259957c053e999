"""A task: the YAML file made into examples, prompts and one verifier. Everything else starts from here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from grpo_env.core import Completion, Example, Format, GroupVerifier, Score, Verifier, score_one
from grpo_env.errors import UsageError, nearest
from grpo_env.registry import find

from .dataset import is_local, load_rows
from .prompt import build_prompt, render
from .schema import SECTIONS, ScheduleSpec, Split, TaskSpec, VerifierSpec, build_verifier, parse_task, read_yaml

if TYPE_CHECKING:
    from grpo_env.integrations.trl import RewardFunc

SEARCH_PATH = "GRPO_ENV_TASKS"


@dataclass(frozen=True)
class Task:
    """What to solve and how it is judged.

    ``source`` is the file the task came from (for messages), ``folder`` what its relative paths start from, and
    ``verifier`` the composed reward. Picklable.
    """

    spec: TaskSpec
    source: str
    folder: Path
    verifier: Verifier

    @property
    def name(self) -> str:
        """The task's name."""
        return self.spec.task

    @property
    def argument(self) -> str:
        """What names it on a command line: its name where that leads to its file, else the file."""
        try:
            found = str(find_task(self.name)) == self.source
        except UsageError:
            found = False
        return self.name if found or not Path(self.source).is_file() else self.source

    @property
    def scores_groups(self) -> bool:
        """Whether a verifier judges the completions of an example against each other."""
        return any(isinstance(verifier, GroupVerifier) for verifier in self.verifier.within())

    @property
    def needs_prompt(self) -> bool:
        """Whether a verifier looks at the example's prompt."""
        return any(verifier.needs_prompt for verifier in self.verifier.within())

    @property
    def format(self) -> Format:
        """The output format: tag names and prefill."""
        return self.spec.format

    @property
    def metric(self) -> str:
        """The name of the part that evaluation reports."""
        return self.spec.metric

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Recommended settings for training (the ``train`` section)."""
        return self.spec.train

    def examples(self, split: Split, limit: int | None = None) -> list[Example]:
        """The examples of a split, from its first ``limit`` rows.

        Raises ``UsageError`` for missing columns, empty data and unusable golds.
        """
        rows = load_rows(self.spec.dataset, split, self.folder, self.source, limit)
        examples = []
        for index, row in enumerate(rows):
            example = self.example(row, f"{split}/{index}", where=f"{self.source}: {split} row {index + 1}")
            problem = self.verifier.problem(example)
            if problem is None:
                examples.append(example)
            elif self.spec.dataset.bad_gold == "error":
                raise UsageError(
                    f"{self.source}: {split} row {index + 1}: {problem}; "
                    "mend it, or leave such rows out with dataset.bad_gold=skip"
                )
        if not examples:
            raise UsageError(f"{self.source}: no row of the {split} split has a usable gold answer")
        return examples

    def example(self, row: Mapping[str, Any], id: str, where: str) -> Example:
        """One row as an example. ``where`` begins the message of the ``UsageError`` for a template that fails."""
        dataset = self.spec.dataset
        if dataset.id is not None:
            id = render(dataset.id, row, self.format, f"{where}: dataset.id")
        answer = self.answer(row, where)
        return Example(id, build_prompt(self.spec.prompt, row, self.format, where), answer, row)

    def answer(self, row: Mapping[str, Any], where: str) -> str | None:
        """The gold answer of a row by the task's own template, or ``None`` where the task has no gold."""
        template = self.spec.dataset.answer
        return None if template is None else render(template, row, self.format, f"{where}: dataset.answer")

    def score(
        self, completion: str | Completion, *, answer: str | None = None, info: Mapping[str, Any] | None = None
    ) -> Score:
        """Judge one completion against a gold answer. Never raises for what the model wrote."""
        if isinstance(completion, str):
            completion = Completion(completion, prefill=self.format.prefill)
        return score_one(self.verifier, Example("", answer=answer, info=info or {}), completion)

    def reward_funcs(self) -> list[RewardFunc]:
        """Reward functions for TRL: see ``grpo_env.integrations.trl.reward_funcs``."""
        from grpo_env.integrations.trl import reward_funcs

        return reward_funcs(self)

    def to_trl_dataset(self, split: Split = "train") -> Any:
        """A split as a ``datasets.Dataset`` for TRL: see ``grpo_env.integrations.trl.to_dataset``."""
        from grpo_env.integrations.trl import to_dataset

        return to_dataset(self, split)

    def resolved(self) -> dict[str, Any]:
        """The task as a YAML-ready mapping; loading it again gives the same task."""
        data = self.spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
        path = self.spec.dataset.path
        if path is not None and is_local(path, self.folder):
            data["dataset"]["path"] = str((self.folder / path).absolute())
        return data


def load_task(name: str | Path, overrides: Mapping[str, Any] | None = None) -> Task:
    """A task by name (bundled, or in a folder of ``GRPO_ENV_TASKS``) or by path.

    ``overrides`` maps dotted keys to values: ``{"dataset.path": "train.jsonl", "verifiers.accuracy.weight": 2}``.
    Relative paths in the file start from its folder, those in ``overrides`` from the current one. Raises
    ``UsageError``.
    """
    path = find_task(name)
    return task_from(read_yaml(path), path, overrides)


def task_from(data: dict[str, Any], path: Path, overrides: Mapping[str, Any] | None = None) -> Task:
    """A task from what its file holds, with ``overrides`` as in ``load_task``. Raises ``UsageError``."""
    if "mixture" in data:
        raise UsageError(f"{path}: a mixture of tasks is for grpo_env train alone; give one of its tasks here")
    for key, value in (overrides or {}).items():
        if key == "dataset.path" and is_local(str(value), Path.cwd()):
            value = str(Path.cwd() / str(value))
        _override(data, key, value)
    return make_task(data, str(path), path.parent)


def make_task(data: Mapping[str, Any], source: str, folder: Path) -> Task:
    """A task from a YAML file's mapping. Raises ``UsageError`` that names ``source`` and the key."""
    spec = parse_task(data, source)
    parts = _parts(spec.verifiers, spec.format, source, ["verifiers"])
    verifier = build_verifier(find("weighted_sum"), {"parts": parts}, source, ["verifiers"])
    names = _part_names(spec.verifiers)
    if spec.metric not in names:
        raise UsageError(f"{source}: metric: no verifier is called {spec.metric!r}; {nearest(spec.metric, names)}")
    for index, case in enumerate(spec.cases):
        for key in case.model_extra or {}:
            if key != "total" and key not in names:
                raise UsageError(f"{source}: cases.{index}.{key}: no verifier is called {key!r}; {nearest(key, names)}")
    return Task(spec, source, folder, verifier)


def make_verifier(name: str, options: Mapping[str, Any], source: str, format: Format | None = None) -> Verifier:
    """A verifier by name, with ``options`` as a task file sets them. Raises ``UsageError`` naming ``source``."""
    return _verifier(name, VerifierSpec.model_validate({**options, "use": name}), format or Format(), source, [name])


def find_task(name: str | Path) -> Path:
    """The file of a task. Raises ``UsageError`` for an unknown or an ambiguous name."""
    if str(name).endswith((".yaml", ".yml")):
        if not Path(name).is_file():
            raise UsageError(f"{name}: no such task file")
        return Path(name)
    found = [path for path in task_files() if path.stem == str(name)]
    if not found:
        known = [path.stem for path in task_files()]
        raise UsageError(
            f"unknown task {str(name)!r}; {nearest(str(name), known)} (a file: give its path, ending in .yaml)"
        )
    if len(found) > 1:
        raise UsageError(f"task {name!r} is ambiguous: {' and '.join(map(str, found))}; give the path")
    return found[0]


def task_files() -> list[Path]:
    """All task files that can be found by name: bundled ones, then those in the folders of ``GRPO_ENV_TASKS``."""
    folders = [Path(str(files("grpo_env.tasks")))]
    for folder in filter(None, os.environ.get(SEARCH_PATH, "").split(os.pathsep)):
        if not Path(folder).is_dir():
            raise UsageError(f"{SEARCH_PATH}: {folder} is not a folder")
        folders.append(Path(folder))
    return [path for folder in folders for path in sorted(folder.glob("*.yaml"))]


def _override(data: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    if key.split(".")[0] not in SECTIONS:
        raise UsageError(f"{key}={value}: unknown task key; {nearest(key.split('.')[0], SECTIONS)}")
    here = data
    for step in path:
        here = here.setdefault(step, {})
        if not isinstance(here, dict):
            raise UsageError(f"{key}={value}: {step!r} is not a section of the task")
    if last == "path" and path == ["dataset"]:
        # The file replaces whatever the task read before, generators included.
        for other in ("generator", "arguments", "name"):
            here.pop(other, None)
    here[last] = value


def _parts(specs: Mapping[str, VerifierSpec], format: Format, source: str, at: list[str]) -> tuple[Any, ...]:
    # By name and late: the tree of imports points from verifiers to here, not back.
    from grpo_env.verifiers.parts import Part
    from grpo_env.verifiers.schedule import Cosine, Linear

    def number(spec: float | ScheduleSpec) -> Any:
        if not isinstance(spec, ScheduleSpec):
            return spec
        shape, line = (Linear, spec.linear) if spec.linear else (Cosine, spec.cosine)
        assert line is not None
        return shape(start=line.start, end=line.end, steps=line.steps)

    parts = []
    for name, spec in specs.items():
        where = [*at, name]
        weight = spec.weight if spec.weight is not None else (0.0 if spec.process else 1.0)
        try:
            part = Part(
                name=name,
                verifier=_verifier(name, spec, format, source, where),
                weight=number(weight),
                process=number(spec.process),
                when=spec.when,
                clip=spec.clip,
                statuses=spec.statuses,
            )
        except UsageError as error:
            raise error if str(error).startswith(source) else UsageError(f"{source}: {error}") from error
        parts.append(part)
    return tuple(parts)


def _verifier(name: str, spec: VerifierSpec, format: Format, source: str, at: list[str]) -> Verifier:
    try:
        cls = find(spec.use or name)
    except UsageError as error:
        raise UsageError(f"{source}: {'.'.join(at)}: {error}") from error
    options = dict(spec.model_extra or {})
    known = {field.name for field in fields(cast(Any, cls))}
    composite = "parts" in known
    if composite and (not spec.of or "parts" in options):
        raise UsageError(f"{source}: {'.'.join(at)}.of: {spec.use or name} needs a mapping of verifiers here")
    if spec.of is not None and not composite:
        raise UsageError(f"{source}: {'.'.join(at)}.of: {spec.use or name} is not composed of other verifiers")
    if composite:
        options["parts"] = _parts(spec.of or {}, format, source, [*at, "of"])
    if "format" in known:
        options.setdefault("format", format)
    return build_verifier(cls, options, source, at)


def _part_names(specs: Mapping[str, VerifierSpec]) -> list[str]:
    return [name for key, spec in specs.items() for name in (key, *_part_names(spec.of or {}))]
