"""Literals: JSON objects and lists, and Python's ``['a', 'b']``, ``{1: 'a'}``, ``'text'`` as CRUX has them.

Compared by value: objects in any order, ``1`` and ``1.0`` are equal, ``true`` is not 1. A quoted text is compared with
all its spaces and in its case; the answer may leave its quotes out.
"""

from __future__ import annotations

import ast
from decimal import Decimal

from .json_value import Json, JsonError, equal_json, literal

MAX_QUOTED = 2000  # characters of a quoted text


def read(text: str) -> Json:
    """The value of a literal. Raises ``JsonError``."""
    quoted = _quoted(text)
    return literal(text) if quoted is None else quoted


def is_literal(text: str) -> bool:
    """Whether a text is a literal that no mathematics would be written as: ``[1, 2]`` is a list of numbers."""
    start = text.lstrip(" `\n")[:1]
    if start not in ("{", "[", "(", "'", '"'):
        return False
    try:
        value = read(text)
    except JsonError:
        return False
    if start == "(":
        return "[" in text or not _is_numeric(value)
    return isinstance(value, dict | str) or not value or not _is_numeric(value)


def same(gold: str, answer: str) -> bool:
    """Whether an answer is the value of a gold answer, which is a literal."""
    value = read(gold)
    if isinstance(value, str):
        quoted = _quoted(answer)
        return value == quoted or answer in (value, gold.strip()[1:-1])
    for text in (answer, f"({answer})") if gold.lstrip().startswith("(") else (answer,):
        try:
            if equal_json(value, read(text)):
                return True
        except JsonError:
            continue
    return False


def _quoted(text: str) -> str | None:
    """The text that a quoted text of Python or JSON is."""
    text = text.strip()
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0] or len(text) > MAX_QUOTED:
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _is_numeric(value: Json) -> bool:
    if isinstance(value, list):
        return all(map(_is_numeric, value))
    if isinstance(value, dict) and value.keys() == {"\0"}:  # a tuple
        return _is_numeric(value["\0"])
    return isinstance(value, Decimal)
