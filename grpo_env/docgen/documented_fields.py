"""The documented fields of dataclasses and pydantic models: names, types, defaults and descriptions."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from itertools import pairwise
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from grpo_env.field_limits import bounds

REQUIRED = "(required)"
LONGEST_DEFAULT = 100  # characters


class Option(NamedTuple):
    """A field as YAML has it."""

    name: str
    type: str
    default: str
    description: str


def options(cls: type) -> list[Option]:
    """The fields of a dataclass or pydantic model that have a docstring, inherited ones first."""
    return list(_model_options(cls) if issubclass(cls, BaseModel) else _dataclass_options(cls))


def _model_options(cls: type[BaseModel]) -> list[Option]:
    hints = get_type_hints(cls)
    return [
        Option(
            name=field.alias or name,
            type=_type_name(hints[name]) + bounds(field.metadata),
            default=REQUIRED if field.is_required() else _as_yaml(field.get_default(call_default_factory=True)),
            description=" ".join(field.description.split()),
        )
        for name, field in cls.model_fields.items()
        if field.description
    ]


def _dataclass_options(cls: type) -> list[Option]:
    hints = get_type_hints(cls)
    values = {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(cls)
    }
    return [
        Option(name, _type_name(hints[name]), REQUIRED if values[name] is MISSING else _as_yaml(values[name]), text)
        for ancestor in reversed(cls.__mro__)
        if is_dataclass(ancestor)
        for name, text in _field_docstrings(ancestor).items()
    ]


def _field_docstrings(cls: type) -> dict[str, str]:
    """The strings under the fields of a class body; Python does not keep them, so they are read from the source.

    None for a class without source, such as that of a plain function.
    """
    try:
        source = inspect.getsource(cls)
    except OSError:
        return {}
    (tree,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(tree, ast.ClassDef)
    return {
        ast.unparse(statement.target): " ".join(str(ast.literal_eval(text.value)).split())
        for statement, text in pairwise(tree.body)
        if isinstance(statement, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


def _type_name(hint: Any) -> str:
    """A type in words: ``Literal["a", "b"] | None`` is ``a or b``."""
    arguments = [argument for argument in get_args(hint) if argument not in (type(None), Ellipsis)]
    if get_origin(hint) is Literal:
        return " or ".join(map(str, arguments))
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(dict.fromkeys(" or ".join(map(_type_name, arguments)).split(" or ")))
    if get_origin(hint) is tuple:
        return f"list: {_type_name(arguments[0])}"
    if get_origin(hint) is not None or is_dataclass(hint) or (isinstance(hint, type) and issubclass(hint, BaseModel)):
        return "mapping"
    return {float: "number", int: "whole number", str: "text", bool: "true or false"}.get(hint, str(hint))


def _as_yaml(value: Any) -> str:
    if isinstance(value, str) and value.isidentifier():
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, ensure_ascii=False, default=str)


def option_list(rows: Iterable[Option]) -> list[str]:
    """The lines of a Markdown list: name, type and default, meaning."""
    return [f"- `{row.name}`{_values(row)}: {row.description.replace('``', '`')}" for row in rows]


def _values(row: Option) -> str:
    """The type and default of an option, without what its default or its description says."""
    choices = row.type.split(" or ")
    is_explained = len(choices) > 1 and all(f"`{choice}`" in row.description for choice in choices)
    is_shown = row.default.startswith('"') or row.type in ("true or false", "number", "whole number")
    is_shown = is_explained or (is_shown and row.default not in ("null", REQUIRED))
    needs_type = row.default in ("null", REQUIRED)  # otherwise the default shows it
    words = [] if is_shown else [row.type if needs_type else row.type.partition(" of ")[2] or row.type]
    if row.default == REQUIRED:
        words.append("required")
    elif len(row.default) > LONGEST_DEFAULT:
        words.append("has a default")
    elif row.default != "null":
        words.append(f"default {code(row.default)}")
    return f" ({', '.join(words)})" if words else ""


def code(text: str) -> str:
    """Text as code in Markdown, on one line."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text.replace(chr(10), ' ')}{fence}" if text else ""
