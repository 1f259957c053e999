"""JSON by value: a strict, bounded parser and equality of what it reads. Numbers are exact decimals."""

from __future__ import annotations

import ast
import json
import re
import warnings
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from typing import NoReturn

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 100_000  # characters
MAX_LITERAL, MAX_LITERAL_DEPTH = 2000, 20  # of a literal of Python
MAX_DEPTH = 100  # arrays and objects inside of each other

_BOXED = lazy_compile(r"\\(?:boxed|fbox)\s*\{(.*)\}", re.DOTALL)
_FENCED = lazy_compile(r"\s*```[a-z]{0,9}\s(.*?)\s*```\s*", re.DOTALL | re.IGNORECASE)

warnings.filterwarnings("ignore", category=SyntaxWarning, module="<unknown>")  # of ``ast.literal_eval``, for ``[1in]``

Json = None | bool | Decimal | str | list["Json"] | dict[str, "Json"]


class JsonError(ValueError):
    """The text is not JSON that can be read."""


class JsonLimitError(JsonError):
    """The text is longer, deeper or has a larger exponent than what is read."""


def parse_json(text: str) -> Json:
    """The value of a JSON text. Raises ``JsonError``: also for duplicate keys, NaN, Infinity and what exceeds a bound.

    A number is a ``Decimal``, whose equality is exact and fast for every exponent: 1e999999999 is never written out.
    """
    if len(text) > MAX_LENGTH:
        raise JsonLimitError(f"JSON of {len(text):,} characters; at most {MAX_LENGTH:,}")
    try:
        value: Json = json.loads(
            text, parse_int=_number, parse_float=_number, parse_constant=_refuse, object_pairs_hook=_object
        )
    except RecursionError:
        raise JsonLimitError(f"JSON nested deeper than {MAX_DEPTH}") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    if _is_deeper(value, MAX_DEPTH):
        raise JsonLimitError(f"JSON nested deeper than {MAX_DEPTH}")
    return value


def equal_json(a: Json, b: Json) -> bool:
    """Whether two values are equal: objects in any order, arrays in theirs, 1 = 1.0; true is not 1, "1" is not 1."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal_json(value, b[key]) for key, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal_json, a, b))
    return a == b


def answered_json(text: str) -> Json:
    """The JSON value that an answer is, also in a code block or with LaTeX's braces. Raises ``JsonError``."""
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1]
    text = text.strip("`$ \n")
    if boxed := _BOXED.fullmatch(text):
        text = boxed[1].strip("`$ \n")
    try:
        return parse_json(text)
    except JsonError:
        if "\\" not in text:
            raise
        return parse_json(re.sub(r"\\([{}_$%&#])", r"\1", text))


def literal(text: str) -> Json:
    """The value of a JSON text or a literal of Python such as ``{'a': None}``. Raises ``JsonError``.

    A tuple is a list under a key that no text has, and so is a key that is no text.
    """
    try:
        return answered_json(text)
    except JsonLimitError:
        raise
    except JsonError:
        pass
    depth = max(accumulate((character in "([{") - (character in ")]}") for character in text), default=0)
    if len(text) > MAX_LITERAL or depth > MAX_LITERAL_DEPTH or "\\" in text:
        raise JsonLimitError("no literal of Python that can be read")
    try:
        return _as_json(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise JsonError("no literal of Python") from None


def _as_json(value: object) -> Json:
    if isinstance(value, dict):
        return {key if isinstance(key, str) else f"\0{key!r}": _as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, tuple):
        return {"\0": [_as_json(item) for item in value]}
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float) and value == value and abs(value) != float("inf"):
        return Decimal(repr(value))
    raise JsonError("no literal of Python")


def text_list(text: str) -> list[str]:
    """The texts and numbers (as written) of a JSON list, such as several gold answers; empty if it is not one."""
    try:
        items = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return []
    return items if isinstance(items, list) and all(isinstance(item, str) and item.strip() for item in items) else []


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise JsonLimitError(f"the exponent of the number {text[:40]} is too large") from None


def _refuse(name: str) -> NoReturn:
    raise JsonError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise JsonError("an object has the same key twice")
    return value


def _is_deeper(value: Json, depth: int) -> bool:
    """Whether a value has more than ``depth`` arrays and objects inside of each other."""
    level = [value]
    for _ in range(depth):
        level = [child for parent in level for child in _children(parent)]
    return any(isinstance(value, dict | list) for value in level)


def _children(value: Json) -> list[Json]:
    return value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
