"""Days of the week and times of day together, and ranges of them: ``Mon–Fri``, ``9:00 AM - 10:30 AM``."""  # noqa: RUF002

from __future__ import annotations

import re
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 60
NOON = 12 * 3600

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:r|rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?(?!\w)"
_TIME = r"(?:\d{1,2}(?::\d\d){0,2}(?:\s?[ap]\.?\s?m\.?(?!\w)|\s?h(?!\w))?|noon|midnight)"
_TO = r"\s?(?:-+|\b(?:to|through|thru|until|till|and)\b)\s?"
_HOURS = lazy_compile(
    rf"(?:(?:from|between)\s)?(?:(?P<day>{_DAY})(?:{_TO}(?P<last_day>{_DAY}))?)?"
    rf"(?:(?:(?<=\w)|(?<=\.)),?(?:\s(?:at|from|between))?\s)?"
    rf"(?:(?P<start>{_TIME})(?:{_TO}(?P<end>{_TIME}))?)?(?:\s\(?(?P<zone>UTC|GMT|[A-Z]{{1,3}}[SD]?T)\)?)?",
    re.IGNORECASE,
)
_WEEKDAYS = lazy_compile(r"\bweekdays\b", re.IGNORECASE)
_DAYS_LAST = lazy_compile(
    rf"(?P<times>(?:from\s|between\s)?{_TIME}(?:{_TO}{_TIME})?),?\s(?:on\s)?(?P<days>(?:from\s)?{_DAY}(?:{_TO}{_DAY})?)",
    re.IGNORECASE,
)
_PARTS = lazy_compile(r"(\d{1,2})(?::(\d\d))?(?::(\d\d))?\s?(?:([ap])|(h))?", re.IGNORECASE)


class Time(NamedTuple):
    """A time of day in seconds. ``half`` is a, p or empty if it is not known; ``is_24`` if by a clock of 24 hours."""

    seconds: int
    half: str
    is_24: bool


class Hours(NamedTuple):
    """The days of the week, from 0 for Monday, and the times of day, of which either may be missing."""

    days: tuple[int, ...]
    times: tuple[Time, ...]
    zone: str


def read_hours(text: str) -> Hours | None:
    """The days and times that a text is, in the spelling of ``codes.plain``; ``None`` for only one day or one time."""
    text = _WEEKDAYS.sub("Monday to Friday", text)
    if swapped := _DAYS_LAST.fullmatch(text):
        text = f"{swapped['days']} {swapped['times']}"
    match = _HOURS.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None or ("and" in text and "between" not in text.lower()):  # Monday and Friday
        return None
    days = tuple(_day(name) for name in (match["day"], match["last_day"]) if name)
    texts = [text for text in (match["start"], match["end"]) if text]
    if len(days) + len(texts) < 2 or (not days and not any(":" in part or part[-1] in "mM." for part in texts)):
        return None
    if days and texts and not any(re.search(r"[:a-z]", part, re.IGNORECASE) for part in texts):  # Monday 3
        return None
    times = [_time(text) for text in texts]
    if None in times:
        return None
    return Hours(days, _in_full([time for time in times if time]), (match["zone"] or "").upper())


def same_hours(one: Hours, other: Hours) -> bool:
    """Whether a gold answer's days and times are those of an answer, which may add am and pm, not leave them out."""
    if one.days != other.days or len(one.times) != len(other.times):
        return False
    if one.zone and other.zone and one.zone != other.zone:
        return False
    return all(map(_same_time, one.times, other.times))


def _same_time(one: Time, other: Time) -> bool:
    if other.half and not one.half and not one.is_24:
        return one.seconds % NOON == other.seconds % NOON
    return one.seconds == other.seconds and (one.half == other.half or one.is_24 or other.is_24)


def _day(name: str) -> int:
    return next(number for number, day in enumerate(_DAYS) if day[:3] == name[:3].lower())


def _time(text: str) -> Time | None:
    if text.lower() in ("noon", "midnight"):
        return Time(NOON, "p", False) if text.lower() == "noon" else Time(0, "a", False)
    match = _PARTS.match(text)
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2] or 0), int(match[3] or 0)
    half = (match[4] or "").lower()
    if hour > 24 or minute > 59 or second > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + 12 * (half == "p")
    is_24 = not half and (bool(match[5]) or hour == 0 or hour > 12 or (text[0] == "0" and bool(match[2])))
    return Time(3600 * (hour % 24) + 60 * minute + second, half, is_24)


def _in_full(times: list[Time]) -> tuple[Time, ...]:
    """The two times of a range with what only one of them says: 9-11 am, 9:00-17:00."""
    if len(times) < 2:
        return tuple(times)
    start, end = times
    if not start.half and end.half and not start.is_24:
        later = start.seconds % 43200 + 43200 * (end.half == "p")
        return (Time(later, end.half, False) if later < end.seconds else start, end)
    if not start.half and not end.half and (start.is_24 or end.is_24):
        return start._replace(is_24=True), end._replace(is_24=True)
    return start, end
