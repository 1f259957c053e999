"""Short ways of writing a quantity: ``an hour and a half``, ``2h30``, ``5'10``, ``1.2M``, ``half hour``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.number_words import in_digits

MAX_LENGTH = 60

_A = lazy_compile(
    r"(?P<one>an?|one|\d{1,6}|[a-z]{3,9}) (?P<unit>[a-z]{3,20}?)s?(?P<and> and (?:an? )?(?P<part>half|quarter|third))?",
    re.IGNORECASE,
)
_WHOLE_AND = lazy_compile(r"an? (?P<rest>[a-z]{3,12} and (?:\d{1,2}|[a-z -]{3,20}) [a-z]{3,12})", re.IGNORECASE)
_HALF = lazy_compile(r"(?:a )?(?P<part>half|quarter)[ -](?:of an? )?(?P<unit>[a-z]{3,20})", re.IGNORECASE)
_PARTS = {"half": "1/2", "third": "1/3", "quarter": "1/4"}
_HOURS = lazy_compile(r"(\d{1,3}) ?h ?([0-5]\d)(?: ?m(?:in)?s?)?|(\d{1,3}):([0-5]\d) ?(?:h|hrs?|hours)", re.IGNORECASE)
_FEET = lazy_compile(r"(\d{1,2}|[a-z]{3,5})(?: ?'|[ -](?:foot|feet|ft)\.?)[ -]?(\d{1,2}|[a-z]{3,6})", re.IGNORECASE)
_SHORT = lazy_compile(r"(\d{1,4}(?:\.\d{1,3})?)([kKMmB]|mil|mn|bn)")
_SCALES = {"k": "thousand", "m": "million", "mil": "million", "mn": "million", "b": "billion", "bn": "billion"}
_BARE = lazy_compile(r"(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{3,})")
_MARKED = lazy_compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(''|\"|')")
_MARKS = {"'": "ft", '"': "in", "''": "in"}
_SQUARE_METERS = lazy_compile(r"(?<=\d) ?m([23])", re.IGNORECASE)


def in_full(gold: str, answer: str) -> Iterator[str]:
    """Other readings of an answer as a quantity, in view of a gold answer that is a number."""
    text = answer.rstrip(". ")
    if len(text) > MAX_LENGTH:
        return
    if short := _SHORT.fullmatch(text):
        yield from [f"{short[1]} {_SCALES[short[2].lower()]}"] if _BARE.fullmatch(gold) else []
    elif hours := _HOURS.fullmatch(text):
        yield f"{hours[1] or hours[3]} h {hours[2] or hours[4]} min"
    elif feet := _FEET.fullmatch(text):
        yield f"{in_digits(feet[1]) or feet[1]} ft {in_digits(feet[2]) or feet[2]} in"
    elif (marked := _MARKED.fullmatch(text)) and re.search(r"[a-z]", gold):
        yield f"{marked[1]} {_MARKS[marked[2]]}"
    elif square := _SQUARE_METERS.search(text):
        yield f"{text[: square.start()]} m^{square[1]}{text[square.end() :]}"
    elif half := _HALF.fullmatch(text):
        yield f"{_PARTS[half['part'].lower()]} {half['unit']}"
    elif and_more := _WHOLE_AND.fullmatch(text):
        yield f"1 {and_more['rest']}"
    if (single := _A.fullmatch(text)) and (count := _count(single["one"])):
        part = f" {_PARTS[single['part'].lower()]}" if single["and"] else ""
        yield f"{count}{part} {single['unit']}" if single["and"] or single["one"][:1] in "aA" else text


def _count(word: str) -> str | None:
    """``1`` of ``an``, ``2`` of ``two``."""
    if word.isdecimal():
        return word
    return "1" if word.lower() in ("a", "an") else in_digits(word.lower())
