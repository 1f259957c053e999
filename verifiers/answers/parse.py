r"""Reads an answer: ``x = 2\frac13`` is the number 7/3 with the name x, ``]1,2]`` an interval, ``C) 42`` a choice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from ..arithmetic import equations
from .brackets import english, items, outer, split
from .clock import read_clock, read_ratio
from .exact import OverLimitError, read_number
from .intervals import REALS, group, inequality, real_set, without
from .normal import normal, unwrapped
from .parsed import Formula, Group, Reading, Shape
from .units import read_unit, split_unit
from .wording import read_prose, read_words

MAX_LENGTH = 1500
MAX_NESTING = 20
MAX_SIGNS = 4  # of plus-minus in one item, each of which doubles what it stands for

# A variable, a function's value f(2), a figure's part AB, \angle ABC or a quantity in words: what stands left of "= 5".
_NAME = (
    r"[A-Za-z]'{0,2}(?:_\{?\s?\w{1,9}\s?\}?)?|[A-Za-z]'{0,2}(?:\^\{-1\})?\([A-Za-z0-9,| ]{1,9}\)|[A-Z]{2,3}"
    r"|(?:m\s?)?\\(?:angle|triangle)\s?[A-Z]{1,3}|\\[a-z]+|\|[A-Z]{1,2}\||\[[A-Z]{3,6}\]|\\frac\{d[a-z]?\}\{d[a-z]\}"
    r"|\\(?:vec|overline|overrightarrow|hat|bar)\s?\{[A-Za-z ]{1,4}\}"
    r"|(?!(?:not|sin|cos|tan|cot|sec|csc|log|exp)\b)[A-Za-z][a-z]{2,20}(?: [A-Za-z]{1,20}){0,4}"
)
_NAMED = re.compile(rf"(?:{_NAME})")
_NAMED_TUPLE = re.compile(r"\(\s?[a-z](?:\s?,\s?[a-z])+\s?\)")
_ELEMENT_OF = re.compile(rf"({_NAME})\s*\\in(?![a-z])\s*(.+)", re.DOTALL)
_INFINITY = re.compile(r"(-?)\s?inf(?:inity)?", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:(?:so|thus|hence|therefore),?\s)?(?:the\s|my\s)?(?:final\s|correct\s)?answer\s?(?:is\b|[:=])\s*", re.IGNORECASE
)
_RELATION = re.compile(r"[<>]|\\(?:le|ge|ne|in|approx|equiv)(?![a-z])")
_SUCH_THAT = re.compile(r"\s*([a-z])\s*(?:\\in\s*\\mathbb\{R\}\s*)?(?:\\mid(?![a-z])|\||:)(.*)", re.DOTALL)
_ALL_REALS = re.compile(r"(?:the set of )?(?:all |the )?(?:reals|real numbers?)", re.IGNORECASE)
_ANGLE = re.compile(r"(?<![A-Za-z])(?:sin|cos|tan|cot|sec|csc)(?![a-z]).*°", re.DOTALL)
_DEGREES = re.compile(r"(\d+(?:\.\d+)?)\s*°")
_PLUS_MINUS = re.compile(r"\\pm(?![A-Za-z])")
_MINUS_PLUS = re.compile(r"\\mp(?![A-Za-z])")
_MATRIX = re.compile(
    r"(?:\(\s*|\[\s*)?\\begin\{([pb]?matrix|array)\}\s*(?:\{[lcr| ]*\})?"
    r"((?:(?!\\(?:begin|end)\{).)*)\\end\{\1\}(?:\s*[)\]])?",
    re.DOTALL,
)
_COMMAND = re.compile(r"\\[A-Za-z]+|(?<![A-Za-z])(?:sqrt|sin|cos|tan|log|ln|pi)(?![A-Za-z])")
_VARIABLE = re.compile(r"[A-Za-df-hj-z]")  # e and i are numbers


@lru_cache(maxsize=1024)  # a hostile answer takes up to 0.25 MiB
def read(text: str) -> Reading:
    """Understand an answer. Raises ``OverLimitError`` if it is larger than any honest one."""
    if len(text) > MAX_LENGTH:
        raise OverLimitError(f"an answer of {len(text)} characters is too long")
    plain = english(normal(text))
    if lead := _LEAD.match(plain):
        plain = normal(plain[lead.end() :])
    return _read(plain, MAX_NESTING)


@lru_cache(maxsize=256)
def read_list(text: str) -> Reading:
    """An answer as a list of everything that it names, words as well."""
    return together(tuple(_read(item, MAX_NESTING) for item in items(read(text).text)))


def together(readings: tuple[Reading, ...]) -> Reading:
    """Several answers as one set."""
    return Reading(", ".join(reading.text for reading in readings), Group("set", readings))


def _read(text: str, depth: int) -> Reading:
    if depth == 0:
        raise OverLimitError("brackets are nested too deeply")
    if text.startswith("{"):
        text = unwrapped(text)
    text = text.lstrip("+ ")
    if match := _INFINITY.fullmatch(text):
        text = match[1] + "\\infty"
    if number := read_number(text):
        return Reading(text, number)
    if "=" in text and (found := _equation(text, depth)):
        return found
    if _RELATION.search(text):
        if (match := _ELEMENT_OF.fullmatch(text)) and len(items(match[2])) == 1:
            return Reading(text, _shape(match[2].strip(), depth - 1), match[1], match[2].strip())
        if region := inequality(text, lambda end: _read(end, depth - 1)):
            return Reading(text, region[1], region[0], text)
    return Reading(text, _shape(text, depth))


def _equation(text: str, depth: int) -> Reading | None:
    """``x = 5``, ``(x,y) = (1,2)``, chains such as ``2+3 = 5`` and ``x = 10/2 = 5``; ``None`` for other equations."""
    if value := _calculated(text):
        return Reading(value, _shape(value, depth))
    sides = split(text, "=")
    if not all(sides) or _RELATION.search(text):
        return None
    if len(sides) > 2 and any(len(items(side)) > 1 for side in sides):
        return None
    name, right = sides[0], sides[-1]
    if len(sides) == 2:
        if _NAMED.fullmatch(right) and not _NAMED.fullmatch(name):
            name, right = right, name
        if _NAMED.fullmatch(name) and (len(items(right)) == 1 or read_number(right)):
            return Reading(text, _read(right, depth - 1).shape, name, right)
        if _NAMED_TUPLE.fullmatch(name) and outer(right)[0] == "()":
            return Reading(text, _read(right, depth - 1).shape, name.replace(" ", ""), right)
    constants = [side for side in sides if _is_constant(side)]
    if not (constants and (len(constants) == len(sides) or (len(sides) > 2 and _NAMED.fullmatch(name)))):
        return None
    readings = tuple(_read(side, depth - 1) for side in constants)
    named = name if _NAMED.fullmatch(name) and not _NAMED.fullmatch(sides[1]) else None
    return Reading(text, readings[0].shape if len(readings) == 1 else Group("chain", readings), named, constants[-1])


def _is_constant(side: str) -> bool:
    if read_number(side):
        return True
    return len(items(side)) == 1 and not _VARIABLE.search(_COMMAND.sub("", split_unit(side)[0]))


def _calculated(text: str) -> str | None:
    """The number that a true calculation such as ``2+2=4`` has as one of its sides."""
    found = equations(text)
    if len(found) != 1 or not found[0].right or text[: found[0].start].strip("$ "):
        return None
    if read_unit(text, found[0].end) is None:
        return None
    return next((side.strip() for side in reversed(text.split("=")) if read_number(side.strip())), None)


def _shape(text: str, depth: int) -> Shape:
    if number := read_number(text):
        return number
    kind, inner = outer(text[1:].lstrip()) if text.startswith("-") else ("", "")
    if kind == "()" and (number := read_number(inner.strip())):
        return replace(number, value=-number.value)
    if clock := read_clock(text, lambda part: _read(part, depth - 1)):
        return clock
    if match := _MATRIX.fullmatch(text):
        rows = [row for row in split(match[2], "\\\\") if row]
        return Group("matrix", tuple(Reading(row, _row(row, depth)) for row in rows))
    if text == "\\emptyset":
        return Group("set", ())
    if text == "\\mathbb{R}" or _ALL_REALS.fullmatch(text):
        return REALS
    if several := _set_operation(text, depth):
        return several
    kind, inner = outer(text)
    parts = items(inner) if kind else []
    if kind == "{}":
        return _such_that(inner, depth) or Group("set", tuple(_expanded(parts, depth)))
    if len(parts) > 1:
        return Group(kind, tuple(_read(item, depth - 1) for item in parts))
    if len(parts) == 1 and read_number(parts[0]):
        return _shape(parts[0], depth - 1) if kind == "()" else Group(kind, (_read(parts[0], depth - 1),))
    parts = items(text)
    if (len(parts) > 1 and all(_mathematical(part) for part in parts)) or (
        len(parts) == 1 and _PLUS_MINUS.search(text)
    ):
        return Group("set", tuple(_expanded(parts, depth)))
    if words := read_words(text):
        return words
    if ratio := read_ratio(text, lambda part: _read(part, depth - 1)):
        return ratio
    if _ANGLE.search(text):
        text = _DEGREES.sub(r"\\frac{\1\\pi}{180}", text)
    formula = Formula(*split_unit(text))
    return read_prose(formula.text) or formula


def _row(text: str, depth: int) -> Group:
    return Group("row", tuple(_read(cell, depth - 1) for cell in split(text, "&")))


def _set_operation(text: str, depth: int) -> Shape | None:
    parts = split(text, "\\cup")
    if len(parts) > 1:
        return Group("union", tuple(_read(part, depth - 1) for part in parts))
    parts = split(text, "\\setminus")
    if len(parts) == 2:
        whole, removed = (real_set(_read(part, depth - 1).shape) for part in parts)
        return group(rest) if whole and removed and (rest := without(whole, removed)) else None
    return None


def _such_that(inner: str, depth: int) -> Shape | None:
    r"""The region that ``\{x \mid x<2\}`` describes."""
    match = _SUCH_THAT.fullmatch(inner)
    region = inequality(match[2].strip(), lambda end: _read(end, depth - 1)) if match else None
    return region[1] if match and region and region[0] == match[1] else None


def _expanded(parts: list[str], depth: int) -> Iterator[Reading]:
    for part in parts:
        signs = len(_PLUS_MINUS.findall(part))
        if signs > MAX_SIGNS:
            raise OverLimitError("too many plus-minus signs")
        for sign, opposite in (("+", "-"), ("-", "+")) if signs else ():
            reading = _read(_MINUS_PLUS.sub(opposite, _PLUS_MINUS.sub(sign, part, count=1)), depth - 1)
            yield from reading.shape.items if signs > 1 and isinstance(reading.shape, Group) else (reading,)
        if not signs:
            yield _read(part, depth - 1)


def _mathematical(part: str) -> bool:
    return re.search(r"[\d\\]", part) is not None or re.fullmatch(r"[A-Za-z]", part) is not None
