"""Two scorings of the same completions: the rows whose verdict changed first."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from grpo_env.errors import UsageError, nearest

from .duckdb_index import Store, Table
from .selection import MAX_TEXT, PAGE, page_number

CHANGES = (
    *("became correct", "became wrong", "became scored", "became unscored"),
    *("reward differs", "part differs", "status differs"),
)
ANY = "any"
_RIGHT = "(x.verdict >= 1)", "(y.verdict >= 1)"
_CASES = (  # in the order of CHANGES; {parts} compares the other parts
    f"NOT {_RIGHT[0]} AND {_RIGHT[1]}",
    f"{_RIGHT[0]} AND NOT {_RIGHT[1]}",
    "x.verdict IS NULL AND y.verdict IS NOT NULL OR x.reward IS NULL AND y.reward IS NOT NULL",
    "x.verdict IS NOT NULL AND y.verdict IS NULL OR x.reward IS NOT NULL AND y.reward IS NULL",
    "NOT same(x.reward, y.reward) OR NOT same(x.verdict, y.verdict)",
    "{parts}",
    "list_sort(x.statuses) <> list_sort(y.statuses)",
)
# The n-th of the rows with the same input file, id and completion, as ``results.compare`` matches them.
_KEYED = """SELECT *, row_number() OVER (PARTITION BY name, step, id, completion ORDER BY n) AS occurrence
FROM (SELECT *, parse_filename(file) AS name FROM rows_{tag})"""
_making = threading.Lock()


@dataclass(frozen=True)
class PairSelection:
    """Which pairs a page shows. ``change`` is one of ``CHANGES``, ``any`` of them, or empty for all pairs."""

    change: str = ANY
    q: str = ""
    page: int = 1

    @classmethod
    def parse(cls, address: Mapping[str, str]) -> PairSelection:
        """The selection of an address. Raises ``UsageError``."""
        known = {"change", "q", "page"}
        for key, value in address.items():
            if key not in known or len(value) > MAX_TEXT:
                raise UsageError(f"{key[:40]}={value[:40]}: {nearest(key[:40], known)}")
        change = address.get("change", ANY)
        if change not in ("", "all", ANY, *CHANGES):
            raise UsageError(f"change={change[:40]}: {nearest(change, CHANGES)}")
        return cls(change or ANY, address.get("q", ""), page_number(address.get("page") or "1"))

    def address(self, page: int = 1) -> str:
        """The query of the address."""
        change = "" if self.change == ANY else self.change
        pairs = {"change": change, "q": self.q, "page": str(page) if page > 1 else ""}
        return urlencode({key: value for key, value in pairs.items() if value})


@dataclass(frozen=True)
class Pairs:
    """The matched rows of two tables."""

    store: Store
    a: Table
    b: Table
    name: str

    @classmethod
    def of(cls, store: Store, a: Table, b: Table) -> Pairs:
        """The pairs of two tables, which are matched once. Raises ``UsageError`` if there are none."""
        name = f"pairs_{a.tag}_{b.tag}"
        places = [(place, b.parts.index(part)) for place, part in enumerate(a.parts) if part in b.parts]
        different = [f"NOT coalesce(same(x.p{i}, y.p{j}), x.p{i} IS NULL AND y.p{j} IS NULL)" for i, j in places]
        parts = " OR ".join(different) or "false"
        cases = " ".join(f"WHEN {test.format(parts=parts)} THEN {rank}" for rank, test in enumerate(_CASES))
        with _making:
            store.query(
                f"CREATE TABLE IF NOT EXISTS {name} AS SELECT x.n, y.n AS other, x.id, x.line, x.completion, x.g, "
                "x.verdict, y.verdict AS other_verdict, x.reward, y.reward AS other_reward, x.answer, x.gold, "
                "y.answer AS other_answer, x.statuses, y.statuses AS other_statuses, "
                f"CASE {cases} ELSE {len(CHANGES)} END AS rank, "
                "coalesce(-abs(y.reward - x.reward), 0) AS closeness "
                f"FROM ({_KEYED.format(tag=a.tag)}) x JOIN ({_KEYED.format(tag=b.tag)}) y "
                "ON x.id = y.id AND x.completion = y.completion AND x.occurrence = y.occurrence "
                "AND x.name IS NOT DISTINCT FROM y.name AND x.step IS NOT DISTINCT FROM y.step"
            )
        pairs = cls(store, a, b, name)
        if not pairs.summary()["pairs"]:
            raise UsageError("the two files have no row in common (rows are matched by file, id and completion)")
        return pairs

    def summary(self) -> dict[str, Any]:
        """Counts of pairs, of rows without one, of different texts, and the mean rewards of pairs with both."""
        both = "FILTER (WHERE reward IS NOT NULL AND other_reward IS NOT NULL)"
        (found,) = self.store.query(
            f"SELECT count(*) AS pairs, count(*) FILTER (WHERE rank < {len(CHANGES)}) AS changed, "
            f"avg(reward) {both} AS mean, avg(other_reward) {both} AS other_mean FROM {self.name}"
        )
        (texts,) = self.store.query(
            f"SELECT count(*) AS other_texts FROM {self.name} p JOIN texts_{self.a.tag} x ON p.n = x.n "
            f"JOIN texts_{self.b.tag} y ON p.other = y.n WHERE x.text <> y.text"
        )
        return {**found, **texts, "only_a": self.a.rows - found["pairs"], "only_b": self.b.rows - found["pairs"]}

    def table(self) -> dict[tuple[bool, bool], int]:
        """How many completions are (correct in A, correct in B), of those with a verdict in both."""
        rows = self.store.query(
            f"SELECT verdict >= 1 AS a, other_verdict >= 1 AS b, count(*) AS rows FROM {self.name} "
            "WHERE verdict IS NOT NULL AND other_verdict IS NOT NULL GROUP BY ALL"
        )
        return {(row["a"], row["b"]): row["rows"] for row in rows}

    def counts(self) -> dict[str, int]:
        """The number of pairs of each of ``CHANGES``."""
        rows = self.store.query(f"SELECT rank, count(*) AS rows FROM {self.name} GROUP BY rank ORDER BY rank")
        return {CHANGES[row["rank"]]: row["rows"] for row in rows if row["rank"] < len(CHANGES)}

    def page(self, selection: PairSelection) -> tuple[int, list[dict[str, Any]]]:
        """The number of selected pairs, and those of the page: changed verdicts first, then the largest changes."""
        where, parameters = self._where(selection)
        (found,) = self.store.query(f"SELECT count(*) AS rows FROM {self.name} WHERE {where}", parameters)
        rows = self.store.query(
            f"SELECT * FROM {self.name} WHERE {where} ORDER BY rank, closeness, n LIMIT ? OFFSET ?",
            [*parameters, PAGE, (selection.page - 1) * PAGE],
        )
        return found["rows"], [{**row, "change": self.change(row)} for row in rows]

    def pair(self, n: int) -> dict[str, Any] | None:
        """The pair of row ``n`` of A."""
        return next(iter(self.store.query(f"SELECT * FROM {self.name} WHERE n = ?", [n])), None)

    def neighbors(self, selection: PairSelection, pair: Mapping[str, Any]) -> dict[str, Any]:
        """The pairs before and after one, by their rows in A."""
        where, parameters = self._where(selection)
        key, here = "(rank, closeness, n)", [pair["rank"], pair["closeness"], pair["n"]]
        (found,) = self.store.query(
            f"SELECT (SELECT n FROM {self.name} WHERE {where} AND {key} < (?, ?, ?) "
            "ORDER BY rank DESC, closeness DESC, n DESC LIMIT 1) AS before, "
            f"(SELECT n FROM {self.name} WHERE {where} AND {key} > (?, ?, ?) "
            "ORDER BY rank, closeness, n LIMIT 1) AS after, "
            f"(SELECT count(*) FROM {self.name} WHERE {where} AND {key} < (?, ?, ?)) + 1 AS place",
            [*parameters, *here] * 3,
        )
        return found

    @staticmethod
    def change(pair: Mapping[str, Any]) -> str:
        """The change of a pair in words."""
        return CHANGES[pair["rank"]] if pair["rank"] < len(CHANGES) else "same"

    def _where(self, selection: PairSelection) -> tuple[str, list[Any]]:
        conditions, parameters = ["true"], []
        if selection.q:
            conditions.append(f"n IN (SELECT n FROM {self.store.search(self.a, selection.q)})")
        if selection.change == ANY:
            conditions.append(f"rank < {len(CHANGES)}")
        elif selection.change in CHANGES:
            conditions.append("rank = ?")
            parameters.append(CHANGES.index(selection.change))
        return " AND ".join(conditions), parameters
