"""Gold answers that stand for a missing one, such as N/A, dates that no calendar has, and decimal commas."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

# What spreadsheets, pandas and people write for an empty cell.
_MISSING = frozenset(("n/a", "na", "nan", "null", "none", "nil", "missing", "unknown", "tbd", "tba", "todo"))
_SIGNS = re.compile(r"[-\u2013\u2014?.]+|#(?:n/a|ref!|value!|div/0!|name\?|null!|num!)")
MOST = 0.2  # of the gold answers: what is more frequent is a class of its own, or the way in which numbers are written
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d\d?", re.ASCII)  # 1,234 is read as a number
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?([/.])\d\d?\1\d{4}", re.ASCII)


def doubtful(golds: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The indices of gold answers that look wrong, and why."""
    from grpo_env.verifiers.answers.times.dates import read_date

    counts = Counter(gold.strip().casefold() for gold in golds)
    with_comma = sum(_DECIMAL_COMMA.fullmatch(gold.strip()) is not None for gold in golds)
    for index, gold in enumerate(golds):
        text = gold.strip().casefold()
        if (text in _MISSING or _SIGNS.fullmatch(text)) and counts[text] <= max(1, MOST * len(golds)):
            yield index, "looks like a missing answer"
        elif _DATE.fullmatch(text) and read_date(text) is None:
            yield index, "is no date of the calendar"
        elif with_comma > MOST * len(golds) and _DECIMAL_COMMA.fullmatch(text):
            yield index, "is read as two numbers, not as one with a decimal comma"
