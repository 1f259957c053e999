"""How often something happens: ``twice a week``, ``every two weeks``, ``daily``, ``every Monday``.

Each is read as a count and a period of so many seconds or months, so that ``every 120 minutes`` is ``every 2 hours``
and ``twice a week`` is not ``every two weeks``. Words of two meanings, such as biweekly, are not read.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..spelling.spellings import spelled

MAX_LENGTH = 60

_UNITS = {
    "second": "1 s", "minute": "60 s", "hour": "3600 s", "day": "86400 s", "night": "1 night", "week": "604800 s",
    "fortnight": "1209600 s", "month": "1 m", "quarter": "3 m", "year": "12 m", "decade": "120 m",
}  # fmt: skip
_ADVERBS = {
    "hourly": "hour", "daily": "day", "nightly": "night", "weekly": "week", "fortnightly": "fortnight",
    "monthly": "month", "quarterly": "quarter", "yearly": "year", "annually": "year",
}  # fmt: skip
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_UNIT = rf"(?P<unit>{'|'.join(_UNITS)})s?"
_PATTERN = lazy_compile(
    r"(?:(?P<name>once|twice|thrice)|(?P<count>\d{1,3}) ?(?:times|x))?,? ?"
    rf"(?:(?:(?:an?|per|/)|(?P<every>every|each)(?: (?P<other>other|2th)| (?P<number>\d{{1,4}})| (?P<half>half)(?: an)?"
    rf"| (?P<quarter>quarter) of an)?) ?(?P<unit>{'|'.join(_UNITS)})s?|(?P<adverb>{'|'.join(_ADVERBS)}))",
    re.IGNORECASE,
)
_WEEKDAY = r"(mon|tues|wednes|thurs|fri|satur|sun)day"
_ON_WEEKDAYS = lazy_compile(
    rf"(?:(?:once )?(?:every|each) {_WEEKDAY}|(?:on )?{_WEEKDAY}s|(?:once a week|weekly) on {_WEEKDAY}s?)",
    re.IGNORECASE,
)


def how_often(text: str) -> str | None:
    """The count and period that all of a text in the spelling of ``codes.plain`` says, or the day of every week."""
    if len(text) > MAX_LENGTH:
        return None
    if match := _ON_WEEKDAYS.fullmatch(text):
        return str(next(filter(None, match.groups()))).lower()
    match = _PATTERN.fullmatch(spelled(text))
    if match is None or not (match["every"] or match["adverb"] or match["name"] or match["count"]):
        return None
    count = _TIMES[match["name"].lower()] if match["name"] else int(match["count"] or 1)
    unit = _ADVERBS[match["adverb"].lower()] if match["adverb"] else match["unit"].lower()
    size, _, name = _UNITS[unit].partition(" ")
    period = int(size) * int(match["number"] or (2 if match["other"] else 1))
    period //= 2 if match["half"] else 4 if match["quarter"] else 1
    return f"{count} in {period} {name}" if period else None
