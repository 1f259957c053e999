"""Codes with an ordinal or a number of a series: ``3rd floor`` and ``Floor 3``, ``the 1980s``, ``Q3 2021``."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

ARTICLE = lazy_compile(r"^(?:the|a|an) (?=\w.)", re.IGNORECASE)
ORDINALS = {
    "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th", "seventh": "7th",
    "eighth": "8th", "ninth": "9th", "tenth": "10th", "eleventh": "11th", "twelfth": "12th", "thirteenth": "13th",
    "fourteenth": "14th", "fifteenth": "15th", "sixteenth": "16th", "seventeenth": "17th", "eighteenth": "18th",
    "nineteenth": "19th", "twentieth": "20th",
}  # fmt: skip
_TENS = {"twenty": 2, "thirty": 3, "forty": 4, "fifty": 5, "sixty": 6, "seventy": 7, "eighty": 8, "ninety": 9}
_TENTH = lazy_compile(rf"({'|'.join(_TENS)})-({'|'.join(list(ORDINALS)[:9])})", re.IGNORECASE)
_DECADE = lazy_compile(r"(?:in )?(?:the )?'?(\d{2,4})'?s")
_QUARTER = lazy_compile(
    r"(?:the )?(?:(?:Q(?P<q>[1-4])|(?P<n>first|second|third|fourth|1st|2nd|3rd|4th) quarter)"
    r"(?:(?: of |[ ,/-]{1,2})(?P<year>\d{4}))?|(?P<first>\d{4})(?:[ ,/-]{1,2})Q(?P<last>[1-4]))",
    re.IGNORECASE,
)
_QUARTERS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
_NOUNS = "floor|day|chapter|section|lane|row|level|volume|minute|round|week|lap"
_NUMBERED = lazy_compile(rf"({_NOUNS}) (\d{{1,3}})|(\d{{1,3}})(?:st|nd|rd|th) ({_NOUNS})", re.IGNORECASE)
_INITIALLED = lazy_compile(r"(?:(T)(?:erminal )?|(Q)(?:uestion )?)(\d{1,3}[A-Z]?)", re.IGNORECASE)


def ordinal(text: str) -> str | None:
    """``19th century`` and ``nineteenth century``."""
    first, space, rest = ARTICLE.sub("", text, count=1).partition(" ")
    word = tenth(ORDINALS.get(first.lower(), first))
    return word + space + rest if word[-2:] in ("st", "nd", "rd", "th") else None


def tenth(word: str) -> str:
    """``21st`` for twenty-first."""
    match = _TENTH.fullmatch(word)
    return f"{_TENS[match[1].lower()]}{ORDINALS[match[2].lower()]}" if match else word


def decade(text: str) -> str | None:
    """``1980s``, ``1980's`` and ``the 1980s``."""
    match = _DECADE.fullmatch(text)
    return match and match[1]


def quarter(text: str) -> str | None:
    """``Q3 2021``, ``2021 Q3`` and ``third quarter of 2021``; ``Q3`` and ``third quarter``."""
    match = _QUARTER.fullmatch(text)
    if match is None:
        return None
    number = match["q"] or match["last"] or _QUARTERS.get(match["n"].lower(), match["n"][0])
    return f"{match['year'] or match['first'] or ''} {number}"


def numbered(text: str) -> str | None:
    """``Floor 3``, ``3rd floor`` and ``the third floor``."""
    match = _NUMBERED.fullmatch(ordinal(text) or text)
    return match and f"{match[1] or match[4]} {match[2] or match[3]}".lower()


def initialled(text: str) -> str | None:
    """``Terminal 2`` and ``T2``, ``Question 5`` and ``Q5``."""
    match = _INITIALLED.fullmatch(text)
    return match and (match[1] or match[2]).upper() + match[3]
