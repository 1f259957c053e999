# ruff: noqa: RUF001  (Greek letters)
r"""Nuclides and nuclear reactions: ``{}^{14}_{6}C \to {}^{14}_{7}N + e^- + \bar\nu_e``, ``C-14``, ``carbon-14``.

Compared are mass numbers, charges and how many there are of each, in any order on each side of the arrow.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.elements import SYMBOLS

MAX_LENGTH = 300
MAX_COUNT = 99  # of one particle

Particle: TypeAlias = tuple[str, int, int]  # a symbol, its mass number and its charge
Reaction: TypeAlias = tuple[frozenset[tuple[Particle, int]], ...]  # sides: particles, with how many there are

_CHARGES = {symbol: number for number, symbol in enumerate(dict.fromkeys(SYMBOLS.values()), 1)}
_PARTICLES: dict[str, Particle] = {
    "n": ("n", 1, 0), "p": ("H", 1, 1), "d": ("H", 2, 1), "D": ("H", 2, 1), "t": ("H", 3, 1),
    "alpha": ("He", 4, 2), "α": ("He", 4, 2), "gamma": ("gamma", 0, 0), "γ": ("gamma", 0, 0),
    "e": ("e", 0, -1), "beta": ("e", 0, -1), "β": ("e", 0, -1),
    "nu": ("nu", 0, 0), "ν": ("nu", 0, 0), "antinu": ("antinu", 0, 0),
}  # fmt: skip
_NAMES = {"neutron": "n", "proton": "p", "deuteron": "d", "triton": "t", "electron": "e", "neutrino": "nu",
          "antineutrino": "antinu"}  # fmt: skip
_ARROW = lazy_compile(r"\s*(?:->|=>)\s*")
_PLUS = lazy_compile(r"(?<![\^_])(?<![\^_]\{)\s*\+\s+|(?<=\s)\+(?=\S)|(?<=[A-Za-zα-ω\d])\+(?=[\^_\\{A-Za-z\d])")
_BAR = lazy_compile(r"\\(?:bar|overline)\s?\{?\s?(?:\\nu|ν)\s?\}?(?:_\{?\\?[a-zμτ]{1,4}\}?)?|antinu")
_TERM = lazy_compile(
    r"(?P<count>\d{1,2}(?=[\s{^_(]|[np]\Z))?\s?\(?(?:\{\s?\})?"
    r"(?:\s?\^\{?\s?(?P<mass>\d{1,3})\}?|\s?_\{?\s?(?P<charge>[+-]?\s?\d{1,3})\}?){0,2}"
    r"\s?\\?(?P<symbol>alpha|beta|gamma|nu|antinu|[A-Z][a-z]?|[npdteαβγν])(?:_\{?\\?(?:e|mu|tau|[eμτ])\}?)?"
    r"(?:\^?\{?(?P<sign>[+-])\}?)?\)?"
)
_HYPHENED = lazy_compile(
    r"(?P<symbol>[A-Z][a-z]?|[a-z]{3,13}|[A-Z][a-z]{2,12})[ -](?P<mass>\d{1,3})(?: nucleus| atom)?"
)


def read_reaction(text: str) -> Reaction | None:
    """The sides of a reaction, or a single nuclide, in the spelling of ``codes.plain``; ``None`` for anything else."""
    if len(text) > MAX_LENGTH or not any(map(str.isdigit, text)):
        return None
    sides = _ARROW.split(_BAR.sub("antinu", text).replace("\\,", " ").replace("\\;", " "))
    read = [_side(side) for side in sides]
    if len(sides) > 2 or not all(read) or (len(sides) == 1 and sum(read[0].values()) > 1):  # type: ignore[union-attr]
        return None
    return tuple(frozenset(side.items()) for side in read if side)


def _side(text: str) -> Counter[Particle] | None:
    particles: Counter[Particle] = Counter()
    terms = _PLUS.split(text.strip())
    for term in terms:
        read = _particle(term.strip(), len(terms) > 1)
        if read is None:
            return None
        particles[read[0]] += read[1]
    return particles


def _particle(term: str, is_one_of_several: bool) -> tuple[Particle, int] | None:
    """A particle and how many there are of it. A bare letter is one only next to others."""
    if name := _NAMES.get(term.lower()):
        return _PARTICLES[name], 1
    if hyphened := _HYPHENED.fullmatch(term):
        symbol = SYMBOLS.get(hyphened["symbol"].lower(), hyphened["symbol"])
        nucleons, protons = int(hyphened["mass"]), _CHARGES.get(symbol, 0)
        return ((symbol, nucleons, protons), 1) if 0 < protons <= nucleons else None
    match = _TERM.fullmatch(term)
    if match is None:
        return None
    symbol, mass, charge, sign = match["symbol"], match["mass"], match["charge"], match["sign"]
    if not (mass or charge or is_one_of_several):
        return None
    if symbol in _PARTICLES:
        particle = _PARTICLES[symbol]
        given = int(charge.replace(" ", "")) if charge else {"+": 1, "-": -1}.get(sign or "", particle[2])
        known = particle if particle[0] != "e" else ("e", 0, given)
        if (mass and int(mass) != known[1]) or (charge and given != known[2]):
            return None
        return known, int(match["count"] or 1)
    if symbol not in _CHARGES or not mass or sign:
        return None
    return (symbol, int(mass), int(charge) if charge else _CHARGES[symbol]), int(match["count"] or 1)
