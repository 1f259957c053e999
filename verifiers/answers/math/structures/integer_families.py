r"""Solutions with an integer parameter: ``n\pi, n\in\mathbb{Z}``, ``x = \frac{\pi}{3}+\pi k``, ``3k, k\in\mathbb{Z}``.

Each is a union of arithmetic progressions, whose starts are exact constants and whose steps are rational multiples of
1, of pi or of one root. Two unions are equal if they have the same residues modulo a common multiple of their steps.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

from grpo_env.lazy_regex import lazy_compile

from ..brackets import items
from ..exact import constant_terms, linear
from ..polynomials import Term

MAX_RESIDUES = 500
MAX_LENGTH = 200

# Of start + n step: a unit such as pi, the step and the start in this unit, and the other terms of the start
_Progression: TypeAlias = tuple[Term, Fraction, Fraction, frozenset[tuple[Term, Fraction]]]

_ANGLES = ("t", "x", "y", "z", r"\theta", r"\alpha")
_DECLARED = lazy_compile(
    r"(?:\\\{)?(?P<body>.*?)(?:\\mid|[\s,;|:])*\(?(?:where|for|with|and)?\s*(?:(?:any|all|every|some|each)\s+)?(?:integers?\s+)?"
    r"(?P<name>[a-z])\s*(?:\\in\s*(?:\\mathbb\s?\{?\s?Z\s?\}?|\\Z(?![A-Za-z])|\u2124|Z)|is an(?:y| arbitrary)? integer"
    r"|(?<=integer [a-z]))[)\s]*(?:\\\})?"
)
_UNDECLARED = lazy_compile(r"(?<![A-Za-z\\])([kmn])(?![A-Za-z])")
_NAMED = lazy_compile(r"\A(?P<name>[A-Za-z]|\\theta|\\alpha)\s*(?:=|\\in)\s*")


class _Family(NamedTuple):
    """Progressions, the name of the unknown, and whether the text says that the parameter is an integer."""

    unknown: str
    declared: bool
    progressions: tuple[_Progression, ...]


def same_family(gold: str, answer: str) -> bool:
    """Whether two texts in normal spelling are the same solutions.

    Only a gold answer that is solved for an angle or a time may leave the integers out; then the answer may as well.
    """
    one, other = _family(gold), _family(answer)
    if one is None or other is None or (one.unknown and other.unknown and one.unknown != other.unknown):
        return False
    if not (other.declared if one.declared else one.unknown in _ANGLES):
        return False
    steps = [step for _, step, _, _ in one.progressions + other.progressions]
    whole = Fraction(lcm(*(step.numerator for step in steps)), gcd(*(step.denominator for step in steps)))
    if sum(whole / step for step in steps) > MAX_RESIDUES:
        return False
    residues, expected = (
        {
            (unit, (start + n * step) % whole, others)
            for unit, step, start, others in family.progressions
            for n in range(int(whole / step))
        }
        for family in (one, other)
    )
    return residues == expected


@lru_cache(maxsize=1024)
def _family(text: str) -> _Family | None:
    may_be_declared = "Z" in text or "\u2124" in text or "integer" in text
    match = _DECLARED.fullmatch(text) if may_be_declared and len(text) <= MAX_LENGTH else None
    body, names = (match["body"], {match["name"]}) if match else (text, set(_UNDECLARED.findall(text)))
    if len(names) != 1 or len(text) > MAX_LENGTH or not (match or "\\pi" in text):
        return None
    unknown = _NAMED.match(body)
    parts = [_NAMED.sub("", part, count=1) for part in items(body)]
    found = [
        _progression(part.replace("\\pm", sign), min(names)) if part.count("\\pm") < 2 else None
        for part in parts
        for sign in ("+", "-")
    ]
    progressions = tuple(dict.fromkeys(progression for progression in found if progression))
    return _Family(unknown["name"] if unknown else "", bool(match), progressions) if found and all(found) else None


def _progression(text: str, name: str) -> _Progression | None:
    """The progression of a formula that is linear in a parameter, with constant coefficients."""
    coefficients = linear(text, name)
    start, step = map(constant_terms, coefficients) if coefficients else (None, None)
    if start is None or step is None or len(step) != 1:
        return None
    ((unit, size),) = step.items()
    others = frozenset((term, number) for term, number in start.items() if term != unit and number)
    return (unit, abs(size), start.get(unit, Fraction(0)), others) if size else None
