"""Gold answers that stand for a missing one, such as N/A, and dates and numbers that may be misread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

# What spreadsheets, pandas and people write for an empty cell.
_MISSING = frozenset(("n/a", "na", "nan", "null", "none", "nil", "missing", "unknown", "tbd", "tba", "todo"))
_EMPTY = frozenset(("[]", '[""]', '""', "''", "['']"))  # of columns with lists and texts in JSON, as in SQuAD 2
_SIGNS = re.compile(r"[-\u2013\u2014?.]+|#(?:n/a|ref!|value!|div/0!|name\?|null!|num!)")
MOST = 0.2  # of the gold answers: what is more frequent is a class of its own, or the way in which numbers are written
_NUMBER = r"[^\d.,+()\[\]{}\\-]*[-+]?(?:%s)[^\d.,()\[\]{}\\]*"  # perhaps with a unit
_MAY_HAVE_COMMA = re.compile(_NUMBER % r"\d+,(?:\d\d?|\d{4,})", re.ASCII)  # 3,75 or a list; 1,234 is a number
_HAS_COMMA = re.compile(
    _NUMBER % r"\d{1,3}(?:\.\d{3})+,\d+" + r"|[-+]?\d+,(?:\d\d?|\d{4,})\s?(?:\\?%|[^\W\d_]{2,}|[€$£])", re.ASCII
)  # 1.234,56 and 33,75 %
_HAS_POINT = re.compile(_NUMBER % r"\d{1,3}(?:,\d{3})+\.\d+|\d*\.(?:\d\d?|\d{4,})", re.ASCII)  # 3.75
_THOUSANDS = re.compile(_NUMBER % r"\d{1,3}(?:\.\d{3})+", re.ASCII)  # 9.612, which is 9612 with decimal commas
_COMMA_THOUSANDS = re.compile(_NUMBER % r"\d{1,3}(?:,\d{3})+", re.ASCII)  # $1,500, which is 1.5 with decimal commas
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?([/.])\d\d?\1\d{4}", re.ASCII)
_MONTH_FIRST = re.compile(r"(?:0?\d|1[0-2])\.(?:1[3-9]|2\d|3[01])\.\d{4}", re.ASCII)
SET_COMMA = "write decimal: comma in the options of accuracy"


def doubtful(golds: Sequence[str], decimal: str = "point") -> Iterator[tuple[int, str, str]]:
    """The indices of gold answers that look wrong, why, and what to do. ``decimal`` is how numbers are read."""
    counts = Counter(gold.strip().casefold() for gold in golds)
    found = _misread_dates(golds) | _misread_numbers(golds, decimal)
    for index, gold in enumerate(golds):
        text = gold.strip().casefold()
        if (text in _MISSING or text in _EMPTY or _SIGNS.fullmatch(text)) and counts[text] <= max(1, MOST * len(golds)):
            yield index, "looks like a missing answer", "fix it"
        elif index in found:
            yield index, *found[index]


def _misread_dates(golds: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Dates that no calendar has; and 5.6.2024, whose day is read first, in a column with 12.25.2024."""
    from grpo_env.verifiers.answers.kinds.date import read_date

    dates = {index: read_date(golds[index].strip()) for index in _matching(golds, _DATE)}
    found = {index: ("is no date of the calendar", "fix it") for index, date in dates.items() if date is None}
    dotted = {index: date for index, date in dates.items() if "." in golds[index]}
    if _matching(golds, _MONTH_FIRST) and not any(date and (date.day or 0) > 12 for date in dotted.values()):
        why, fix = "is read with the day first; others have the month first", "write dates as 2024-12-31"
        found |= {index: (why, fix) for index, date in dotted.items() if date is None or date.day != date.month}
    return found


def _misread_numbers(golds: Sequence[str], decimal: str) -> dict[int, tuple[str, str]]:
    """Numbers whose commas and periods may not be read as they are meant."""
    commas, possible = _matching(golds, _HAS_COMMA), set(perhaps_commas(golds))
    if decimal == "comma" or commas or len(possible) > MOST * len(golds):
        commas |= possible
    points = _matching(golds, _HAS_POINT) if commas else set()
    if decimal == "comma":
        if not commas:
            why = "is read with a decimal comma, as 1.5 for 1,500"
            thousands = _matching(golds, _COMMA_THOUSANDS)
            return dict.fromkeys(thousands, (why, "leave decimal: comma out if it has a comma between thousands"))
        return dict.fromkeys(points, ("has a decimal point where decimal: comma is set", "write it with a comma"))
    mixed = "; others have decimal points" if points else ""
    why = f"is read as two numbers, not as one with a decimal comma{mixed}"
    found = dict.fromkeys(commas, (why, f"if it is one number, {SET_COMMA}"))
    if commas and not points:
        why = "has a period that is not read as one between thousands; others have decimal commas"
        found |= dict.fromkeys(_matching(golds, _THOUSANDS), (why, f"if 9.612 is 9612, {SET_COMMA}"))
    return found


def perhaps_commas(golds: Sequence[str]) -> list[int]:
    """The indices of ``4,7`` and the like: a number with a decimal comma, or a list of two."""
    return sorted(_matching(golds, _MAY_HAVE_COMMA))


def _matching(golds: Sequence[str], pattern: re.Pattern[str]) -> set[int]:
    return {index for index, gold in enumerate(golds) if pattern.fullmatch(gold.strip())}


def undecided_dates(golds: Sequence[str]) -> list[str]:
    """The dates of which nothing says whether the day or the month comes first: ``5/6/2024``."""
    from grpo_env.verifiers.answers.kinds.date import read_date

    return [gold for gold in golds if (date := read_date(gold.strip())) and date.numbers]
