"""Plain Python values, carried as JSON out of a process that is not trusted.

Plain are None, bool, int, float, complex, str, bytes, list, tuple, dict, set and frozenset, instances of classes that
a program derived from them, and numbers of other classes that are exactly equal to an int or a float. Methods that a
program overrode in its class (``__eq__`` that is always true) are not called.
"""

from __future__ import annotations

from typing import Any


class NotPlainError(TypeError):
    """The value is or contains an object of another class. ``value`` is that object."""

    def __init__(self, value: object) -> None:
        super().__init__(f"a value of type {type(value).__name__}")
        self.value = value


def to_json(value: Any) -> Any:
    """A plain value as JSON: scalars and lists as they are, else ``{kind: content}``. Raises ``NotPlainError``."""
    kinds = type(value).__mro__
    if value is None or value is True or value is False:
        return value
    if int in kinds:
        return int.__add__(value, 0)
    if float in kinds:
        return float.__add__(value, 0.0)
    if str in kinds:
        return str.__str__(value)
    if list in kinds:
        return [to_json(item) for item in list.__iter__(value)]
    if tuple in kinds:
        return {"tuple": [to_json(item) for item in tuple.__iter__(value)]}
    if dict in kinds:
        return {"dict": [[to_json(key), to_json(item)] for key, item in dict.items(value)]}
    if set in kinds:
        return {"set": [to_json(item) for item in set.__iter__(value)]}
    if frozenset in kinds:
        return {"set": [to_json(item) for item in frozenset.__iter__(value)]}
    if bytes in kinds:
        return {"bytes": bytes.hex(value)}
    if complex in kinds:
        return {"complex": [complex.real.__get__(value), complex.imag.__get__(value)]}
    return _number(value)


def _number(value: Any) -> Any:
    """An int of NumPy, a Fraction, a Decimal…: the int or float that it equals."""
    try:
        if hasattr(value, "__index__"):
            return int(value.__index__())
        numerator, denominator = value.as_integer_ratio()
        if denominator == 1:
            return int(numerator)
        if (numerator / denominator).as_integer_ratio() == (numerator, denominator):
            return float(numerator / denominator)
    except Exception:
        raise NotPlainError(value) from None
    raise NotPlainError(value)


def from_json(data: Any) -> Any:
    """The inverse of ``to_json``; sets come back frozen. Raises ``ValueError`` or ``TypeError`` for anything else."""
    if isinstance(data, list):
        return [from_json(item) for item in data]
    if not isinstance(data, dict):
        return data
    if len(data) != 1:
        raise ValueError("not a plain value")
    ((kind, content),) = data.items()
    if kind == "tuple":
        return tuple(from_json(item) for item in content)
    if kind == "dict":
        return {from_json(key): from_json(item) for key, item in content}
    if kind == "set":
        return frozenset(from_json(item) for item in content)
    if kind == "bytes":
        return bytes.fromhex(content)
    if kind == "complex":
        return complex(*content)
    raise ValueError("not a plain value")
