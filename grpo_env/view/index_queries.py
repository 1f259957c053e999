"""The questions that pages ask of the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from .duckdb_index import Store, Table
from .selection import CHOICES, NAMES, PAGE, Selection

Row = dict[str, Any]
EXCERPT = 240  # characters
MAX_CHOICES = 50  # values of a filter
MAX_GROUP = 24  # completions side by side on one page


def count(store: Store, table: Table, selection: Selection) -> int:
    """The number of rows of a selection."""
    where, parameters = _where(store, table, selection)
    (found,) = store.query(f"SELECT count(*) AS rows FROM rows_{table.tag} WHERE {where}", parameters)
    return int(found["rows"])


def page(store: Store, table: Table, selection: Selection) -> list[Row]:
    """The rows of a page, each with the first line of its question and an excerpt of its text.

    The excerpt is around what was searched, otherwise the end.
    """
    where, parameters = _where(store, table, selection)
    rows = store.query(
        f"SELECT * FROM rows_{table.tag} WHERE {where} ORDER BY {selection.order(table.parts)}, n LIMIT ? OFFSET ?",
        [*parameters, PAGE, (selection.page - 1) * PAGE],
    )
    excerpts = _excerpts(store, table, [row["n"] for row in rows], selection.q)
    return [{**row, **excerpts[row["n"]]} for row in rows]


def index_row(store: Store, table: Table, n: int) -> Row | None:
    """The row ``n`` of the index."""
    return next(iter(store.query(f"SELECT * FROM rows_{table.tag} WHERE n = ?", [n])), None)


def neighbors(store: Store, table: Table, selection: Selection, n: int) -> Row:
    """What comes ``before`` and ``after`` row ``n`` in the order of a selection, and its ``place`` there, from 1."""
    where, parameters = _where(store, table, selection)
    key = selection.order(table.parts)
    rows = f"(SELECT n, {key} AS k FROM rows_{table.tag} WHERE {where})"
    here = f"(SELECT {key} FROM rows_{table.tag} WHERE n = ?)"
    earlier, later = f"(k, n) < ({here}, ?)", f"(k, n) > ({here}, ?)"
    (found,) = store.query(
        f"SELECT (SELECT n FROM {rows} WHERE {earlier} ORDER BY k DESC, n DESC LIMIT 1) AS before, "
        f"(SELECT n FROM {rows} WHERE {later} ORDER BY k, n LIMIT 1) AS after, "
        f"(SELECT count(*) FROM {rows} WHERE {earlier}) + 1 AS place",
        [*parameters, n, n] * 3,
    )
    return found


def group_rows(store: Store, table: Table, g: int, start: int = 0) -> list[Row]:
    """The rows of group ``g``, in the order of the file, at most ``MAX_GROUP`` from the ``start``-th."""
    sql = f"SELECT * FROM rows_{table.tag} WHERE g = ? ORDER BY n LIMIT ? OFFSET ?"
    return store.query(sql, [g, MAX_GROUP, start])


def choices(store: Store, table: Table, selection: Selection) -> dict[str, dict[str, int]]:
    """The values of each filter, with how many rows of the selection have each if the filter itself is left out.

    Those of ``CHOICES`` that some row has, and those in the file of ``NAMES``, the most frequent first.
    """
    found: dict[str, dict[str, int]] = {}
    for name in (*CHOICES, *NAMES):
        others = {other: value for other, value in selection.equal.items() if other != name}
        where, parameters = _where(store, table, replace(selection, equal=others))
        rows = f"FROM rows_{table.tag} WHERE {where}"
        if name in CHOICES:
            counts = [f'count(*) FILTER (WHERE {test}) AS "{value}"' for value, test in CHOICES[name].items()]
            (found[name],) = store.query(f"SELECT {', '.join(counts)} {rows}", parameters)
            continue
        values = store.query(
            f"SELECT value, count(*) AS rows FROM (SELECT {NAMES[name][1]} AS value {rows}) WHERE value IS NOT NULL "
            "GROUP BY value ORDER BY count(*) DESC, value LIMIT ?",
            [*parameters, MAX_CHOICES],
        )
        found[name] = {row["value"]: row["rows"] for row in values}
    return {name: {value: rows for value, rows in counts.items() if rows} for name, counts in found.items()}


def summary(store: Store, table: Table, selection: Selection) -> Row:
    """Of the rows of a selection: number, mean reward and metric, the name of a metric, and all rewards."""
    where, parameters = _where(store, table, selection)
    columns = "count(*) AS rows, avg(reward) AS reward, avg(verdict) AS verdict, any_value(metric) AS metric"
    columns += ", coalesce(list(reward) FILTER (WHERE reward IS NOT NULL), []) AS rewards"
    return store.query(f"SELECT {columns} FROM rows_{table.tag} WHERE {where}", parameters)[0]


def _where(store: Store, table: Table, selection: Selection) -> tuple[str, list[Any]]:
    hits = store.search(table, selection.q) if selection.q else None
    return selection.where(table.parts, hits)


def _excerpts(store: Store, table: Table, numbers: Sequence[int], q: str) -> dict[int, Row]:
    column = "text" if q != q.lower() else "lower(text)"
    start = f"greatest(1, strpos({column}, ?) - {EXCERPT // 4})" if q else f"greatest(1, length(text) - {EXCERPT - 1})"
    rows = store.query(
        f"SELECT n, substring(text, {start}, {EXCERPT}) AS excerpt, prompt FROM texts_{table.tag} "
        "WHERE n IN (SELECT unnest(?))",
        [*([q] if q else []), list(numbers)],
    )
    shared = _shared_lines([row["prompt"] or "" for row in rows])
    return {row["n"]: {**row, "question": (row["prompt"] or "")[shared:].strip().partition("\n")[0]} for row in rows}


def _shared_lines(prompts: Sequence[str]) -> int:
    """The length of the lines with which all prompts begin, if they differ: an instruction before each question."""
    first, last = (extreme(prompts, default="") for extreme in (min, max))
    if first == last:
        return 0
    lines = zip(first.splitlines(keepends=True), last.splitlines(keepends=True), strict=False)
    return sum(len(line) for line, _ in takewhile(lambda pair: pair[0] == pair[1], lines))
