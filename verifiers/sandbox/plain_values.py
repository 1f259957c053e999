"""Plain Python values, carried as JSON out of a process that is not trusted, and compared there by type and content.

Plain are None, bool, int, float, complex, str, bytes, bytearray, list, tuple, dict and its views, set, frozenset;
instances of classes derived from these; and numbers of other classes that are exactly equal to an int or a float. The
3,099 tests of MBPP and HumanEval compare with no others. Methods that a program overrode in its class (``__eq__`` that
is always true) are not called, and nothing of the program's is hashed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import Any

MAX_DIGITS = 4300  # of an integer, as in CPython's own limit
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.items()))
_LONG = 200  # characters of a token; longer ones are hashed


class NotPlainError(TypeError):
    """The value is or contains an object of another class."""

    def __init__(self, value: object) -> None:
        super().__init__(f"a value of type {type(value).__name__}")


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
    return _less_common(value, kinds)


def _less_common(value: Any, kinds: tuple[type, ...]) -> Any:
    if bytes in kinds:
        return {"bytes": bytes.hex(value)}
    if bytearray in kinds:
        return {"bytes": bytearray.hex(value)}
    if complex in kinds:
        return {"complex": [complex.real.__get__(value), complex.imag.__get__(value)]}
    if type(value) in _VIEWS:
        return {"set": [to_json(item) for item in value]}
    return _number(value)


def _number(value: Any) -> Any:
    """An int or a float of decimal, fractions, NumPy…: the int or float that it equals."""
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


def digest(data: Any, as_json: bool = False) -> str:
    """A hash of ``to_json``'s output that is the same for equal values: 1, 1.0 and True; a set in any order.

    ``as_json`` also makes tuples equal to lists and keys equal to their text, and True no number. NaN equals nothing.
    Raises ``ValueError`` or ``TypeError`` for anything else, ``RecursionError`` for deep nesting.
    """
    return _hash(_token(data, as_json))


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _token(data: Any, as_json: bool) -> str:
    if data is None:
        return "-"
    if as_json and isinstance(data, bool):
        return f"b{data}"
    if isinstance(data, int):
        return f"n{int(data):x}/1"
    if isinstance(data, float):
        return _float_token(data)
    if isinstance(data, str):
        return f"s{data}" if len(data) < _LONG else f"S{_hash(data)}"
    if isinstance(data, list):
        return _container("l", (_token(item, as_json) for item in data))
    if not isinstance(data, dict) or len(data) != 1:
        raise ValueError("not a plain value")
    ((kind, content),) = data.items()
    return _token_of_kind(kind, content, as_json)


def _token_of_kind(kind: str, content: Any, as_json: bool) -> str:
    if kind == "tuple":
        return _container("l" if as_json else "t", [_token(item, as_json) for item in content])
    if kind == "dict":
        pairs = [(_token(_json_key(key) if as_json else key, as_json), _token(item, as_json)) for key, item in content]
        pairs.sort()
        if any(pair[0] == other[0] for pair, other in pairwise(pairs)):
            raise ValueError("a dict with two equal keys")
        return _container("d", (token for pair in pairs for token in pair))
    if kind == "set":
        tokens = sorted(_token(item, as_json) for item in content)
        if any(token == other for token, other in pairwise(tokens)):
            raise ValueError("a set with two equal elements")
        return _container("e", tokens)
    if kind == "complex":
        real, imaginary = map(_float_token, map(float, content))
        return real if imaginary == "n0/1" else f"c{real},{imaginary}"
    if kind == "bytes" and isinstance(content, str):
        return _container(kind, [content])
    raise ValueError("not a plain value")


def _float_token(value: float) -> str:
    if value != value:
        return f"nan{os.urandom(16).hex()}"
    if value in (float("inf"), float("-inf")):
        return f"n{value}"
    numerator, denominator = value.as_integer_ratio()
    return f"n{numerator:x}/{denominator:x}"


def _container(kind: str, tokens: Iterable[str]) -> str:
    text = "".join(f"{len(token)}:{token}" for token in tokens)
    return f"{kind}({text})" if len(text) < _LONG else f"{kind}#{_hash(text)}"


def _json_key(key: Any) -> Any:
    """A key of a dict as it would come back from JSON, where all of them are strings."""
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int | float):
        return repr(key)
    if isinstance(key, dict) and list(key) == ["tuple"]:
        texts = [f'"{item}"' if isinstance(item, str) else _json_key(item) for item in key["tuple"]]
        return f"[{', '.join(texts)}]"
    raise ValueError("a key that JSON has no text for")


def shown(data: Any, most: int) -> str:
    """The start of what Python would print for ``to_json``'s output."""
    text = ""
    for piece in _pieces(data, most):
        text += piece
        if len(text) > most:
            return f"{text[: most - 1]}…"
    return text


def _pieces(data: Any, most: int) -> Iterator[str]:
    if isinstance(data, str):
        yield repr(data[: most + 1])
    elif isinstance(data, list):
        yield from _between("[", "]", data, most)
    elif not isinstance(data, dict):
        yield repr(data)
    else:
        ((kind, content),) = data.items()
        if kind == "tuple":
            yield from _between("(", ",)" if len(content) == 1 else ")", content, most)
        elif kind == "set":
            yield from _between("{", "}", content, most)
        elif kind == "dict":
            yield "{"
            for index, (key, item) in enumerate(content):
                yield ", " * (index > 0)
                yield from _pieces(key, most)
                yield ": "
                yield from _pieces(item, most)
            yield "}"
        elif kind == "bytes":
            yield repr(bytes.fromhex(content[: 2 * most]))
        else:
            yield kind
            yield from _between("(", ")", content if isinstance(content, list) else [content], most)


def _between(start: str, end: str, items: list[Any], most: int) -> Iterator[str]:
    yield start
    for index, item in enumerate(items):
        yield ", " * (index > 0)
        yield from _pieces(item, most)
    yield end
