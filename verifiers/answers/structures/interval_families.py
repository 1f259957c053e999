r"""Intervals with an integer parameter: ``[k\pi, k\pi+1], k\in\mathbb{Z}``, ``\{x \mid 2k\pi<x<2k\pi+\pi\}``.

The period is made a circle. Two unions of intervals are equal if they are the same points of it, which is decided
exactly; ends that are no rational multiples of the period are compared as they stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..formulas.intervals import real_set
from ..parsed import Group, ParsedAnswer
from ..quantities.number import Number
from ..spelling.brackets import items, outer, split
from .integer_families import (
    DECLARED,
    DEGREES,
    INTEGERS,
    MAX_RESIDUES,
    Value,
    common_multiple,
    progression,
    ratio_of,
    reduced,
    with_declaration,
)

MAX_LENGTH = 400
MAX_PIECES = 8

_VARIABLE = r"(?:[t-z]|\\theta|\\alpha)"
_NAMED = lazy_compile(rf"{_VARIABLE}\s*\\in\s*(?P<rest>.+)")
_SET = lazy_compile(
    rf"\\\{{\s*{_VARIABLE}\s*(?:\\in\s*\\mathbb\s?\{{?R\}}?\s*)?(?:\\mid(?![a-z])|\||:)\s*(?P<condition>.+)\\\}}"
)
_UNION = lazy_compile(
    rf"\\bigcup(?:\\limits)?\s*_\s*\{{\s*(?P<name>[a-z])\s*(?:\\in\s*{INTEGERS}\s*\}}|=\s*-\s*\\infty\s*\}}\s*\^\s*\{{?\s*\+?\\infty\s*\}}?)"
    r"\s*(?P<rest>.+)"
)
_BETWEEN = lazy_compile(
    rf"(?P<low>.+?)(?P<first><|\\le(?![a-z]))\s*{_VARIABLE}\s*(?P<last><|\\le(?![a-z]))(?P<high>.+)"
)
_EXCLUDED = lazy_compile(rf"{_VARIABLE}\s*\\ne(?![a-z])(?P<value>.+)")


class Piece(NamedTuple):
    """One interval and its period; ``brackets`` as in ``Group``."""

    low: Value
    high: Value
    step: Value
    brackets: str


def may_be_intervals(gold: str) -> bool:
    """Whether a gold answer may be such a family."""
    return "Z" in gold or "\u2124" in gold or "integer" in gold or ("\\pi" in gold and "," in gold)


def is_interval_family(text: str) -> bool:
    """Whether a text in normal spelling is such a family."""
    return _family(text) is not None


def same_intervals(gold: str, answer: str) -> bool | None:
    """Whether two texts in normal spelling are the same numbers; ``None`` if one of them is no such family."""
    first = _family(gold)
    second = _family(answer) if first else None
    if first is None or second is None:
        return None
    keys = set(first[0].step)
    if len(keys) > 1:
        return None
    unit: Value = {keys.pop(): Fraction(1)}
    steps = [ratio_of(piece.step, unit) for piece in (*first, *second)]
    sizes = [abs(step) for step in steps if step]
    if len(sizes) < len(steps):
        return False
    whole = common_multiple(sizes)
    if sum(whole / size for size in sizes) > MAX_RESIDUES:
        return None
    circles = [_circle(pieces, unit, whole) for pieces in (first, second)]
    if circles[0] is not None and circles[1] is not None:
        return circles[0] == circles[1]
    return _residues(first, unit, whole) == _residues(second, unit, whole)


@lru_cache(maxsize=512)
def _family(text: str) -> tuple[Piece, ...] | None:
    if len(text) > MAX_LENGTH:
        return None
    if union := _UNION.fullmatch(text):
        body, name = union["rest"].strip(), union["name"]
    else:
        if named := _NAMED.fullmatch(text):
            text = named["rest"]
        within = _SET.fullmatch(text)
        text = within["condition"].strip() if within else text
        declared = DECLARED.fullmatch(text) or DECLARED.fullmatch(with_declaration(text) or "")
        if declared is None:
            return None
        body, name = declared["body"].strip(), declared["name"]
        within = _SET.fullmatch(body)
        body = within["condition"].strip(" ,") if within else body
    body = DEGREES.sub(r"\\frac{\1\\pi}{180}", body)
    parts = [part for half in split(body, "\\cup") for part in items(half)]
    if not 0 < len(parts) <= MAX_PIECES:
        return None
    if len(parts) > 1 and "\\ne" in body:
        return None
    pieces = [piece for part in parts if (piece := _piece(part, name))]
    return tuple(pieces) if len(pieces) == len(parts) else None


def _piece(text: str, name: str) -> Piece | None:
    """``(a, b)``, ``a < x \\le b``, or all between the numbers of ``x \\ne a``."""
    if excluded := _EXCLUDED.fullmatch(text):
        hole = progression(excluded["value"].strip(), name)
        if hole is None:
            return None
        start, step = hole
        size = {term: abs(value) for term, value in step.items()} if len(step) == 1 else {}
        return Piece(start, _sum(start, size), step, "()") if size else None
    if between := _BETWEEN.fullmatch(text):
        brackets = ("(" if between["first"] == "<" else "[") + (")" if between["last"] == "<" else "]")
        ends = [between["low"], between["high"]]
    else:
        brackets, inner = outer(text)
        ends = items(inner) if brackets in ("()", "[]", "(]", "[)") else []
    families = [progression(end.strip(), name) for end in ends]
    if len(families) != 2 or families[0] is None or families[1] is None or families[0][1] != families[1][1]:
        return None
    return Piece(families[0][0], families[1][0], families[0][1], brackets)


def _sum(one: Value, other: Value, sign: int = 1) -> Value:
    total = {term: one.get(term, Fraction(0)) + sign * other.get(term, Fraction(0)) for term in {*one, *other}}
    return {term: value for term, value in total.items() if value}


def _circle(pieces: tuple[Piece, ...], unit: Value, whole: Fraction) -> object:
    """The points of all intervals from 0 to the common period; ``None`` if an end is no multiple of the unit."""
    groups: list[Group] = []
    for piece in pieces:
        low, high = (_multiple(end, unit) for end in (piece.low, piece.high))
        step = ratio_of(piece.step, unit)
        if low is None or high is None or not step or low >= high:
            return None
        for n in range(int(whole / abs(step))):
            groups += _unrolled((low + n * abs(step)) % whole, high - low, whole, piece.brackets)
    return real_set(Group("union", tuple(ParsedAnswer("", group) for group in groups)))


def _unrolled(start: Fraction, size: Fraction, whole: Fraction, brackets: str) -> Iterator[Group]:
    """An interval of a circle as intervals that end before its end."""
    end = start + size
    if size > whole:
        yield _interval(Fraction(0), whole, "[)")
    elif end < whole or (end == whole and brackets[1] == ")"):
        yield _interval(start, end, brackets)
    else:
        yield _interval(start, whole, brackets[0] + ")")
        if end > whole:
            yield _interval(Fraction(0), end - whole, "[" + brackets[1])
        else:
            yield Group("set", (_number(Fraction(0)),))


def _interval(low: Fraction, high: Fraction, brackets: str) -> Group:
    return Group(brackets, (_number(low), _number(high)))


def _number(value: Fraction) -> ParsedAnswer:
    return ParsedAnswer(str(value), Number(value))


def _multiple(value: Value, unit: Value) -> Fraction | None:
    return ratio_of(value, unit) if value else Fraction(0)


def _residues(pieces: tuple[Piece, ...], unit: Value, whole: Fraction) -> set[object]:
    """Each interval by its start modulo the common period, its length and its brackets."""
    found: set[object] = set()
    for piece in pieces:
        step = abs(ratio_of(piece.step, unit) or whole)
        length = tuple(sorted(_sum(piece.high, piece.low, -1).items()))
        found |= {(reduced(piece.low, unit, whole, n * step), length, piece.brackets) for n in range(int(whole / step))}
    return found
