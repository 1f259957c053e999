"""The shape of a task file, and the one place that turns a wrong one into a clear sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_type_hints

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from grpo_env.core import Format, Verifier
from grpo_env.errors import UsageError, nearest

Split = Literal["train", "eval"]


class _Section(BaseModel):
    """A mapping with these keys and no other. The texts under its fields are their reference (``reference``)."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class DatasetSpec(_Section):
    """Where examples come from: a hub id or local file (``path``), or a ``generator``."""

    path: str | None = None
    """A ``.jsonl``, ``.json``, ``.csv`` or ``.parquet`` file, also ``.gz`` or ``.zst``, relative to the task file; or a
    hub id. ``{split}`` in it becomes the source's name of the split."""
    name: str | None = None
    """The hub data set's configuration."""
    generator: str | None = None
    """``module:function`` that yields rows, instead of ``path``; called with split, size, seed and ``arguments``."""
    arguments: dict[str, Any] = {}
    """Further arguments of the generator."""
    split: dict[Split, str | float] = {"train": "train", "eval": "eval"}
    """The source's names of ``train`` and ``eval``; or, for one local file, shares (``{train: 0.9, eval: 0.1}``). A
    row's share is decided by a hash of its content, so it stays where it is when the file grows or is shuffled."""
    limit: dict[Split, int] = {}
    """The most rows of each split; for a generator, how many to make."""
    seed: int = 0
    """Handed to the generator."""
    id: str | None = None
    """Template of an example's id; none: ``split/number``."""
    answer: str | None = None
    """Template of the gold answer."""
    bad_gold: Literal["error", "skip"] = "error"
    """Whether to stop at the first gold answer that cannot be parsed, or to leave such rows out."""

    @model_validator(mode="after")
    def _one_source(self) -> DatasetSpec:
        if (self.path is None) == (self.generator is None):
            raise ValueError("give exactly one of 'path' (hub id or local file) and 'generator' (module:function)")
        if self.generator is not None and not self.limit:
            raise ValueError("a generator needs 'limit': the number of rows to make for each split")
        shares = [share for share in self.split.values() if isinstance(share, float)]
        if shares and (len(shares) != len(self.split) or min(shares) <= 0 or sum(shares) > 1):
            raise ValueError("shares in 'split' must all be numbers above 0 that add up to at most 1")
        return self


class Shot(_Section):
    """A worked example that is shown before the question."""

    user: str
    """Template of the question."""
    assistant: str
    """Template of the reply."""


class PromptSpec(_Section):
    """Jinja2 templates over the row's columns: a chat (``user``, with ``system`` and ``shots``) or plain ``text``."""

    system: str | None = None
    """The system message."""
    shots: tuple[Shot, ...] = ()
    """Worked examples, shown before the question."""
    user: str | None = None
    """The question, as a message that goes through the model's chat template."""
    text: str | None = None
    """Instead of a chat: the prompt that is given to the model as it is."""

    @model_validator(mode="after")
    def _one_form(self) -> PromptSpec:
        if (self.user is None) == (self.text is None):
            raise ValueError("give exactly one of 'user' (a chat prompt) and 'text' (a plain one)")
        if self.text is not None and (self.system is not None or self.shots):
            raise ValueError("'system' and 'shots' belong to a chat prompt; write them into 'text' instead")
        return self


class LinearSpec(_Section):
    """A weight that moves from one value to another over the first ``steps`` training steps, then stays."""

    start: float = Field(alias="from")
    """The weight at the first step."""
    end: float = Field(alias="to")
    """The weight from ``steps`` on."""
    steps: int = Field(gt=0)
    """Training steps from one to the other."""


class ScheduleSpec(_Section):
    """A weight that moves during training: exactly one of its shapes."""

    linear: LinearSpec | None = None
    """``{from: 0.5, to: 0.0, steps: 200}`` along a line."""
    cosine: LinearSpec | None = None
    """The same along half a cosine."""

    @model_validator(mode="after")
    def _one_shape(self) -> ScheduleSpec:
        if (self.linear is None) == (self.cosine is None):
            raise ValueError("a schedule is {linear: {from, to, steps}} or {cosine: {from, to, steps}}")
        return self


class VerifierSpec(BaseModel):
    """One entry of ``verifiers``, a part of the reward. Keys beyond these are options of the verifier itself."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    use: str | None = None
    """The verifier's name; none: the name of the entry."""
    weight: float | ScheduleSpec | None = None
    """What the part counts in the reward, 0 to watch it only; none: 1, or 0 where ``process`` is given."""
    process: float | ScheduleSpec = 0.0
    """What its steps count in process supervision; a part without steps counts as one last step."""
    when: str | None = None
    """The name of another part: this one pays only where that one is above 0."""
    clip: tuple[float, float] | None = None
    """``[low, high]`` bounds of the part's value."""
    statuses: dict[str, float] = {}
    """Values for a completion's own faults, such as ``{no_answer: -0.5}`` instead of 0."""
    of: dict[str, VerifierSpec] | None = None
    """The parts of a composite (``any_of``, ``all_of``, ``weighted_sum``, ``clip``)."""


class CaseSpec(BaseModel):
    """A completion with the values it must get; a key that is none of these names a part (or ``total``)."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    completion: str
    """The text that is judged."""
    answer: str | None = None
    """The gold answer."""
    info: dict[str, Any] = {}
    """Columns of the row, for verifiers that look at them."""
    why: str = ""
    """Shown when the case does not hold."""


NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"


class TaskSpec(_Section):
    """A whole task file."""

    version: Literal[1]
    """Of this format."""
    task: str = Field(pattern=NAME)
    """The task's name."""
    description: str = ""
    """One line for the list of tasks."""
    dataset: DatasetSpec
    """Where the problems come from."""
    format: Format = Format()
    """The output format, which feeds prompt, extraction and format verifiers."""
    prompt: PromptSpec
    """How a problem is put to the model."""
    verifiers: dict[str, VerifierSpec] = Field(min_length=1)
    """The parts of the reward, by name."""
    metric: str
    """The name of the part that evaluation reports. It is not the reward."""
    cases: tuple[CaseSpec, ...] = ()
    """Completions with the values that they must get, for ``grpo_env check``."""
    train: dict[str, Any] = {}
    """Recommended training settings."""


SECTIONS = tuple(TaskSpec.model_fields)


class _UniqueKeyLoader(yaml.SafeLoader):
    """PyYAML keeps the last of two equal keys without a word; a task file that says a thing twice is wrong."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str) and key in seen:
                line = key_node.start_mark.line + 1
                raise UsageError(f"{self.name}, line {line}: key {key!r} stands here a second time")
            if isinstance(key, str):
                seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file as a mapping. Raises ``UsageError`` with file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    loader = _UniqueKeyLoader(text)
    loader.name = str(path)
    try:
        data = loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UsageError(f"{path}{line}: not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: not valid YAML: {error}") from error
    if not isinstance(data, dict):
        raise UsageError(f"{path}: expected a mapping of keys to values, found {type(data).__name__}")
    return data


def parse_task(data: Mapping[str, Any], source: str) -> TaskSpec:
    """Validate a task file's mapping. Raises ``UsageError`` naming ``source`` and the key path."""
    try:
        return TaskSpec.model_validate(data)
    except ValidationError as error:
        raise explain(error, data, TaskSpec, source) from error


def build_verifier(cls: type[Verifier], options: Mapping[str, Any], source: str, at: Sequence[str]) -> Verifier:
    """Make a verifier from YAML ``options``, each checked against its field's type.

    Raises ``UsageError`` naming ``source`` and the key path.
    """
    known = {field.name: field for field in fields(cast(Any, cls))}
    hints = get_type_hints(cls)
    values: dict[str, Any] = {}
    for key, value in options.items():
        where = f"{source}: {'.'.join([*at, key])}"
        if key not in known:
            # The options of a verifier stand beside the keys that every entry of `verifiers` has.
            names = {*known, *VerifierSpec.model_fields} - {"parts"}
            raise UsageError(f"{where}: unknown key; {nearest(key, names)}")
        if key == "parts":
            values[key] = value
            continue
        try:
            values[key] = TypeAdapter(hints[key]).validate_python(value)
        except ValidationError as error:
            raise explain(error, value, hints[key], source, [*at, key]) from error
    for key, field in known.items():
        if key not in values and field.default is MISSING and field.default_factory is MISSING:
            raise UsageError(f"{source}: {'.'.join([*at, key])}: this key is required")
    try:
        return cls(**values)
    except UsageError as error:
        raise UsageError(f"{source}: {'.'.join(at)}: {error}") from error


def explain(error: ValidationError, data: Any, model: Any, source: str, at: Sequence[str] = ()) -> UsageError:
    """The first problem of a pydantic error as one line: file, key path, what was expected, the nearest name."""
    problems = error.errors()
    paths = [_user_path(problem, data) for problem in problems]
    # A union complains once for each member; the complaint that goes deepest belongs to the member that was meant.
    chosen = max(
        (index for index, path in enumerate(paths) if path[: len(paths[0])] == paths[0]),
        key=lambda index: len(paths[index]),
    )
    problem, path = problems[chosen], paths[chosen]
    where = f"{source}: {'.'.join([*at, *path])}" if (at or path) else source
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        text = f"unknown key; {nearest(path[-1], _keys(model, path[:-1]))}"
    elif problem["type"] == "missing":
        text = "this key is required"
    else:
        text = problem["msg"].removeprefix("Value error, ")
        if not isinstance(problem["input"], Mapping | list):
            text += f", got {problem['input']!r}"
    return UsageError(f"{where}: {text}")


def _user_path(problem: Any, data: Any) -> list[str]:
    """Where in the user's data a problem is: pydantic's location without the union members that it names."""
    path: list[str] = []
    for key in problem["loc"]:
        inside = key in data if isinstance(data, Mapping) else isinstance(data, list | tuple) and isinstance(key, int)
        if inside:
            data = data[key]
            path.append(str(key))
    if problem["type"] == "missing":
        path.append(str(problem["loc"][-1]))
    return path


def _keys(model: Any, path: Sequence[str]) -> list[str]:
    """The keys that ``model`` knows at ``path``."""
    for key in path:
        known = getattr(model, "model_fields", {})
        if key in known:
            model = _section(known[key].annotation) or model
    if is_dataclass(model):
        return [field.name for field in fields(model)]
    return [field.alias or name for name, field in model.model_fields.items()]


def _section(annotation: Any) -> Any:
    for candidate in (annotation, *get_args(annotation)):
        if is_dataclass(candidate) or (isinstance(candidate, type) and issubclass(candidate, BaseModel)):
            return candidate
    return None
