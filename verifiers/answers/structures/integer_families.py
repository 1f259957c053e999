r"""Solutions with an integer parameter: ``n\pi, n\in\mathbb{Z}``, ``x = 12k+5, k\in\mathbb{Z}``, ``x\equiv5\pmod{12}``.

Each is a union of arithmetic progressions, whose starts and steps are exact constants. Two unions are equal if they
have the same residues modulo a common multiple of their steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from math import floor, lcm
from typing import TypeAlias

from grpo_env.lazy_regex import lazy_compile

from ..formulas.exact import constant_terms, linear
from ..formulas.polynomials import ONE, Term
from ..spelling.brackets import items

MAX_RESIDUES = 500
MAX_LENGTH = 200

Value: TypeAlias = Mapping[Term, Fraction]  # a constant: its roots and powers of pi with their coefficients
Progression: TypeAlias = tuple[Value, Value]  # start and step

INTEGERS = r"(?:\\mathbb\s?\{?\s?Z\s?\}?|\\Z(?![A-Za-z])|\u2124|Z)"
DECLARED = lazy_compile(
    r"(?P<body>.*?)[\s,;]*\(?(?:where|for|with|and)?\s*(?:(?:any|all|every|some|each)\s+)?(?:integers?\s+)?"
    rf"(?P<name>[a-z])\s*(?:\\in\s*{INTEGERS}|is (?:an|any) (?:arbitrary )?integer|(?<=integer [a-z]))\)?",
    re.DOTALL,
)
_SET = lazy_compile(rf"\\\{{\s*(?P<body>.*?)\s*(?:\\mid|\||:)\s*(?P<name>[a-z])\s*\\in\s*{INTEGERS}\s*\\\}}", re.DOTALL)
_UNDECLARED = lazy_compile(r"(?<![A-Za-z\\])([kmn])(?![A-Za-z])")
_UNKNOWN = lazy_compile(r"(?:[t-z]|\\theta|\\alpha)\s*=")
_NAMED = lazy_compile(r"(?P<name>[A-Za-z]|\\theta|\\alpha)\s*(?:=|\\in)\s*")
_CONGRUENCE = lazy_compile(
    r"(?:(?P<name>[A-Za-z])\s*\\equiv\s*)?(?P<residue>-?\d{1,6})\s*\(?\s*\\?p?mod(?![a-z])\s*\{?\s*(?P<modulus>\d{1,6})\s*\}?\s*\)?"
)
_IN_WORDS = lazy_compile(
    r"\\mathbb\{Z\}|(?:the set of )?(?:all )?(?:the )?"
    r"(?:(?:(?P<parity>odd|even) )?integers|(?:integer )?multiples of (?P<of>\d{1,6}))(?: [a-z])?"
)
_ALTERNATING = lazy_compile(
    r"\(\s?-\s?1\s?\)\s?\^\s?\{?\s?(?P<name>[a-z])(?P<shift>\s?[+-]\s?1)?\s?\}?\s*(?:\\cdot\s?)?"
)
DEGREES = lazy_compile(r"(\d+(?:\.\d+)?)\s*°")
_PLUS_MINUS = lazy_compile(r"\\pm(?![A-Za-z])")


def same_family(one: str, other: str) -> bool | None:
    """Whether two texts in normal spelling are the same solutions; ``None`` if one of them is no such family."""
    first, second = _family(one), _family(other)
    if first is None and _UNKNOWN.match(one) and (undeclared := with_declaration(one)):  # x = k\pi, for both
        first, second = _family(undeclared), second or _family(with_declaration(other) or "")
    if first is None or second is None or (first[0] and second[0] and first[0] != second[0]):
        return None
    return _same(first[1], second[1])


def with_declaration(text: str) -> str | None:
    r"""``x = k\pi, k\in\mathbb{Z}`` for ``x = k\pi``: multiples of ``\pi`` with one letter."""
    names = set(_UNDECLARED.findall(text)) if "\\pi" in text or "°" in text else set()
    if len(names) != 1 or "\\in" in text or "integer" in text:
        return None
    return rf"{text}, {names.pop()}\in\mathbb{{Z}}"


@lru_cache(maxsize=1024)
def _family(text: str) -> tuple[str, tuple[Progression, ...]] | None:
    """The name of the unknown, if there is one, and the progressions of a text."""
    if len(text) > MAX_LENGTH or not any(hint in text for hint in ("Z", "\u2124", "integer", "mod", "multiples")):
        return None
    if match := _CONGRUENCE.fullmatch(text):
        modulus = int(match["modulus"])
        numbers: list[Value] = [{ONE: Fraction(number)} for number in (int(match["residue"]), modulus)]
        return (match["name"] or "", ((numbers[0], numbers[1]),)) if modulus else None
    unknown, text = without_name(text)
    if match := _IN_WORDS.fullmatch(text):
        step = int(match["of"] or (2 if match["parity"] else 1))
        return (unknown, (({ONE: Fraction(int(match["parity"] == "odd"))}, {ONE: Fraction(step)}),)) if step else None
    match = _SET.fullmatch(text) or DECLARED.fullmatch(text)
    if match is None:
        return None
    body = match["body"]
    if not unknown:
        unknown, body = without_name(body)
    parts = [without_name(part)[1] for part in items(DEGREES.sub(r"\\frac{\1\\pi}{180}", body))]
    progressions = [
        found for part in parts for signed in _signed(part) for found in _progressions(signed, match["name"])
    ]
    found = tuple(progression for progression in progressions if progression is not None)
    return (unknown, found) if found and len(found) == len(progressions) else None


def _progressions(text: str, name: str) -> tuple[Progression | None, ...]:
    """The progression of a formula, or those for even and for odd values of its parameter: ``(-1)^k`` is 1 or -1."""
    match = _ALTERNATING.search(text)
    if match is None or match["name"] != name:
        return (progression(text, name),)
    signs = ("1", "-1") if match["shift"] is None else ("-1", "1")
    even, odd = (progression(f"{text[: match.start()]}{sign} \\cdot {text[match.end() :]}", name) for sign in signs)
    if even is None or odd is None:
        return (None,)
    return (even[0], _sum(even[1], even[1])), (_sum(odd[0], odd[1]), _sum(odd[1], odd[1]))


def _sum(one: Value, other: Value) -> Value:
    total = {term: one.get(term, Fraction(0)) + other.get(term, Fraction(0)) for term in {*one, *other}}
    return {term: number for term, number in total.items() if number}


def without_name(text: str) -> tuple[str, str]:
    match = _NAMED.match(text)
    return (match["name"], text[match.end() :]) if match else ("", text)


def _signed(text: str) -> Iterator[str]:
    r"""A text with its only ``\pm`` as plus and as minus."""
    signs = len(_PLUS_MINUS.findall(text))
    if signs <= 1:
        yield from (_PLUS_MINUS.sub(sign, text) for sign in ("+", "-")[: signs + 1])


def progression(text: str, name: str) -> Progression | None:
    """The start and step of a formula that is linear in a parameter, with constant coefficients."""
    coefficients = linear(text, name)
    if coefficients is None:
        return None
    start, step = constant_terms(coefficients[0]), constant_terms(coefficients[1])
    return (start, step) if start is not None and step else None


def _same(first: tuple[Progression, ...], second: tuple[Progression, ...]) -> bool | None:
    unit = first[0][1]
    ratios = [ratio_of(step, unit) for _, step in (*first, *second)]
    if None in ratios:  # steps such as 1 and pi have no common multiple
        return None if len(first) + len(second) > 2 else False
    steps = [abs(ratio) for ratio in ratios if ratio is not None]
    whole = common_multiple(steps)
    if sum(whole / step for step in steps) > MAX_RESIDUES:
        return None
    sized = list(zip((*first, *second), steps, strict=True))
    residues = [
        {reduced(start, unit, whole, n * size) for (start, _), size in family for n in range(int(whole / size))}
        for family in (sized[: len(first)], sized[len(first) :])
    ]
    return residues[0] == residues[1]


def common_multiple(numbers: list[Fraction]) -> Fraction:
    """The smallest positive number that is a multiple of all of these positive ones."""
    denominator = lcm(*(number.denominator for number in numbers))
    return Fraction(lcm(*(int(number * denominator) for number in numbers)), denominator)


def ratio_of(value: Value, unit: Value) -> Fraction | None:
    """A constant as a rational multiple of another one."""
    if value.keys() != unit.keys():
        return None
    ratios = {value[term] / unit[term] for term in unit}
    return ratios.pop() if len(ratios) == 1 else None


def reduced(start: Value, unit: Value, whole: Fraction, added: Fraction) -> tuple[tuple[Term, Fraction], ...]:
    """``start`` plus so many units, modulo so many: its terms, of which one decides how often to subtract."""
    term = next(iter(sorted(unit)))
    count = start.get(term, Fraction(0)) / unit[term] + added
    moved = added - floor(count / whole) * whole
    total = {key: start.get(key, Fraction(0)) + moved * unit.get(key, Fraction(0)) for key in {*start, *unit}}
    return tuple(sorted((key, value) for key, value in total.items() if value))
