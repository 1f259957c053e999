r"""What an answer is: a number, several things together, words, or a formula for computer algebra."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from .arithmetic import equations
from .exact import Number, OverLimitError, read_number
from .normal import normal, unwrapped
from .units import read_unit, split_unit

MAX_LENGTH = 1500
MAX_NESTING = 20
MAX_SIGNS = 4  # of plus-minus in one item, each of which doubles what it stands for

# A variable, a function's value f(2), a figure's part AB, \angle ABC or a quantity in words: what stands left of "= 5".
_VARIABLE = re.compile(
    r"([A-Za-z](?:_\{?\w{1,9}\}?)?|[A-Za-z]\([A-Za-z0-9]{1,3}\)|[A-Z]{2,3}|m?\s?\\angle\s?[A-Z]{1,3}|\\[a-z]+"
    r"|(?!(?:not|sin|cos|tan|cot|sec|csc|log|exp)\b)[A-Za-z][a-z]{2,20}(?: [A-Za-z]{1,20}){0,4})"
    r"\s*(?:=|\\in(?![a-z]))\s*([^=]+)$"
)
_SEPARATOR = re.compile(r"\s*[,;]\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+")
_OPENING = {"(": 1, "[": 1, "{": 1, "langle": 1, ")": -1, "]": -1, "}": -1, "rangle": -1}
_PLUS_MINUS = re.compile(r"\\pm(?![A-Za-z])")
_MINUS_PLUS = re.compile(r"\\mp(?![A-Za-z])")
_TOKENS = re.compile(r"\\begin\{[a-z]*\*?\}|\\end\{[a-z]*\*?\}|\\[A-Za-z]+|\\.|[\s\S]")
_MATRIX = re.compile(r"\\begin\{([pb]?matrix|array)\}\s*(?:\{[lcr| ]*\})?(.*)\\end\{\1\}$", re.DOTALL)
_WORDS = re.compile(r"[\"'(]?[A-Za-z][A-Za-z0-9 .:,'\"()&%!?/-]*|\d{1,2}:\d\d(?::\d\d)?\s?(?:[AaPp]\.?[Mm]\.?)?")
_LETTER = re.compile(r"[\"'(\[]?([A-Za-z])[\"')\].:,]*")
_CHOICE = re.compile(r"(?:[(\[]([A-Za-z])[)\]][.:]?|([A-Za-z])[).:])\s+\S")
_WORD = re.compile(r"[A-Za-z]{3,}")
_LETTERS = re.compile(r"\\(?:begin|end)\{[a-z]*\*?\}|\\[A-Za-z]+|[A-Za-z]{2,}")
_LITTLE_WORDS = {"or", "and", "to", "not", "but", "if", "is", "no", "the", "for", "was", "yes"}
_FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "sqrt", "arcsin", "arccos", "arctan", "infty",
    "inf", "det", "pi", "sinh", "cosh", "tanh", "floor", "ceil",
}  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Several things together. ``kind`` is ``set``, ``union``, a pair of brackets, or ``matrix``."""

    kind: str
    items: tuple[Reading, ...]


@dataclass(frozen=True)
class Words:
    """Text that is no mathematics, ready to be compared; ``choice`` is the letter in front of ``(C) 42``."""

    text: str
    choice: str = ""


@dataclass(frozen=True)
class Formula:
    """Something for computer algebra, in normal LaTeX."""

    text: str
    unit: tuple[str, ...] = ()


Shape: TypeAlias = Number | Group | Words | Formula


@dataclass(frozen=True)
class Reading:
    """An answer as it was understood: its shape, and for ``x = ...`` the name and what stands right of it."""

    text: str
    shape: Shape
    variable: str | None = None
    right_side: str = ""


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """Understand an answer. Raises ``OverLimitError`` if it is larger than any honest one."""
    if len(text) > MAX_LENGTH:
        raise OverLimitError(f"an answer of {len(text)} characters is too long")
    return _read(normal(text), MAX_NESTING)


def _read(text: str, depth: int) -> Reading:
    if depth == 0:
        raise OverLimitError("brackets are nested too deeply")
    if text.startswith("{"):
        text = unwrapped(text)
    match = _VARIABLE.match(text)
    right_side = match[2].strip() if match else ""
    if match and (not _SEPARATOR.search(right_side.strip("([{}])\\ ")) or read_number(right_side)):
        return Reading(text, _read(right_side, depth - 1).shape, match[1], right_side)
    if match and _brackets(right_side):
        return Reading(text, _shape(right_side, depth), match[1], right_side)
    value = _calculated(text)
    return Reading(value or text, _shape(value or text, depth))


def _calculated(text: str) -> str | None:
    """The number that a true calculation such as ``2+2=4`` has as one of its sides."""
    found = equations(text)
    if len(found) != 1 or not found[0].right or text[: found[0].start].strip("$ "):
        return None
    if read_unit(text, found[0].end) is None:
        return None
    return next((side.strip() for side in reversed(text.split("=")) if read_number(side.strip())), None)


def _shape(text: str, depth: int) -> Shape:
    number = read_number(text)
    if number is not None:
        return number
    opposite = text[1:].lstrip() if text.startswith("-") else ""
    if _brackets(opposite) == "()" and (number := read_number(opposite[1:-1].strip())):
        return replace(number, value=-number.value)
    if match := _MATRIX.fullmatch(text):
        rows = [row.strip() for row in _split(match[2], lambda token: token == "\\\\") if row.strip()]
        return Group("matrix", tuple(Reading(row, _row(row, depth)) for row in rows))
    parts = _split(text, lambda token: token == "\\cup")
    if len(parts) > 1:
        return Group("union", tuple(_read(part.strip(), depth - 1) for part in parts))
    brackets = _brackets(text)
    if brackets:
        inner = text[2:-2] if brackets == "{}" else text[7:-7] if brackets == "<>" else text[1:-1]
        items = _items(inner)
        if brackets == "{}":
            return Group("set", tuple(_expanded(items, depth)))
        if len(items) > 1:
            return Group(brackets, tuple(_read(item, depth - 1) for item in items))
        if len(items) == 1 and read_number(items[0]) is not None:
            return _shape(items[0], depth - 1) if brackets == "()" else Group(brackets, (_read(items[0], depth - 1),))
    items = _items(text)
    several = len(items) > 1 and all(_mathematical(item) for item in items)
    if several or (len(items) == 1 and _PLUS_MINUS.search(text)):
        return Group("set", tuple(_expanded(items, depth)))
    if _is_words(text):
        choice = _CHOICE.match(text)
        return Words(_plain_words(text), (choice[1] or choice[2]).casefold() if choice else "")
    formula = Formula(*split_unit(text))
    return Words(_plain_words(text)) if _is_prose(formula.text) else formula


def _row(text: str, depth: int) -> Group:
    return Group("row", tuple(_read(cell.strip(), depth - 1) for cell in _split(text, lambda token: token == "&")))


def _expanded(items: list[str], depth: int) -> Iterator[Reading]:
    for item in items:
        signs = len(_PLUS_MINUS.findall(item))
        if signs > MAX_SIGNS:
            raise OverLimitError("too many plus-minus signs")
        for sign, opposite in (("+", "-"), ("-", "+")) if signs else ():
            yield _read(_MINUS_PLUS.sub(opposite, _PLUS_MINUS.sub(sign, item, count=1)).lstrip("+ "), depth - 1)
        if not signs:
            yield _read(item, depth - 1)


def _brackets(text: str) -> str:
    r"""The outer brackets around all of a text: ``()``, ``[]``, ``(]``, ``[)``, or nothing.

    ``\{…\}`` are ``{}``, ``\langle … \rangle`` are ``<>``.
    """
    if text.startswith("\\{") and text.endswith("\\}"):
        return "{}"
    if text.startswith("\\langle") and text.endswith("\\rangle"):
        return "<>"
    if len(text) < 2 or text[0] not in "([" or text[-1] not in ")]" or text[-2] == "\\":
        return ""
    depth = 0
    for token in _TOKENS.finditer(text):
        depth += _OPENING.get(token.group().lstrip("\\"), 0)
        if depth == 0:
            return text[0] + text[-1] if token.end() == len(text) else ""
    return ""


def _items(text: str) -> list[str]:
    """A text split at its outer commas, semicolons, ``and`` and ``or``."""
    cuts, depth, at = [], 0, 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        depth += _OPENING.get(token.lstrip("\\"), 0) + token.startswith("\\begin") - token.startswith("\\end")
        if depth == 0 and match.start() >= at and (separator := _SEPARATOR.match(text, match.start())):
            cuts.append(separator.span())
            at = separator.end()
    edges = [0, *(edge for cut in cuts for edge in cut), len(text)]
    items = [text[start:end].strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return [item for item in items if item]


def _split(text: str, is_cut: Callable[[str], bool]) -> list[str]:
    parts, depth, start = [], 0, 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        depth += _OPENING.get(token.lstrip("\\"), 0) + token.startswith("\\begin") - token.startswith("\\end")
        if depth == 0 and is_cut(token):
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _mathematical(item: str) -> bool:
    return re.search(r"[\d\\]", item) is not None or re.fullmatch(r"[A-Za-z]", item) is not None


def _is_words(text: str) -> bool:
    if _LETTER.fullmatch(text) or re.fullmatch(r"\d{1,2}:\d\d.*", text):
        return True
    if _CHOICE.match(text) and not re.search(r"[\\^_=<>+*{}]", text):
        return True
    words = _WORD.findall(text)
    return bool(words) and _WORDS.fullmatch(text) is not None and not all(word in _FUNCTIONS for word in words)


def _is_prose(text: str) -> bool:
    """Whether there are words in a formula that algebra would take for products of letters: 0 or 7 is not 0."""
    words = (word for word in _LETTERS.findall(text) if word not in _FUNCTIONS)
    return any(word.lower() in _LITTLE_WORDS or _is_long_word(word) for word in words)


def _is_long_word(word: str) -> bool:
    product = word.isupper() or "".join(sorted(word)) in (word, word[::-1])  # ABCD, abcx
    return len(word) > 3 and word[0] != "\\" and not product and re.search("[aeiou]", word) is not None


def _plain_words(text: str) -> str:
    plain = " ".join(text.casefold().split()).strip(" .,;:!?\"'")
    if letter := _LETTER.fullmatch(plain):
        return letter[1]
    return re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", plain)
