"""What a page shows: filters, order and page, all of it in the address. Requests never become SQL, only parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from grpo_env.errors import UsageError, nearest
from grpo_env.results.report.groups import MEANINGS

PAGE = 50  # rows of a page
MAX_TEXT = 300  # characters of a search or another value in the address
NUMBERS = {  # columns that can be sorted by and limited to a range, besides parts, in words
    "reward": "reward",
    "advantage": "advantage",
    "characters": "length in characters",
    "tokens": "length in tokens",
    "seconds": "seconds to score",
    "step": "step of the run",
}
CHOICES: dict[str, dict[str, str]] = {  # filters with fixed values: SQL without parameters
    "signal": {"uniform": "signal NOT IN ('mixed', 'single')", **{kind: f"signal = '{kind}'" for kind in MEANINGS}},
    "verdict": {"correct": "verdict >= 1", "wrong": "verdict < 1", "unscored": "verdict IS NULL"},
    "label": {
        "agrees": "label = (verdict >= 1)",
        "false positive": "NOT label AND verdict >= 1",
        "false negative": "label AND NOT verdict >= 1",
        "unlabeled": "label IS NULL",
    },
}
NAMES = {  # filters with values from the file: a condition with one parameter, and an expression for their values
    "status": ("list_contains(statuses, ?)", "unnest(statuses)"),
    "kind": ("kind = ?", "kind"),
    "rule": ("rule = ?", "rule"),
    "reason": ("explanation = ?", "explanation"),
    "finish": ("finish = ?", "finish"),
    "task": ("task = ?", "task"),
}


@dataclass(frozen=True)
class Selection:
    """Filters, order and page, as the address has them. ``sort`` begins with ``-`` for the largest first.

    ``page`` is that of the list, from 1; ``start`` is the first completion shown of a group, from 0.
    """

    q: str = ""
    equal: Mapping[str, str] = field(default_factory=dict)
    """By the names of ``CHOICES`` and ``NAMES``."""
    ranges: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    sort: str = ""
    page: int = 1
    start: int = 0

    @classmethod
    def parse(cls, address: Mapping[str, str], parts: Sequence[str]) -> Selection:
        """The selection of an address. Raises ``UsageError`` for an unknown key or value."""
        equal: dict[str, str] = {}
        ranges: dict[str, tuple[float | None, float | None]] = {}
        q, sort, page, start = "", "", 1, 0
        for key, value in address.items():
            if len(value) > MAX_TEXT:
                raise UsageError(f"{key[:40]}: at most {MAX_TEXT} characters")
            if not value:
                continue
            bound, _, name = key.partition(".")
            if key == "q":
                q = value
            elif key == "sort":
                number_column(value.removeprefix("-"), parts)
                sort = value
            elif key == "page":
                page = _whole(key, value, 1)
            elif key == "start":
                start = _whole(key, value, 0)
            elif key in NAMES or (key in CHOICES and value in CHOICES[key]):
                equal[key] = value
            elif key in CHOICES:
                raise UsageError(f"{key}={value[:40]}: {nearest(value, CHOICES[key])}")
            elif bound in ("min", "max"):
                number_column(name, parts)
                low, high = ranges.get(name, (None, None))
                ranges[name] = (_number(key, value), high) if bound == "min" else (low, _number(key, value))
            else:
                known = ["q", "sort", "page", "min.reward", "max.reward", *NAMES, *CHOICES]
                raise UsageError(f"{key[:40]!r} is no filter; {nearest(key[:40], known)}")
        return cls(q, equal, ranges, sort, page, start)

    def address(self, **changes: Any) -> str:
        """The query of the address, with ``changes``, which begin at the first page and the first completion."""
        changed = replace(self, **{"page": 1, "start": 0, **changes})
        pairs: list[tuple[str, str]] = [("q", changed.q), *changed.equal.items()]
        for name, (low, high) in changed.ranges.items():
            pairs += [(f"min.{name}", _text(low)), (f"max.{name}", _text(high))]
        pairs += [("sort", changed.sort), ("page", str(changed.page) if changed.page > 1 else "")]
        pairs += [("start", str(changed.start) if changed.start else "")]
        return urlencode([(key, value) for key, value in pairs if value])

    def without(self, key: str) -> str:
        """The address without the filter ``key``."""
        return self.address(
            q="" if key == "q" else self.q,
            equal={name: value for name, value in self.equal.items() if name != key},
            ranges={name: value for name, value in self.ranges.items() if name != key},
        )

    def filters(self) -> dict[str, str]:
        """Each filter in words, by its key."""
        words = {"q": f"text contains “{self.q}”"} if self.q else {}
        words |= {name: f"{name}: {value}" for name, value in self.equal.items()}
        for name, (low, high) in self.ranges.items():
            label = name.removeprefix("part.")
            if low == high:
                words[name] = f"{label}: {_text(low)}"
                continue
            words[name] = (f"{_text(low)} ≤ " if low is not None else "") + label
            words[name] += f" ≤ {_text(high)}" if high is not None else ""
        return words

    def where(self, parts: Sequence[str], hits: str | None) -> tuple[str, list[Any]]:
        """The condition on a row, and its parameters. ``hits`` is the table of the rows that the search found."""
        conditions = ["true"]
        parameters: list[Any] = []
        if hits is not None:
            conditions.append(f"n IN (SELECT n FROM {hits})")
        for name, value in self.equal.items():
            if name in CHOICES:
                conditions.append(f"({CHOICES[name][value]})")
            else:
                conditions.append(NAMES[name][0])
                parameters.append(value)
        for name, bounds in self.ranges.items():
            column = number_column(name, parts)
            for bound, operator in zip(bounds, (">=", "<="), strict=True):
                if bound is not None:
                    conditions.append(f"{column} {operator} ?")
                    parameters.append(bound)
        return " AND ".join(conditions), parameters

    def order(self, parts: Sequence[str]) -> str:
        """The expression whose ascending values, and then ``n``, give the order. Rows without a value come last."""
        if not self.sort:
            return "n"
        sign = "-" if self.sort.startswith("-") else ""
        return f"coalesce({sign}{number_column(self.sort.removeprefix('-'), parts)}, 'infinity'::DOUBLE)"


def number_column(name: str, parts: Sequence[str]) -> str:
    """The column of a name of ``NUMBERS``, which is its own, or of ``part.NAME``. Raises ``UsageError``."""
    if name in NUMBERS:
        return name
    part = name.removeprefix("part.")
    if name.startswith("part.") and part in parts:
        return f"p{parts.index(part)}"
    raise UsageError(f"{name[:60]!r} is no number of these rows; {nearest(name[:60], number_names(parts))}")


def number_names(parts: Sequence[str]) -> list[str]:
    """All names that ``number_column`` knows."""
    return [*NUMBERS, *(f"part.{part}" for part in parts)]


def _number(key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{key[:60]}={value[:40]}: expected a number")
    return number


def _whole(key: str, value: str, least: int) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 16 and int(value) >= least):
        raise UsageError(f"{key}={value[:40]}: expected a whole number from {least}")
    return int(value)


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:.12g}"
