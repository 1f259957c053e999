"""Calendar dates: ``2024-05-01``, ``May 1, 2024``, ``1st of May 2024``, ``12/6/2020``, ``May 2024``, ``May 1``.

Day and month are never guessed: of ``12/6/2020`` only the order of the three numbers is known.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, replace
from typing import Literal

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.number_words import number_at

MAX_LENGTH = 60
LEAP_YEAR = 2000  # for a date without a year, which may be February 29

Order = Literal["", "year", "day", "month", "unknown"]  # the first number; "" if the month is a name

_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_MONTH = r"(?P<month>" + "|".join(f"{name}|{name[:3]}" for name in _MONTHS) + r"|sept)\b\.?"
_WEEKDAY = lazy_compile(
    r"(?:on\s)?(?:the\s)?(?:(" + "|".join(f"{name}|{name[:3]}" for name in _WEEKDAYS) + r"|tues|thurs)\b\.?,?\s+)?",
    re.IGNORECASE,
)
_DAY = r"(?:the\s)?(?P<day>\d{1,2})(?P<ordinal>st|nd|rd|th)?"
_ERA = r"(?:bce?|ad|ce|b\.c\.(?:e\.?)?|b\.c|a\.d\.?|c\.e\.?)(?!\w)"
_YEAR = rf"(?P<year>\d{{1,4}})(?:\s?(?P<era>{_ERA}))?"
_NAMED = tuple(
    lazy_compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_MONTH}[\s-]{_DAY}(?:(?:,\s?|\s|-(?=\d{{4}}))(?:of\s)?{_YEAR})?",
        rf"{_DAY}[\s-](?:day\s)?(?:of\s)?{_MONTH}(?:(?:,\s?|\s|-)(?:of\s)?{_YEAR})?",
        rf"{_YEAR}[\s-]{_MONTH}[\s-]{_DAY}",
        rf"(?:in\s)?{_MONTH}(?:,\s|\s|-)(?:of\s)?{_YEAR}",
    )
)
_NUMERIC = lazy_compile(r"(\d{1,4})\s?([-/.])\s?(\d{1,2})\s?\2\s?(\d{1,4})")
_YEAR_OF_ERA = lazy_compile(
    rf"(?:(?:the )?year )?(?:(?:ad|a\.d\.) ?(?P<ad>\d{{1,4}})|(?P<year>\d{{1,4}}) ?(?P<era>{_ERA}))", re.IGNORECASE
)
_COMPACT = lazy_compile(r"((?:19|20)\d\d)(\d\d)(\d\d)")  # 20240305
_BETWEEN_NAMES = lazy_compile(r"(?<=[A-Za-z])[./] ?(?=\d)|(?<=\d)[./] ?(?=[A-Za-z])")  # 25.Sep.2003, 5/Mar/2024
_SHORT_YEAR = lazy_compile(r"(?<=[A-Za-z, ])'(\d\d)\Z")
_ORDINAL = lazy_compile(
    r"\b(?:(?:twenty|thirty)[ -])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
    r"|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth)\b",
    re.IGNORECASE,
)
_WEEKDAY_LAST = lazy_compile(rf"(?P<date>.*\d),? \(?(?:an? )?(?P<weekday>{'|'.join(_WEEKDAYS)})\)?", re.IGNORECASE)
_YEAR_AND_MONTH = lazy_compile(r"(?P<year>[12]\d{3})[-/](?P<month>\d\d)|(?P<month_first>0\d)[-/](?P<last>[12]\d{3})")


_BETWEEN = lazy_compile(r" ?--? ?| (?:to|through|until|till|and) ")  # two dates
_NUMBER_OF_DAY = lazy_compile(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?P<year>,? \d{4})?", re.IGNORECASE)
_GLOSSED = lazy_compile(r"(?P<date>[^()]{6,40}) \((?P<gloss>[^()]{3,30})\)")
_ORDERS: dict[str, Order] = {
    "dd.mm.yyyy": "day", "dd/mm/yyyy": "day", "dd-mm-yyyy": "day", "d.m.yyyy": "day", "d/m/yyyy": "day",
    "day/month/year": "day", "mm/dd/yyyy": "month", "mm-dd-yyyy": "month", "m/d/yyyy": "month",
    "month/day/year": "month", "yyyy-mm-dd": "year", "iso": "year",
}  # fmt: skip


@dataclass(frozen=True)
class Date:
    """A date, or the known part of one. ``numbers`` are those of a numeric date of which ``order`` is unknown."""

    year: int | None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    order: Order = ""
    numbers: tuple[int, int, int] | None = None


def read_date(text: str) -> Date | None:
    """The date that all of a text is, or ``None``; a text in the spelling of ``codes.plain``."""
    if len(text) > MAX_LENGTH:
        return None
    if text.endswith(")") and (glossed := _GLOSSED.fullmatch(text)):
        return _explained(glossed["date"], glossed["gloss"])
    match = _WEEKDAY.match(text)
    start = match.end() if match else 0
    weekday = None
    if match and match[1]:
        weekday = next(n for n, name in enumerate(_WEEKDAYS) if name[:3] == match[1][:3].lower())
    if weekday is None and text.lower().endswith("day") and (last := _WEEKDAY_LAST.fullmatch(text)):
        weekday = next(n for n, name in enumerate(_WEEKDAYS) if name == last["weekday"].lower())
        text = last["date"]
    date = _numeric(text[start:]) or _named(text[start:]) or _named(_in_figures(text[start:]))
    if date is None or weekday is None:
        return date
    return Date(date.year, date.month, date.day, weekday, date.order, date.numbers)


def _explained(text: str, gloss: str) -> Date | None:
    """``03.05.2019 (3 May)``, ``2024-05-01 (Wednesday)`` and ``03/05/2019 (dd/mm/yyyy)``."""
    date = read_date(text)
    if date is None:
        return None
    if order := _ORDERS.get(gloss.lower()):
        if date.numbers is None:
            return date if date.order == order else None
        one, two, year = date.numbers
        return _checked(year, *((two, one) if order == "day" else (one, two)), order) if order != "year" else None
    if weekday := _WEEKDAY.fullmatch(f"{gloss} "):
        return read_date(f"{weekday[1]}, {text}") if weekday[1] and date.weekday is None else None
    meant = read_date(gloss)
    if meant is None or meant.day is None or meant.year not in (None, date.year or (date.numbers or (0,))[-1]):
        return None
    if date.numbers is None:
        return date if (date.month, date.day) == (meant.month, meant.day) else None
    if sorted(date.numbers[:2]) != sorted((meant.month or 0, meant.day)):
        return None
    return Date(date.numbers[2], meant.month, meant.day, numbers=date.numbers)


def read_dates(text: str) -> tuple[Date, Date] | None:
    """The first and the last day of ``May 12-19, 2024`` and ``12 May 2024 to 19 May 2024``, or ``None``."""
    if len(text) > 2 * MAX_LENGTH or not any(character.isdigit() for character in text):
        return None
    is_between = text.startswith("between ")
    text = text.removeprefix("from ").removeprefix("between ")
    for match in _BETWEEN.finditer(text):
        if match.group() == " and " and not is_between:  # two days
            continue
        one, other = text[: match.start()], text[match.end() :]
        first, last = read_date(one), read_date(other)
        if first and (day := _NUMBER_OF_DAY.fullmatch(other)) and first.day and not first.year:
            year = int(day["year"].strip(", ")) if day["year"] else None
            last = _checked(year, first.month or 0, int(day[1]), "")
        elif last and (day := _NUMBER_OF_DAY.fullmatch(one)) and last.day and not day["year"]:
            first = _checked(last.year, last.month or 0, int(day[1]), "")
        if first and last and all(date.day and not date.numbers for date in (first, last)):
            return replace(first, year=first.year or last.year, order=""), replace(last, order="")
    return None


def same_date(one: Date, other: Date) -> bool:
    """Whether two dates have the same parts. Numeric dates with day and month have to have them in the same order.

    One whose order was explained, ``03.05.2019 (3 May)``, equals its numbers as well as its day.
    """
    for date, opposite in ((one, other), (other, one)):
        if date.numbers and date.day and not (opposite.numbers and opposite.day):
            if opposite.numbers:
                return opposite.numbers == date.numbers
            return same_date(replace(date, numbers=None), opposite)
    if not _agree(one.weekday, _weekday(other)) or not _agree(other.weekday, _weekday(one)):
        return False
    numeric = {"day", "month"}
    if one.order != other.order and one.order in numeric and other.order in numeric:
        return False
    return (one.year, one.month, one.day, one.numbers) == (other.year, other.month, other.day, other.numbers)


def _agree(weekday: int | None, actual: int | None) -> bool:
    return weekday is None or actual is None or weekday == actual


def _weekday(date: Date) -> int | None:
    """The day of the week that was written, else the one that follows from the date."""
    if date.weekday is None and date.year and date.year > 0 and date.month and date.day:
        return datetime.date(date.year, date.month, date.day).weekday()
    return date.weekday


def _in_figures(text: str) -> str:
    """``the 5th of March 2024`` of the fifth of March 2024, ``25 Sep 2003`` of 25.Sep.2003, 5 Mar 2024 of 5 Mar '24."""
    text = _BETWEEN_NAMES.sub(" ", text)
    text = _SHORT_YEAR.sub(lambda match: str(_full_year(match[1])), text)
    return _ORDINAL.sub(lambda match: number_at(match.group().lower().replace("-", " ").split())[0], text)


def _numeric(text: str) -> Date | None:
    if compact := _COMPACT.fullmatch(text):
        return _checked(int(compact[1]), int(compact[2]), int(compact[3]), "year")
    if match := _YEAR_AND_MONTH.fullmatch(text):
        year, month = (int(part) for part in (match["year"] or match["last"], match["month"] or match["month_first"]))
        return Date(year, month, order="year") if 1 <= month <= 12 else None
    match = _NUMERIC.fullmatch(text)
    if match is None:
        return None
    first, separator, second, third = match.groups()
    if len(first) == 4:
        return _checked(int(first), int(second), int(third), "year") if len(third) <= 2 else None
    if len(first) > 2 or not (len(third) == 4 or (len(third) == 2 and separator == "/")):
        return None
    one, two, year = int(first), int(second), _full_year(third)
    day_first, month_first = _checked(year, two, one, "day"), _checked(year, one, two, "month")
    if day_first and month_first:
        if one == two:
            return Date(year, one, one)
        return Date(year, order="unknown", numbers=(one, two, year))
    return day_first or month_first


def _full_year(digits: str) -> int:
    """A year of two digits is from 1969 to 2068, as POSIX reads it."""
    year = int(digits)
    return year if len(digits) > 2 else year + (1900 if year >= 69 else 2000)


def _named(text: str) -> Date | None:
    """A date with the name of a month."""
    if match := _YEAR_OF_ERA.fullmatch(text):
        is_before = (match["era"] or "")[:1].lower() == "b"
        return Date(-int(match["year"]) if is_before else int(match["ad"] or match["year"]))
    match = next((match for pattern in _NAMED if (match := pattern.fullmatch(text))), None)
    if match is None:
        return None
    parts = match.groupdict()
    month = _month(parts["month"])
    year = None if parts["year"] is None else int(parts["year"])
    era = (parts["era"] or "").lower()
    if "day" not in parts and (year is None or (year <= 31 and not era)):
        return None
    if year is not None and era[:1] == "b":
        year = -year
    if "day" not in parts:
        return Date(year, month)
    return _checked(year, month, int(parts["day"]), "")


def _month(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month[:3] == name[:3].lower())


def _checked(year: int | None, month: int, day: int, order: Order) -> Date | None:
    """The date, unless the calendar has no such day."""
    try:
        datetime.date(year if year and year > 0 else LEAP_YEAR, month, day)
    except ValueError:
        return None
    return Date(year, month, day, order=order)
