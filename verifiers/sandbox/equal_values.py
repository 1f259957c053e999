"""The ``==`` of test code that runs beside a program: by content for plain values, else by type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .plain_values import NotPlainError, digest, to_json

_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8  # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_IMMUTABLETYPE


def equality() -> Callable[[object, object], Any]:
    """A function that a program which changes this module's names afterwards does not change.

    Objects of two classes are never equal, so the ``__eq__`` of a program's class decides only between objects of that
    class. Types made in C, which no program can make, compare as usual.
    """
    encode, hashed, not_plain = to_json, digest, NotPlainError
    plain_containers = (list, tuple, dict, set, frozenset)
    flags = type.__dict__["__flags__"].__get__

    def same(one: object, other: object) -> Any:
        try:
            return hashed(encode(one)) == hashed(encode(other))
        except (not_plain, ValueError):
            pass
        kinds = (type(one), type(other))
        containers = [next((kind for kind in plain_containers if kind in of.__mro__), None) for of in kinds]
        if any(containers):
            return containers[0] is containers[1] and same_contents(containers[0], one, other)
        if kinds[0] is kinds[1]:
            fields = getattr(kinds[0], "__dataclass_fields__", ())
            return all(same(getattr(one, name), getattr(other, name)) for name in fields) and one == other
        return not any(map(made_in_python, kinds)) and one == other

    def same_contents(kind: Any, one: Any, other: Any) -> bool:
        if kind.__len__(one) != kind.__len__(other):
            return False
        if kind is list or kind is tuple:
            return all(same(*pair) for pair in zip(kind.__iter__(one), kind.__iter__(other), strict=True))
        items = kind.items if kind is dict else kind.__iter__
        return all(any(same(item, match) for match in items(other)) for item in items(one))

    def made_in_python(kind: type) -> bool:
        return bool(flags(kind) & (_HEAP_TYPE | _IMMUTABLE_TYPE) == _HEAP_TYPE)

    return same
