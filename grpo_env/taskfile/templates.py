"""Templates of task files: a row's columns become text, by Jinja2 in its sandbox.

The sandbox keeps templates from Python's objects. It does not bound their time and memory.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, UndefinedError, meta, nodes
from jinja2.environment import TemplateExpression
from jinja2.sandbox import ImmutableSandboxedEnvironment

from grpo_env.core import Example, Format
from grpo_env.errors import UsageError, nearest
from grpo_env.terminal import shortened

SHOWN = 100  # characters of a template in a message
MAX_REMEMBERED = 4096  # characters of columns whose text of a template is remembered

_wrote = threading.local()  # null: whether the text of this thread's template has a value that is none


class _Null:
    """What templates see of a value that is none: it is false, equals ``none``, and tells when it becomes text."""

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other is None or other is self

    __hash__ = object.__hash__

    def __str__(self) -> str:
        _wrote.null = True
        return "None"

    __repr__ = __str__

    def __int__(self) -> int:  # of the filter int, which columns of pandas need
        _wrote.null = True
        return 0

    def __float__(self) -> float:
        return float(int(self))


NULL = _Null()


class _StrictlyUndefined(StrictUndefined):
    """Also fails in a list, which prints as the ``repr`` of what is in it."""

    __slots__ = ()
    __repr__ = StrictUndefined._fail_with_undefined_error


class _Environment(ImmutableSandboxedEnvironment):
    """Strict, and with ``NULL`` for each value that is none."""

    def __init__(self) -> None:
        super().__init__(undefined=_StrictlyUndefined, keep_trailing_newline=True, finalize=_finalize)
        self.globals.clear()  # range, dict and the like, which a column may be called
        self.tests["none"] = is_missing
        self.policies["json.dumps_kwargs"] = {"sort_keys": True, "ensure_ascii": False, "default": _json_default}

    def getattr(self, obj: Any, attribute: str) -> Any:
        return _visible(super().getattr(obj, attribute))

    def getitem(self, obj: Any, argument: Any) -> Any:
        return _visible(super().getitem(obj, argument))


def is_missing(value: Any) -> bool:
    """Whether a value of a table is none: ``None``, or NaN, which pandas has instead."""
    return value is None or value is NULL or (isinstance(value, float) and math.isnan(value))


def _visible(value: Any) -> Any:
    return NULL if is_missing(value) else value


def _finalize(value: Any) -> Any:
    """What is written of a value: lists and mappings as JSON."""
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=_json_default)
    return _visible(value)


def _json_default(value: Any) -> str | None:
    return None if value is NULL else str(value)


_environment = _Environment()


class _Compiled(NamedTuple):
    """A template, its columns, and the one that is all of it (``{{ question }}``).

    ``reads`` are these and those of ``row['name']``, by which its text is known; ``None``: it uses ``row`` as a whole.
    """

    template: Template
    columns: frozenset[str]
    column: str | None
    reads: tuple[str, ...] | None


@lru_cache(maxsize=1024)
def _compile(template: str) -> _Compiled:
    parsed = _environment.parse(template)
    compiled = _environment.from_string(template)
    compiled.globals = dict(compiled.globals)  # a ChainMap otherwise, which each rendering copies slowly
    columns = frozenset(meta.find_undeclared_variables(parsed) - {"format", "row"})
    column = re.fullmatch(r"\{\{ *(\w+) *\}\}", template)
    items = [name for item in parsed.find_all(nodes.Getitem) if (name := _column(item)) is not None]
    whole = sum(name.name == "row" for name in parsed.find_all(nodes.Name)) > len(items)
    reads = None if whole else tuple({*columns, *items})
    return _Compiled(compiled, columns, column[1] if column and column[1] in columns else None, reads)


def _column(item: nodes.Getitem) -> str | None:
    """The name in ``row['name']``."""
    is_row = isinstance(item.node, nodes.Name) and item.node.name == "row"
    return item.arg.value if is_row and isinstance(item.arg, nodes.Const) and type(item.arg.value) is str else None


def _short_texts(row: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...] | None:
    """The columns, if all of them are texts, and short enough to be remembered."""
    texts, size = [], 0
    for name in names:
        text = row.get(name)
        if type(text) is not str or (size := size + len(text)) > MAX_REMEMBERED:
            return None
        texts.append(text)
    return tuple(texts)


@lru_cache(maxsize=512)  # neighboring rows are often completions of one prompt
def _filled(template: str, format: Format, texts: tuple[str, ...]) -> tuple[str, bool]:
    """The text of a template that reads these texts only, and whether a value in it is none."""
    compiled = _compile(template)
    row = dict(zip(compiled.reads or (), texts, strict=True))
    _wrote.null = False
    text = compiled.template.render({name: row[name] for name in compiled.columns}, format=format, row=row)
    return text, _wrote.null


def is_template(value: object) -> TypeGuard[str]:
    """Whether a value of a task file is a template of the row."""
    return isinstance(value, str) and ("{{" in value or "{%" in value)


def render(template: str, row: Mapping[str, Any], format: Format, where: str) -> str:
    """Fill a template with a row's columns.

    Templates also see ``format`` (the task's format) and ``row`` (the whole row, for columns whose names are not
    identifiers: ``{{ row['6b_finetuning'].solution }}``). Raises ``UsageError``, beginning with ``where``, which names
    the unknown field and the nearest column.
    """
    compiled, columns, column, reads = _compiled(template, where)
    if not columns <= row.keys():
        name = min(columns - row.keys())
        raise UsageError(f"{where}: template {template!r} uses the unknown field {name!r}; {nearest(name, row)}")
    if column and isinstance(text := row[column], str):
        return text
    try:
        if reads is not None and (texts := _short_texts(row, reads)) is not None:
            text, null = _filled(template, format, texts)
            if null:
                _wrote.null = True
            return text
        known = {name: _visible(row[name]) for name in columns}
        return compiled.render(known, format=format, row=row)
    except (UndefinedError, TemplateError) as error:
        raise UsageError(f"{where}: template {template!r}: {error}") from error
    except Exception as error:  # of an expression on an unexpected value, e.g. None.split
        raise UsageError(f"{where}: template {template!r}: {type(error).__name__}: {error}") from error


def render_list(template: str, row: Mapping[str, Any], format: Format, where: str) -> list[Any] | None:
    """The list that a template of one expression gives; ``None`` for any other. Raises as ``render``."""
    expression = _expression(template)
    if expression is None:
        return None
    try:
        value = expression({**row, "format": format, "row": row})
    except Exception as error:  # of an expression on an unexpected value
        raise UsageError(f"{where}: template {template!r}: {type(error).__name__}: {error}") from error
    return value if isinstance(value, list) else None


@lru_cache(maxsize=1024)
def _expression(template: str) -> TemplateExpression | None:
    """The expression that is all of a template; ``None`` for any other, and for one that ``render`` refuses."""
    found = re.fullmatch(r"\{\{((?:(?!\}\}).)*)\}\}", template.strip(), re.DOTALL)
    try:
        return _environment.compile_expression(found[1], undefined_to_none=False) if found else None
    except TemplateSyntaxError:
        return None


def render_value(template: str, row: Mapping[str, Any], format: Format, where: str) -> str | None:
    """``render``, but ``None`` if a value in the text is none: it is no text "None" or "nan"."""
    _wrote.null = False
    text = render(template, row, format, where)
    return None if _wrote.null else text


def check_template(template: str, where: str) -> None:
    """Raise ``UsageError``, beginning with ``where``, for a template that no row can fill."""
    _compiled(template, where)


def _compiled(template: str, where: str) -> _Compiled:
    try:
        return _compile(template)
    except TemplateSyntaxError as error:
        hint = "; compare with ==" if error.message and error.message.endswith("got '='") else ""
        raise UsageError(
            f"{where}: template line {error.lineno}: {(error.message or '').rstrip('.')}: {template!r}{hint}"
        ) from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # of Python: too deep, too many digits
        raise UsageError(f"{where}: template {shortened(template, SHOWN)!r} cannot be compiled: {error}") from error


def is_true(template: str, row: Mapping[str, Any], format: Format, where: str) -> bool:
    """Whether a template writes ``true`` or ``1``, rather than ``false``, ``0``, ``none`` or nothing, in any case.

    Raises ``UsageError``, beginning with ``where``, for any other text.
    """
    text = render(template, row, format, where).strip()
    if text.lower() in ("true", "1"):
        return True
    if text.lower() in ("false", "0", "none", ""):
        return False
    raise UsageError(
        f"{where}: template {shortened(template, SHOWN)!r} gives {shortened(text, SHOWN)!r}; it must give true or "
        "false, as does {{ level == 5 }}"
    )


@dataclass(frozen=True)
class RowCondition:
    """Whether a template over an example's columns is true. Raises ``UsageError``; ``where`` begins its messages."""

    template: str
    format: Format
    where: str

    def __call__(self, example: Example) -> bool:
        return is_true(self.template, example.info, self.format, self.where)
