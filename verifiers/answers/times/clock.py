"""Times of day: ``3:30 p.m.``, ``15:30``, ``noon``, half past six."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 40
NOON = 12 * 3600  # seconds

_HALF = r"\s?([ap])\.?\s?m\.?"
_CLOCK = lazy_compile(rf"(\d{{1,2}})\s?:\s?(\d\d)(?:\s?:\s?(\d\d))?(?:{_HALF})?|(\d{{1,2}}){_HALF}", re.IGNORECASE)
_ZONE = lazy_compile(
    r"(?:at\s)?(?P<time>[^A-Za-z]*(?:[ap]\.?\s?m\.?)?|(?:(?:12(?::00)?|twelve) )?(?:noon|midnight|midday))"
    r"(?P<hour>\s?o'clock)?"
    r"(?P<h>(?<=\d)\s?(?:h|hrs|Uhr)\b)?"
    r"(?:\s?\(?(?P<zone>UTC|GMT|[A-Z]{1,3}[SD]?T|Z)\)?)?",
    re.IGNORECASE,
)
_MINUTES = {
    "half": 30, "thirty": 30, "fifteen": 15, "a quarter": 15, "quarter": 15, "five": 5, "ten": 10, "twenty": 20,
    "twenty-five": 25, "twenty five": 25,
}  # fmt: skip
_HOURS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12,
}  # fmt: skip
_PARTS_OF_DAY = {
    "in the morning": (range(12), "am"), "in the afternoon": (range(12, 20), "pm"),
    "in the evening": (range(16, 24), "pm"), "at night": (range(19, 24), "pm"),
}  # fmt: skip
"""The hours that a part of the day has."""
_SPOKEN = lazy_compile(
    rf"(?:at )?(?:(?P<minutes>{'|'.join(sorted(_MINUTES, key=len, reverse=True))}|[1-5]?\d)(?: minutes?)?"
    r" (?P<to>past|after|to|till|before) )?"
    rf"(?:(?P<name>{'|'.join(_HOURS)})|(?P<hour>1[0-2]|[1-9])(?::(?P<minute>[0-5]\d))?)(?P<clock> o'clock)?"
    rf"(?: ?(?P<part>{'|'.join(_PARTS_OF_DAY)}|[ap]\.?m\.?))?",
    re.IGNORECASE,
)
_NAMES = {"noon": "12 pm", "midnight": "12 am", "midday": "12 pm"}
_MINUTE_WORDS = {
    "oh five": 5, "o five": 5, "ten": 10, "fifteen": 15, "twenty": 20, "twenty-five": 25, "twenty five": 25,
    "thirty": 30, "thirty-five": 35, "thirty five": 35, "forty": 40, "forty-five": 45, "forty five": 45, "fifty": 50,
    "fifty-five": 55, "fifty five": 55,
}  # fmt: skip
_WRITTEN = lazy_compile(
    rf"(?:at )?(?:(?P<hour>{'|'.join(_HOURS)}) (?P<minute>{'|'.join(sorted(_MINUTE_WORDS, key=len, reverse=True))})"
    r"|(?P<digits>[01]?\d|2[0-3]) ?h ?(?P<after>[0-5]\d)?|(?P<four>[01]\d|2[0-3])(?P<last>[0-5]\d) ?(?:h|hrs|hours)"
    r"|(?P<clock>1[0-2]|[1-9])[:.]?(?P<rest>[0-5]\d)? ?(?:o'?clock)? ?(?=[ap]))"
    rf"(?: ?(?P<part>{'|'.join(_PARTS_OF_DAY)}|[ap]\.? ?m\.?|[ap]))?(?: sharp| exactly)?",
    re.IGNORECASE,
)
"""Seven thirty, 15h30, 1530 hours, 340pm, 3 o'clock pm."""


@dataclass(frozen=True)
class TimeOfDay:
    """A time of day. ``sure`` if it is known whether it is am or pm.

    ``padded`` if it is not sure but has a leading zero: ``08:05`` may be 8:05 am, but not pm. ``half`` if it has
    am or pm.
    """

    seconds: int
    sure: bool
    zone: str = ""
    padded: bool = False
    half: bool = False


def read_clock(text: str) -> TimeOfDay | None:
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
    return TimeOfDay(seconds, sure, padded=padded, half=bool(half))


def read_time(text: str) -> TimeOfDay | None:
    """The time of day that a text in any case is, with its time zone."""
    zone = _ZONE.fullmatch(text[:MAX_LENGTH]) if len(text) <= MAX_LENGTH else None
    if zone is None:
        return None
    time = zone["time"].strip()
    if zone["hour"] and time.isdecimal():
        time += ":00"
    if zone["h"] and ":" not in time:  # 14 h is a duration
        return None
    clock = read_clock(
        _NAMES.get(time.lower().removeprefix("12:00 ").removeprefix("12 ").removeprefix("twelve "), time)
    )
    padded = clock is not None and (clock.padded or (zone["h"] is not None and not clock.sure))
    return clock and replace(clock, zone=(zone["zone"] or "").upper(), padded=padded)


def in_figures(text: str) -> str | None:
    """``3:45 pm`` for quarter to four in the afternoon, ``6:30`` for half past six; ``None`` for other texts."""
    if len(text) > MAX_LENGTH:
        return None
    match = _SPOKEN.fullmatch(text.removesuffix(" sharp"))
    if match is None:
        return _written(text)
    if not (match["minutes"] or match["clock"] or match["part"]):
        return None
    hour, minute = int(match["hour"] or _HOURS[match["name"].lower()]), int(match["minute"] or 0)
    if spoken := (match["minutes"] or "").lower():
        backwards = match["to"].lower() in ("to", "till", "before")
        if match["minute"] or match["clock"] or (backwards and spoken == "half"):
            return None
        minute = _MINUTES.get(spoken) or int(spoken)
        if backwards and minute:
            hour, minute = (hour - 2) % 12 + 1, 60 - minute
    part = (match["part"] or "").lower().replace(".", "")
    if part in _PARTS_OF_DAY:
        hours, half = _PARTS_OF_DAY[part]
        if hour % 12 + 12 * (half == "pm") not in hours:
            return None
        part = half
    return f"{hour}:{minute:02} {part}".rstrip()


def _written(text: str) -> str | None:
    """``7:30`` of seven thirty, ``15:30`` of 15h30 and 1530 hours."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return None
    if match["digits"] and not (match["after"] or match["part"]):  # 3 h is a duration
        return None
    hour = _HOURS.get((match["hour"] or "").lower()) or int(match["digits"] or match["four"] or match["clock"])
    minute = _MINUTE_WORDS.get((match["minute"] or "").lower(), 0) or int(
        match["after"] or match["last"] or match["rest"] or 0
    )
    half = _half(match["part"] or "", hour)
    if half is None or (half and hour > 12):
        return None
    return f"{hour:02}:{minute:02}" if match["four"] else f"{hour}:{minute:02} {half}".rstrip()


def _half(part: str, hour: int) -> str | None:
    """``am`` or ``pm`` of a part of the day, nothing if there is none; ``None`` if the hour is not in it."""
    part = (
        part.lower().replace(".", "").replace(" ", "")
        if part[:2].lower() != "in" and part[:2] != "at"
        else part.lower()
    )
    if part in _PARTS_OF_DAY:
        hours, half = _PARTS_OF_DAY[part]
        return half if hour % 12 + 12 * (half == "pm") in hours else None
    return f"{part[0]}m" if part else ""


def same_time(gold: TimeOfDay, answer: TimeOfDay) -> bool:
    """Whether two times are the same. A time zone may be left out, am and pm may be added, but not left out."""
    if answer.half and not gold.sure and not gold.padded and gold.seconds < NOON:
        gold = replace(gold, seconds=gold.seconds + answer.seconds // NOON * NOON)
    if gold.seconds != answer.seconds or (gold.zone and answer.zone and gold.zone != answer.zone):
        return False
    if gold.half and gold.seconds == NOON:  # 12:00 for noon
        return True
    return gold.sure == answer.sure or gold.padded or answer.padded or answer.half
