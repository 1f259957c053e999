"""Values that test code writes out: literals, ``set((1, 2))``, and objects of the standard library such as Decimals."""

from __future__ import annotations

import ast
import collections
import datetime
import decimal
import fractions
from collections.abc import Callable, Iterable
from typing import Any

_BUILTINS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind for kind in (set, frozenset, tuple, list, dict, float, complex, bytearray)
}
_LIBRARY: dict[tuple[str, str], Callable[..., Any]] = {
    ("collections", "Counter"): collections.Counter,
    ("collections", "deque"): collections.deque,
    ("datetime", "date"): datetime.date,
    ("datetime", "datetime"): datetime.datetime,
    ("datetime", "time"): datetime.time,
    ("datetime", "timedelta"): datetime.timedelta,
    ("decimal", "Decimal"): decimal.Decimal,
    ("fractions", "Fraction"): fractions.Fraction,
}


def literal(node: ast.expr, context: Iterable[ast.stmt]) -> Any:
    """The value of an expression. ``context`` has the imports that its names need. Raises ``ValueError``."""
    if isinstance(node, ast.Call):
        return _constructed(node, context)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        items = [literal(item, context) for item in node.elts]
        return items if isinstance(node, ast.List) else _hashed(tuple if isinstance(node, ast.Tuple) else set, items)
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [literal(key, context) for key in node.keys if key is not None]
        return _hashed(dict, list(zip(keys, (literal(value, context) for value in node.values), strict=True)))
    try:
        return ast.literal_eval(node)
    except (TypeError, RecursionError, MemoryError):
        raise ValueError("not a literal") from None


def _constructed(node: ast.Call, context: Iterable[ast.stmt]) -> Any:
    make = _constructor(node.func, context)
    if make is None or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise ValueError("not a literal")
    try:
        arguments = [literal(argument, context) for argument in node.args]
        options = {str(keyword.arg): literal(keyword.value, context) for keyword in node.keywords}
        if make in (list, tuple, set, frozenset, dict, bytearray) and (len(arguments) > 1 or options):
            raise ValueError("not a literal")
        if make is fractions.Fraction and any("e" in str(argument).lower() for argument in arguments):
            raise ValueError("not a literal")
        return make(*arguments, **options)
    except (TypeError, ArithmeticError, MemoryError, RecursionError):
        raise ValueError("not a literal") from None


def _hashed(make: Callable[[list[Any]], Any], items: list[Any]) -> Any:
    try:
        return make(items)
    except TypeError:
        raise ValueError("not a literal") from None


def _constructor(function: ast.expr, context: Iterable[ast.stmt]) -> Callable[..., Any] | None:
    """What a name or ``module.name`` constructs, if it is a builtin or the context imports it."""
    if isinstance(function, ast.Name):
        if function.id in _BUILTINS:
            return _BUILTINS[function.id]
        for node in context:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == function.id:
                        return _LIBRARY.get((node.module or "", alias.name))
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        for node in context:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if (alias.asname or alias.name) == function.value.id:
                        return _LIBRARY.get((alias.name, function.attr))
    return None
