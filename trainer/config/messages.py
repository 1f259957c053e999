"""What is wrong with a setting, and what may be meant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from grpo_env.bounds import bounds
from grpo_env.errors import nearest

from .aliases import ALIASES, ELSEWHERE, NOTES, TASK_KEYS


def unknown(name: str, value: Any, fields: Mapping[str, FieldInfo], groups: Sequence[str]) -> str:
    """What is wrong with a name that is no setting, and which setting may be meant."""
    if name in groups:
        members = [field for field in fields if field.startswith(f"{name}.")]
        return f"{name} is {value!r}; it must be a group of settings: {', '.join(members)}"
    if key := next((TASK_KEYS[part] for part in name.split(".") if part in TASK_KEYS), None):
        return f"unknown setting {name!r}; in grpo_env it is a key of the task, {key!r}"
    leaf = name.rpartition(".")[2]
    if leaf in ELSEWHERE:
        return f"unknown setting {name!r}; in grpo_env {ELSEWHERE[leaf]}"
    if alias := ALIASES.get(leaf):
        several = not isinstance(alias, str)
        hint = f"these are {' and '.join(map(repr, alias))}" if several else f"it is called {alias!r}"
        note = f" ({NOTES[leaf]})" if leaf in NOTES else ""
        return f"unknown setting {name!r}; in grpo_env {hint}{note}"
    if same := [field for field in fields if field.rpartition(".")[2] == leaf]:
        return f"unknown setting {name!r}; did you mean {' or '.join(map(repr, same))}?"
    return f"unknown setting {name!r}; {nearest(name, fields)}"


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
