"""Dates: ``2024-05-01``, ``May 1, 2024``, ``1 May 2024``, ``5.6.2024`` (day, month), ``12/6/2020``, ``May 2024``.

Of ``12/6/2020`` only the order of the three numbers is known: it equals ``12/06/2020``, and neither
``December 6, 2020`` nor ``6/12/2020``. With ``25/12/2020`` there is no doubt.

Needed by the answers of date_understanding (zero-shot-CoT logs, BIG-bench).
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field, replace

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 60
_LEAP_YEAR = 2000  # for a date without a year, which may be February 29

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may"
    r"|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_WEEKDAY = lazy_compile(r"(?:on )?(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? ", re.IGNORECASE)
_NAMED = tuple(
    lazy_compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_MONTH}[ -]{_DAY}(?:(?:, ?| |-){_YEAR})?",
        rf"{_DAY}[ -](?:of )?{_MONTH}(?:(?:, ?| |-){_YEAR})?",
        rf"{_YEAR}[ -]{_MONTH}[ -]{_DAY}",
        rf"(?:in )?{_MONTH}(?:, | |-)(?:of )?{_YEAR}",
    )
)
_NUMERIC = lazy_compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})")


@dataclass(frozen=True)
class Date:
    """A date, or the known part of one. ``numbers`` are those of a numeric date of which the order is unknown."""

    year: int | None
    month: int | None = None
    day: int | None = None
    numbers: tuple[int, int, int] | None = None
    order: str = field(default="", compare=False)
    """``day`` or ``month``: what stands first in a date of numbers."""


def same_date(one: Date, other: Date) -> bool:
    """Whether two dates are the same. ``12/25/2020`` and ``25/12/2020`` are not: one of them is in the wrong order."""
    return one == other and (not one.order or not other.order or one.order == other.order)


def read_date(text: str) -> Date | None:
    """The date that all of a text is, or ``None``; a text in the spelling of ``plain_text.plain``.

    A day of the week in front has to be that of the date.
    """
    if len(text) > MAX_LENGTH or not any(map(str.isdigit, text)):
        return None
    weekday = _WEEKDAY.match(text)
    date = _numeric(text[weekday.end() :] if weekday else text) or _named(text[weekday.end() :] if weekday else text)
    if date and weekday and date.year and date.month and date.day:
        actual = datetime.date(date.year, date.month, date.day).weekday()
        return date if _DAYS[actual] == weekday[1][:3].lower() else None
    return date


def _numeric(text: str) -> Date | None:
    match = _NUMERIC.fullmatch(text)
    if match is None:
        return None
    first, separator, second, third = match.groups()
    if len(first) == 4:
        return _checked(int(first), int(second), int(third)) if len(third) <= 2 else None
    if len(first) > 2 or len(third) != 4:
        return None
    one, two, year = int(first), int(second), int(third)
    day_first, month_first = _checked(year, two, one), _checked(year, one, two)
    if separator == ".":
        return day_first
    if day_first and month_first and one != two:
        return Date(year, numbers=(one, two, year))
    if day_first:
        return replace(day_first, order="day")
    return replace(month_first, order="month") if month_first else None


def _named(text: str) -> Date | None:
    """A date with the name of a month."""
    lower = text.lower()
    has_month = any(month in lower for month in _MONTHS)
    match = next((match for pattern in _NAMED if (match := pattern.fullmatch(text))), None) if has_month else None
    if match is None:
        return None
    parts = match.groupdict()
    month = _MONTHS.index(parts["month"][:3].lower()) + 1
    year = int(parts["year"]) if parts["year"] else None
    return _checked(year, month, int(parts["day"])) if parts.get("day") else Date(year, month)


def _checked(year: int | None, month: int, day: int) -> Date | None:
    """The date, unless the calendar has no such day."""
    try:
        datetime.date(year or _LEAP_YEAR, month, day)
    except ValueError:
        return None
    return Date(year, month, day)
