"""Validates task files: one-line errors with the file, the key path, what was expected and the nearest name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError

from grpo_env.core import Verifier
from grpo_env.errors import UsageError, nearest
from grpo_env.terminal import shortened

from .schema import VerifierSpec

SHOWN = 100  # characters of a value in a message
_LISTS = ("list_type", "tuple_type")
_MAPPINGS = ("dict_type", "model_type", "dataclass_type")
_EXPECTED = dict.fromkeys(_LISTS, "expected a list") | dict.fromkeys(_MAPPINGS, "expected a mapping of keys")
"""Problems in words of YAML, where pydantic has those of Python."""

Model = TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], data: Mapping[str, Any], source: str) -> Model:
    """The mapping of a file as a ``model``. Raises ``UsageError`` naming ``source`` and the key path."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _usage_error(error, data, model, source) from error


def build_verifier(cls: type[Verifier], options: Mapping[str, Any], source: str, at: Sequence[str]) -> Verifier:
    """A verifier from YAML ``options``, each validated against the type of its field. ``at`` is its key path.

    Raises ``UsageError`` naming ``source`` and the key path.
    """
    check_names(cls, options, source, at)
    values = validated_options(cls, options, source, at)
    for field in fields(cast(Any, cls)):
        if field.name not in values and field.default is MISSING and field.default_factory is MISSING:
            raise UsageError(f"{source}: {'.'.join([*at, field.name])}: this key is required")
    if missing := sorted(getattr(cls, "__abstractmethods__", ())):
        raise UsageError(f"{source}: {'.'.join(at)}: {cls.__name__} does not define {', '.join(missing)}")
    try:
        return cls(**values)
    except ValueError as error:
        raise UsageError(f"{source}: {'.'.join(at)}: {error}") from error


def check_names(cls: type[Verifier], options: Iterable[str], source: str, at: Sequence[str]) -> None:
    """Raise ``UsageError``, naming ``source`` and the key path, for an option that the verifier does not have."""
    known = {field.name for field in fields(cast(Any, cls))}
    for key in options:
        if key not in known:
            # An entry of `verifiers` has the options of its verifier next to its own keys.
            names = {*known, *VerifierSpec.model_fields} - {"parts"}
            raise UsageError(f"{source}: {'.'.join([*at, key])}: unknown key; {nearest(key, names)}")


def validated_options(
    cls: type[Verifier], options: Mapping[str, Any], source: str, at: Sequence[str]
) -> dict[str, Any]:
    """The values of known options by the types of their fields. Raises ``UsageError`` as ``build_verifier`` does."""
    values: dict[str, Any] = {}
    for key, value in options.items():
        if key == "parts":
            values[key] = value
            continue
        try:
            values[key] = _adapter(cls, key).validate_python(value)
        except ValidationError as error:
            raise _usage_error(error, value, type_of_option(cls, key), source, [*at, key]) from error
        if isinstance(values[key], float) and math.isnan(values[key]):  # also of the text "nan"
            raise UsageError(f"{source}: {'.'.join([*at, key])}: nan is not a value")
    return values


@cache
def type_of_option(cls: type[Verifier], name: str) -> Any:
    """The type of a field, ``None`` if there is none; slow to find out, and options of rows are read for every row."""
    return get_type_hints(cls).get(name)


@cache
def _adapter(cls: type[Verifier], name: str) -> TypeAdapter[Any]:
    return TypeAdapter(type_of_option(cls, name))


def _usage_error(error: ValidationError, data: Any, model: Any, source: str, at: Sequence[str] = ()) -> UsageError:
    """A pydantic error as one line about one problem, the first or, of a union, the most specific one."""
    problems = error.errors()
    paths = [_user_path(problem, data) for problem in problems]
    # A union has a problem for each of its members. The deepest path belongs to the member that was meant.
    chosen = max(
        (index for index, path in enumerate(paths) if path[: len(paths[0])] == paths[0]),
        key=lambda index: len(paths[index]),
    )
    if problems[chosen]["type"] == "missing":  # perhaps it is there, misspelled
        unknown = {path[-1]: n for n, path in enumerate(paths) if problems[n]["type"] == "extra_forbidden"}
        meant = get_close_matches(str(problems[chosen]["loc"][-1]), unknown)
        chosen = next((unknown[name] for name in meant), chosen)
    problem, path = problems[chosen], paths[chosen]
    where = f"{source}: {'.'.join([*at, *path])}" if (at or path) else source
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        text = f"unknown key; {nearest(path[-1], _keys(model, path[:-1]))}"
    elif problem["type"] == "missing" and isinstance(problem["loc"][-1], int):
        text = f"too few items, got {shortened(repr(problem['input']), SHOWN)}"
    elif problem["type"] == "missing":
        text = "this key is required"
    else:
        text = _EXPECTED.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
        if not isinstance(problem["input"], Mapping | list):
            text += f", got {shortened(repr(problem['input']), SHOWN)}"
        if problem["type"] == "string_type" and isinstance(problem["input"], bool | int | float):
            text += "; put text in quotes"
        if problem["type"] in _LISTS and isinstance(problem["input"], str):
            text += f"; write [{shortened(problem['input'], SHOWN)}]"
        if problem["type"] in _MAPPINGS and problem["input"] is None:
            text += "; write {} for none"
    return UsageError(f"{where}: {text}{_others(problems, paths, path, at)}")


def _others(problems: Sequence[Any], paths: Sequence[list[str]], path: list[str], at: Sequence[str]) -> str:
    """The keys of other problems, but for missing ones, which may be there, misspelled.

    The problems of a union's other members begin with the same keys.
    """
    given = [other for other, problem in zip(paths, problems, strict=True) if problem["type"] != "missing"]
    others = dict.fromkeys(".".join([*at, *other]) for other in given if other[:2] != path[:2])
    return f" (also wrong: {', '.join(others)})" if others else ""


def _user_path(problem: Any, data: Any) -> list[str]:
    """The key path of a problem in the user's data: pydantic's location without the names of union members."""
    path: list[str] = []
    for key in problem["loc"]:
        if isinstance(data, Mapping):
            is_user_key = key in data
        else:
            is_user_key = isinstance(data, list | tuple) and isinstance(key, int) and key < len(data)
        if is_user_key:
            data = data[key]
            path.append(str(key))
    if problem["type"] == "missing" and isinstance(problem["loc"][-1], str):
        path.append(problem["loc"][-1])
    return path


def _keys(model: Any, path: Sequence[str]) -> list[str]:
    """The keys that ``model`` has at ``path``."""
    for key in path:
        known = getattr(model, "model_fields", {})
        if key in known:
            model = _nested_model(known[key].annotation) or model
    if is_dataclass(model):
        return [field.name for field in fields(model)]
    return [field.alias or name for name, field in model.model_fields.items()]


def _nested_model(annotation: Any) -> Any:
    for candidate in (annotation, *get_args(annotation)):
        if is_dataclass(candidate) or (isinstance(candidate, type) and issubclass(candidate, BaseModel)):
            return candidate
    return None
