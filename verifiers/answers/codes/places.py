"""Where something is, as codes: street addresses, postal codes and coordinates."""

from __future__ import annotations

import re
from decimal import Decimal

from grpo_env.lazy_regex import lazy_compile

from .numbering import ORDINALS, tenth

_BETWEEN_COORDINATES = lazy_compile(r"(?<=[NS]),? ?(?=\d)")
_CITY = r"([A-Z][^\W\d_]+(?:[ -][A-Z]?[^\W\d_]+){0,2})"
_POSTAL = lazy_compile(rf"(\d{{4,5}}),? {_CITY}|{_CITY},? (\d{{4,5}})")
_COORDINATE = r"([-+]?\d{1,3}\.\d{3,8})°?"
COORDINATES = lazy_compile(rf"\(?{_COORDINATE},? {_COORDINATE}\)?")
_STREETS = {
    "st": "street", "ave": "avenue", "av": "avenue", "rd": "road", "ln": "lane", "dr": "drive", "blvd": "boulevard",
    "ct": "court", "pl": "place", "hwy": "highway", "pkwy": "parkway", "sq": "square",
    "ter": "terrace", "terr": "terrace", "cres": "crescent",
}  # fmt: skip
_PARTS_OF_BUILDINGS = {"apt": "apartment", "ste": "suite", "fl": "floor", "bldg": "building", "rm": "room"}
_DIRECTIONS = {
    "n": "north", "s": "south", "e": "east", "w": "west", "ne": "northeast", "nw": "northwest", "se": "southeast",
    "sw": "southwest",
}  # fmt: skip
_ADDRESS = lazy_compile(
    rf"(\d+[A-Z]?),? (?P<street>.+ (?:{'|'.join((*_STREETS, *_STREETS.values()))})\b.*)", re.IGNORECASE
)
_UNIT_FIRST = lazy_compile(
    r"\A((?:apt|apartment|unit|suite|ste|flat|floor|fl|room|rm)\.? #?\w{1,5}), (\d.*)", re.IGNORECASE
)  # Apt 5, 18 Elm Lane
_IN_CITY = lazy_compile(r" (?:in |\()([A-Z][\w' ]{2,30})\)?\Z")


def postal(text: str) -> str | None:
    """``10115 Berlin`` and ``Berlin 10115``."""
    match = _POSTAL.fullmatch(text)
    return match and f"{match[1] or match[4]} {(match[2] or match[3]).lower()}"


def coordinates(text: str) -> str | None:
    """``40.7128, -74.0060``, with or without brackets, degree signs and zeros at the end."""
    match = COORDINATES.fullmatch(text)
    return match and ", ".join(str(Decimal(part).normalize()) for part in match.groups())


def street(text: str) -> str | None:
    """``350 Fifth Avenue North`` and ``350 5th Ave. N``: the words of a street, its direction and its ordinal."""
    text = _UNIT_FIRST.sub(r"\2, \1", _IN_CITY.sub(r", \1", text.removeprefix("No. ")))
    match = _ADDRESS.fullmatch(text) if text[:1].isdecimal() else None
    if match is None:
        return None
    words = match["street"].lower().replace(".", "").replace("'", "").replace(",", " ").split()
    street = [
        _in_full(before, word, after)
        for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False)
    ]
    return f"{match[1].lower()} {' '.join(street)}"


def _in_full(before: str, word: str, after: str) -> str:
    """A word of an address in full; the first one may be Saint, or the letter of a street."""
    if before and word in _STREETS:
        return _STREETS[word]
    if before and word in _PARTS_OF_BUILDINGS:
        return _PARTS_OF_BUILDINGS[word]
    if word in _DIRECTIONS and (before or (after not in _STREETS and after not in _STREETS.values())):
        return _DIRECTIONS[word]
    return ORDINALS.get(word) or tenth(word)


def position(text: str) -> str | None:
    """``48°51'N 2°21'E`` and ``48°51'N, 2°21'E``."""
    return _BETWEEN_COORDINATES.sub(" ", text) if "\u00b0" in text else None
