"""A sandboxed Jinja2 environment whose templates cannot use up the memory or the time of the process.

Jinja2's sandbox keeps templates from objects they must not reach, but leaves ``{{ 'x' * 10**10 }}`` and nested loops
to the caller. Here everything that grows text or repeats work is counted; only ``render`` counts, not compilation.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any, NamedTuple

from jinja2 import StrictUndefined, Template, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter

MAX_CHARACTERS = 10_000_000  # of a value or of all output; a long prompt has a hundred thousand
MAX_TOTAL = 200_000_000  # of all values that are computed on the way
MAX_STEPS = 200_000  # iterations, calls, filters and operators
MAX_SECONDS = 5.0  # of processor time, for what a step may cost on values of the maximal size
MAX_BITS = 100_000  # of an integer; multiplication takes more than linear time

_PRINTF_FIELD = re.compile(r"%(?:\([^)]*\))?([-+ #0-9.*]*)")
_STEPS = "_count_steps"
_WIDENING = {"center", "ljust", "rjust", "zfill", "expandtabs", "indent", "batch", "slice", "tojson", "round"}
_WIDENING |= {"to_bytes", "wordwrap", "truncate"}
_READ_MISSING = {"default", "d", "tojson"}  # filters whose result is one where the value is none; others write "None"


class _Budget(threading.local):
    """What the template that this thread renders has used."""

    steps = 0
    written = 0
    computed = 0
    constant_text = 0
    wrote_missing = False
    deadline: float | None = None  # none while templates are compiled

    def step(self) -> None:
        self.steps += 1
        if self.deadline is None:
            return
        if self.steps > MAX_STEPS:
            raise SecurityError(f"takes more than {MAX_STEPS:,} steps")
        if self.steps % 64 == 0:
            self.check_time()

    def check_time(self) -> None:
        if self.deadline is not None and time.thread_time() > self.deadline:
            raise SecurityError(f"takes more than {MAX_SECONDS:g} seconds")

    def write(self, characters: int) -> None:
        self.written += characters
        if self.deadline is not None:
            _check_size(self.written)

    def note_missing(self, *values: Any) -> None:
        self.wrote_missing = self.wrote_missing or any(map(is_missing, values))

    def compute(self, characters: int) -> None:
        _check_size(characters)
        self.computed += characters
        if self.deadline is not None and self.computed > MAX_TOTAL:
            raise SecurityError(f"computes more than {MAX_TOTAL:,} characters")


_budget = _Budget()


class Rendered(NamedTuple):
    """The text of a template, and whether a value that is none (``is_missing``) was made text."""

    text: str
    wrote_missing: bool


def is_missing(value: Any) -> bool:
    """Whether a value of a table is none: ``None``, or NaN, which pandas has instead."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def render(template: Template, values: Mapping[str, Any], source_length: int) -> Rendered:
    """Render a template of ``BoundedEnvironment``. Raises ``SecurityError`` at a limit."""
    _budget.steps = _budget.written = _budget.computed = 0
    _budget.wrote_missing = False
    _budget.constant_text = source_length
    _budget.deadline = time.thread_time() + MAX_SECONDS
    try:
        text = template.render(values)
        return Rendered(text, _budget.wrote_missing)
    finally:
        _budget.deadline = None


class _BoundedCode(CodeGenerator):
    """Generates calls for the operator ``~`` and for slices, which the sandbox does not intercept."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        self.write("environment.concatenate((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.cut(")
        self.visit(node.node, frame)
        for bound in (node.arg.start, node.arg.stop, node.arg.step):
            self.write(", ")
            self.visit(bound or nodes.Const(None), frame)
        self.write(")")


class _StrictlyUndefined(StrictUndefined):
    """Also fails in a list, which prints as the ``repr`` of what is in it."""

    __slots__ = ()
    __repr__ = StrictUndefined._fail_with_undefined_error


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Strict and immutable, with limits on text, integers, steps and time."""

    code_generator_class = _BoundedCode
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(undefined=_StrictlyUndefined, keep_trailing_newline=True, finalize=_finalize)
        del self.filters["urlize"]  # its regular expressions take quadratic time
        del self.globals["lipsum"]
        self.filters = {name: _bounded_filter(name, function) for name, function in self.filters.items()}
        self.filters[_STEPS] = _count_steps

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for loop in list(tree.find_all(nodes.For)):
            text = sum(len(data.data) for data in loop.find_all(nodes.TemplateData))
            length = nodes.Const(text, lineno=loop.lineno)
            loop.iter = nodes.Filter(loop.iter, _STEPS, [length], [], None, None, lineno=loop.lineno)
        tree.set_environment(self)
        return tree

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Calculate ``left operator right`` unless the result would be too large."""
        _budget.step()
        if isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length() * max(1, right) if operator == "**" else left.bit_length() + right.bit_length()
            if bits > MAX_BITS:
                raise SecurityError("computes with an integer that is too large")
        elif operator == "+":
            _budget.compute(_text_size(left) + _text_size(right))
        elif operator == "*":
            _budget.compute(max(_length(left) * _count(right), _length(right) * _count(left)))
        elif operator == "%" and isinstance(left, str):
            _check_format(left, right)
        return super().call_binop(context, operator, left, right)

    def concatenate(self, parts: Iterable[Any]) -> str:
        """The operator ``~``."""
        _budget.step()
        parts = list(parts)
        _budget.compute(sum(_text_size(part) for part in parts))
        _budget.note_missing(*parts)
        return "".join(map(str, parts))

    def cut(self, value: Any, start: Any, stop: Any, step: Any) -> Any:
        """The slice ``value[start:stop:step]``."""
        _budget.step()
        _budget.compute(_length(value))
        return value[start:stop:step]

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Call a function, method or macro of a template."""
        _budget.step()
        if isinstance(__obj, Macro):
            _budget.write(_budget.constant_text)
        args = tuple(map(_listed, args))
        receiver, name = getattr(__obj, "__self__", None), getattr(__obj, "__name__", "")
        if isinstance(receiver, (str, bytes, int)):
            _budget.compute(_length(receiver))
            _check_growth(name, receiver, (*args, *kwargs.values()))
        return super().call(__context, __obj, *args, **kwargs)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """``str.format`` and ``format_map``, with limits."""
        if super().wrap_str_format(value) is None:
            return None
        text: str = value.__self__

        def bounded(*args: Any, **kwargs: Any) -> str:
            by_map = value.__name__ == "format_map"
            return _BoundedFormatter(self).vformat(str(text), () if by_map else args, args[0] if by_map else kwargs)

        return bounded


class _BoundedFormatter(SandboxedFormatter):
    size = 0

    def format_field(self, value: Any, format_spec: str) -> Any:
        _budget.step()
        _check_widths(format_spec)
        self.size += _text_size(value)
        _budget.compute(self.size)
        text = super().format_field(value, format_spec)
        self.size += len(text)
        return text


def _bounded_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)  # with the attributes by which Jinja2 passes the environment or the context
    def bounded(*args: Any, **kwargs: Any) -> Any:
        _budget.step()
        before = 1 if hasattr(function, "jinja_pass_arg") else 0
        args = (*args[:before], *map(_listed, args[before:]))
        value, *others = args[before:]
        _budget.compute(_text_size(value))
        _check_growth(name, value, (*others, *kwargs.values()))
        if name not in _READ_MISSING:
            _budget.note_missing(value)
        return function(*args, **kwargs)

    return bounded


def _count_steps(values: Iterable[Any], characters: int) -> Iterator[Any]:
    """The items of a loop whose body has that many characters of constant text."""
    for value in values:
        _budget.step()
        _budget.write(characters)
        yield value


def _listed(value: Any) -> Any:
    """A list of an iterator, such as the result of the filter ``map``, so that it can be measured."""
    return list(_count_steps(value, 0)) if isinstance(value, Iterator) else value


def _finalize(value: Any) -> Any:
    """What is written of a value: lists and mappings as JSON."""
    _budget.write(_text_size(value))
    _budget.note_missing(value)
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (list, tuple, dict)) else value


def _check_growth(name: str, value: Any, others: Collection[Any]) -> None:
    """Raise if a filter or method could make more text of ``value`` than the limit."""
    if name == "replace" and len(others) >= 2:
        old, new, *_ = map(str, others)
        _budget.compute(_length(value) + str(value).count(old) * len(new))
    elif name == "join":
        items, separator = (
            (next(iter(others), ()), value) if isinstance(value, str) else (value, next(iter(others), ""))
        )
        count = len(items) if isinstance(items, Collection) else 0
        _budget.compute(_text_size(items) + count * _length(separator))
    elif name == "translate":
        longest = max(
            (_length(new) for table in others if isinstance(table, dict) for new in table.values()), default=1
        )
        _budget.compute(_length(value) * longest)
    elif name == "format":
        _check_format(str(value), tuple(others))
    elif name in _WIDENING:
        widths = [max(_count(other), _length(other)) for other in others]
        _budget.compute(max(1, _length(value)) * max(widths, default=1))


def _check_format(text: str, values: Any) -> None:
    """Raise if printf-style formatting could exceed the limit."""
    fields = _PRINTF_FIELD.findall(text)
    if any("*" in field for field in fields):
        raise SecurityError("takes the width of a field from a value")
    for field in fields:
        _check_widths(field)
    _budget.compute(len(text) + _text_size(values) * max(1, len(fields)))


def _check_widths(text: str) -> None:
    for digits in re.findall(r"\d+", text):
        _check_size(int(digits[:20]))


def _check_size(size: int) -> None:
    if size > MAX_CHARACTERS:
        raise SecurityError(f"makes more than {MAX_CHARACTERS:,} characters")


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes, list, tuple)) else 1


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 1


def _text_size(value: Any) -> int:
    """At least about the number of characters of ``str(value)``. What is in a value twice counts twice."""
    if isinstance(value, (str, bytes)):
        return len(value)
    size, rest = 1, [value]
    while rest and size <= MAX_CHARACTERS:
        item = rest.pop()
        if isinstance(item, (str, bytes)):
            size += len(item)
        elif isinstance(item, Mapping):
            size += 10 * len(item)
            rest += [*item.keys(), *item.values()]
        elif isinstance(item, (list, tuple, set, frozenset)):
            size += 10 * len(item)
            rest += item
        elif isinstance(item, range):
            size += 6 * len(item)
    if size > 10_000:
        _budget.check_time()
    return size
