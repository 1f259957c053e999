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
    try:
        return _value(node)
    except (TypeError, ArithmeticError, MemoryError, RecursionError):
        raise ValueError("not a literal") from None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        make = _BUILTINS.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if make is None or node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise ValueError("not a literal")
        return make(*map(_value, node.args))
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        items = [_value(item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items) if isinstance(node, ast.Tuple) else set(items)
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [_value(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_value, node.values), strict=True))
    return ast.literal_eval(node)
