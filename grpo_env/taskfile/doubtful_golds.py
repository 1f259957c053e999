"""Gold answers that stand for a missing one, such as N/A, dates that no calendar has, and decimal commas."""

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
_HAS_COMMA = re.compile(_NUMBER % r"\d{1,3}(?:\.\d{3})+,\d+", re.ASCII)  # 1.234,56
_HAS_POINT = re.compile(_NUMBER % r"\d{1,3}(?:,\d{3})+\.\d+|\d*\.(?:\d\d?|\d{4,})", re.ASCII)  # 3.75
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?([/.])\d\d?\1\d{4}", re.ASCII)
_SET_COMMA = "if it is one number, write decimal: comma in the options of accuracy"


def doubtful(golds: Sequence[str], decimal: str = "point") -> Iterator[tuple[int, str, str]]:
    """The indices of gold answers that look wrong, why, and what to do. ``decimal`` is how numbers are read."""
    from grpo_env.verifiers.answers.kinds.date import read_date

    counts = Counter(gold.strip().casefold() for gold in golds)
    commas, possible = _matching(golds, _HAS_COMMA), _matching(golds, _MAY_HAVE_COMMA)
    if decimal == "comma" or commas or len(possible) > MOST * len(golds):
        commas |= possible
    points = _matching(golds, _HAS_POINT) if commas else set()
    mixed = "; others have decimal points" if points else ""
    for index, gold in enumerate(golds):
        text = gold.strip().casefold()
        if (text in _MISSING or text in _EMPTY or _SIGNS.fullmatch(text)) and counts[text] <= max(1, MOST * len(golds)):
            yield index, "looks like a missing answer", "fix it"
        elif _DATE.fullmatch(text) and read_date(text) is None:
            yield index, "is no date of the calendar", "fix it"
        elif decimal == "point" and index in commas:
            yield index, f"is read as two numbers, not as one with a decimal comma{mixed}", _SET_COMMA
        elif decimal == "comma" and index in points:
            yield index, "has a decimal point where decimal: comma is set", "write it with a comma"


def _matching(golds: Sequence[str], pattern: re.Pattern[str]) -> set[int]:
    return {index for index, gold in enumerate(golds) if pattern.fullmatch(gold.strip())}


def undecided_dates(golds: Sequence[str]) -> list[str]:
    """The dates of which nothing says whether the day or the month comes first: ``5/6/2024``."""
    from grpo_env.verifiers.answers.kinds.date import read_date

    return [gold for gold in golds if (date := read_date(gold.strip())) and date.numbers]
