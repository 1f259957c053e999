"""Times of day (``3:30 p.m.``, ``15:30``) and ratios (``2:3``, ``1:2:3``)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from .brackets import split
from .number import Number
from .parsed import Clock, Content, Formula, Group, ParsedAnswer, Words

MAX_LENGTH = 40

_HALF = r"\s?([ap])\.?\s?m\.?"
_CLOCK = re.compile(rf"(\d{{1,2}})\s?:\s?(\d\d)(?:\s?:\s?(\d\d))?(?:{_HALF})?|(\d{{1,2}}){_HALF}", re.IGNORECASE)
_ZONE = re.compile(
    r"(?:at\s)?(?P<time>[^A-Za-z]*(?:[ap]\.?\s?m\.?)?|(?:12 )?(?:noon|midnight))(?P<hour>\s?o'clock)?"
    r"(?P<h>(?<=\d)\s?(?:h|hrs|Uhr)\b)?"
    r"(?:\s?\(?(?P<zone>UTC|GMT|[A-Z]{1,3}[SD]?T|Z)\)?)?",
    re.IGNORECASE,
)
_NAMES = {"noon": "12 pm", "midnight": "12 am"}
_QUANTITY = re.compile(r"[^A-Za-z]*(?:\\[a-z]+[^A-Za-z]*)*|[A-Za-z]")


def read_clock(text: str, parse: Callable[[str], ParsedAnswer]) -> Clock | None:
    """The time of day that a text is, or ``None``. Without am or pm, hours from 1 to 12 are ambiguous."""
    if not text[:1].isdecimal():
        return None
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = int(match[1] or match[5]), int(match[2] or 0), int(match[3] or 0)
    half = (match[4] or match[6] or "").lower()
    if hour > 24 or minute > 59 or second > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + 12 * (half == "p")
    sure = bool(half) or not 1 <= hour <= 12
    padded = not sure and text.startswith("0")
    seconds = 3600 * (hour % 24) + 60 * minute + second
    return Clock(seconds, sure, None if half else read_ratio(text, parse), padded=padded, half=bool(half))


def read_time(text: str) -> Clock | None:
    """The time of day that a text in any case is, with its time zone; never a ratio."""
    zone = _ZONE.fullmatch(text[:MAX_LENGTH]) if len(text) <= MAX_LENGTH else None
    if zone is None:
        return None
    time = zone["time"].strip()
    if zone["hour"] and time.isdecimal():
        time += ":00"
    if zone["h"] and ":" not in time:  # 14 h is a duration
        return None
    clock = read_clock(_NAMES.get(time.lower().removeprefix("12 "), time), _no_ratio)
    padded = clock is not None and (clock.padded or (zone["h"] is not None and not clock.sure))
    return clock and replace(clock, ratio=None, zone=(zone["zone"] or "").upper(), padded=padded)


def _no_ratio(text: str) -> ParsedAnswer:
    return ParsedAnswer(text, Words(text))


def read_ratio(text: str, parse: Callable[[str], ParsedAnswer]) -> Content | None:
    """A ratio as its value: of two parts their quotient, of more each part divided by the last one."""
    parts = split(text, ":")
    if len(parts) < 2 or not all(part and _QUANTITY.fullmatch(part) for part in parts):
        return None
    quotients = [_quotient(parse(part), parse(parts[-1])) for part in parts[:-1]]
    defined = [quotient for quotient in quotients if quotient is not None]
    if len(defined) < len(quotients):
        return None
    return defined[0].content if len(defined) == 1 else Group("ratio", tuple(defined))


def _quotient(part: ParsedAnswer, last: ParsedAnswer) -> ParsedAnswer | None:
    if isinstance(part.content, Number) and isinstance(last.content, Number):
        if not last.content.value:
            return None
        return ParsedAnswer(f"{part.text}/{last.text}", Number(part.content.value / last.content.value))
    text = rf"\frac{{{part.text}}}{{{last.text}}}"
    return ParsedAnswer(text, Formula(text))
