"""The questions that pages ask of the index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .selection import CHOICES, NAMES, PAGE, Selection
from .store import Store, Table

Row = dict[str, Any]
EXCERPT = 240  # characters
MAX_CHOICES = 50  # values of a filter
MAX_GROUP = 24  # completions side by side on one page


class Neighbors(NamedTuple):
    """The rows before and after one in a selection, and its place there, from 1."""

    before: int | None
    after: int | None
    place: int


def count(store: Store, table: Table, selection: Selection) -> int:
    """The number of rows of a selection."""
    where, parameters = _where(store, table, selection)
    (found,) = store.query(f"SELECT count(*) AS rows FROM rows_{table.tag} WHERE {where}", parameters)
    return int(found["rows"])


def page(store: Store, table: Table, selection: Selection, size: int = PAGE) -> list[Row]:
    """The rows of a page, each with an excerpt of its text: around what was searched, or its end."""
    where, parameters = _where(store, table, selection)
    start = (selection.page - 1) * size
    rows = store.query(
        f"SELECT * FROM rows_{table.tag} WHERE {where} ORDER BY {selection.order(table.parts)}, n LIMIT ? OFFSET ?",
        [*parameters, size, start],
    )
    excerpts = _excerpts(store, table, [row["n"] for row in rows], selection.q)
    return [{**row, "excerpt": excerpts.get(row["n"])} for row in rows]


def index_row(store: Store, table: Table, n: int) -> Row | None:
    """The row ``n`` of the index."""
    return next(iter(store.query(f"SELECT * FROM rows_{table.tag} WHERE n = ?", [n])), None)


def neighbors(store: Store, table: Table, selection: Selection, n: int) -> Neighbors:
    """What comes before and after row ``n`` in the order of a selection."""
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
    return Neighbors(**found)


def group_rows(store: Store, table: Table, g: int, start: int = 0) -> list[Row]:
    """The rows of group ``g``, in the order of the file, at most ``MAX_GROUP`` from the ``start``-th."""
    sql = f"SELECT * FROM rows_{table.tag} WHERE g = ? ORDER BY n LIMIT ? OFFSET ?"
    return store.query(sql, [g, MAX_GROUP, start])


def choices(store: Store, table: Table) -> dict[str, list[str]]:
    """The values of each filter: those of ``CHOICES``, and those in the file of ``NAMES``, the most frequent first.

    ``label`` has none if no row has a label.
    """
    (labels,) = store.query(f"SELECT count(label) AS known FROM rows_{table.tag}")
    fixed = {name: list(values) for name, values in CHOICES.items() if name != "label" or labels["known"]}
    return {"label": [], **fixed} | {
        name: [
            row["value"]
            for row in store.query(
                f"SELECT value FROM (SELECT {expression} AS value FROM rows_{table.tag}) WHERE value IS NOT NULL "
                "GROUP BY value ORDER BY count(*) DESC, value LIMIT ?",
                [MAX_CHOICES],
            )
        ]
        for name, (_, expression) in NAMES.items()
    }


def rules(store: Store, table: Table, selection: Selection) -> list[Row]:
    """The rules of the metric in a selection, the most frequent first, with how many rows each accepts and refuses."""
    where, parameters = _where(store, table, selection)
    return store.query(
        "SELECT rule, count(*) FILTER (WHERE verdict >= 1) AS accepted, count(*) FILTER (WHERE verdict < 1) AS refused "
        f"FROM rows_{table.tag} WHERE {where} AND rule IS NOT NULL GROUP BY rule ORDER BY count(*) DESC, rule LIMIT ?",
        [*parameters, MAX_CHOICES],
    )


def _where(store: Store, table: Table, selection: Selection) -> tuple[str, list[Any]]:
    hits = store.search(table, selection.q) if selection.q else None
    return selection.where(table.parts, hits)


def _excerpts(store: Store, table: Table, numbers: Sequence[int], q: str) -> dict[int, str]:
    if not numbers:
        return {}
    column = "text" if q != q.lower() else "lower(text)"
    start = f"greatest(1, strpos({column}, ?) - {EXCERPT // 4})" if q else f"greatest(1, length(text) - {EXCERPT - 1})"
    rows = store.query(
        f"SELECT n, substring(text, {start}, {EXCERPT}) AS excerpt FROM texts_{table.tag} "
        "WHERE n IN (SELECT unnest(?))",
        [*([q] if q else []), list(numbers)],
    )
    return {row["n"]: row["excerpt"] for row in rows if row["excerpt"] is not None}
