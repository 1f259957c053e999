"""What is wrong with a setting, and what may be meant."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from grpo_env.errors import nearest
from grpo_env.field_limits import bounds

from .hints import HINTS


def unknown(name: str, value: Any, fields: Mapping[str, FieldInfo], groups: Sequence[str]) -> str:
    """What is wrong with a name that is no setting, and which setting may be meant."""
    if name in groups:
        members = [field for field in fields if field.startswith(f"{name}.")]
        return f"{name} is {value!r}; it must be a group of settings: {', '.join(members)}"
    *path, leaf = unicodedata.normalize("NFKC", name).split(".")  # which has one μ for two, and one ε
    if leaf in HINTS:
        return f"unknown setting {name!r}; in grpo_env {HINTS[leaf]}"
    if same := [field for field in fields if field.rpartition(".")[2] == leaf]:
        return f"unknown setting {name!r}; did you mean {' or '.join(map(repr, same))}?"
    if group := next((part for part in path if part in HINTS), None):
        return f"unknown setting {name!r}; in grpo_env {HINTS[group]}"
    members = [field for field in fields if path and field.startswith(f"{path[0]}.")]
    return f"unknown setting {name!r}; {nearest(name, members or fields)}"


def explained(error: ValidationError, fields: Mapping[str, FieldInfo]) -> str:
    """The first problem of a pydantic error: the setting, its value, and what is allowed."""
    problem = error.errors()[0]
    if problem["type"] == "value_error":  # a check across settings, which names them itself
        return problem["msg"].removeprefix("Value error, ")
    name = ".".join(map(str, problem["loc"]))
    return f"{name} is {problem['input']!r}; {_allowed(fields[name], problem['input'])}"


def _allowed(field: FieldInfo, value: Any) -> str:
    """What a setting may be, in words: its type and its bounds."""
    hint, *rest = get_args(field.annotation) if type(None) in get_args(field.annotation) else (field.annotation,)
    if get_origin(hint) is Literal:
        return nearest(str(value), get_args(hint))
    finite = "a finite number" if isinstance(value, float) and not math.isfinite(value) else "a number"
    kind = {int: "a whole number", float: finite, bool: "true or false"}.get(hint, "text")
    return f"it must be {kind}{bounds(field.metadata)}{' or null' if rest else ''}"
