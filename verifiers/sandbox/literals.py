"""Values that test code writes out: literals, and calls such as ``set((1, 2))`` and ``float("inf")``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

_BUILTINS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind for kind in (set, frozenset, tuple, list, dict, float, complex, bytearray)
}


def literal(node: ast.expr) -> Any:
    """The value of an expression. Raises ``ValueError`` for one that is not written out."""
    if isinstance(node, ast.Call):
        return _constructed(node)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        items = [literal(item) for item in node.elts]
        return items if isinstance(node, ast.List) else _hashed(tuple if isinstance(node, ast.Tuple) else set, items)
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [literal(key) for key in node.keys if key is not None]
        return _hashed(dict, list(zip(keys, map(literal, node.values), strict=True)))
    try:
        return ast.literal_eval(node)
    except (TypeError, RecursionError, MemoryError):
        raise ValueError("not a literal") from None


def _constructed(node: ast.Call) -> Any:
    make = _BUILTINS.get(node.func.id) if isinstance(node.func, ast.Name) else None
    if make is None or node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise ValueError("not a literal")
    try:
        return make(*map(literal, node.args))
    except (TypeError, ArithmeticError, MemoryError, RecursionError):
        raise ValueError("not a literal") from None


def _hashed(make: Callable[[list[Any]], Any], items: list[Any]) -> Any:
    try:
        return make(items)
    except TypeError:
        raise ValueError("not a literal") from None
