"""An index of the viewed file in DuckDB: one row of numbers and names for each completion, and the texts.

The index is a database in a temporary folder. It is built in a background thread; until then the first rows are
indexed, so that a page can be shown at once.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import duckdb

from grpo_env.errors import UsageError
from grpo_env.results.part_scores import named_parts
from grpo_env.rows.reader import read_records

from .index_tables import MACROS, row_paths, rows_sql, texts_sql
from .source import Source

HEAD = 1000  # rows that are shown while the rest of a file is indexed
MEMORY = "1GB"
MAX_PARTS = 64  # parts that can be filtered and sorted by
MAX_NAME = 100  # characters of the name of such a part
MAX_SEARCHES = 8  # searches whose hits are kept


@dataclass(frozen=True)
class Table:
    """The index, or that of the first rows. ``tag`` is part of the names of its tables."""

    tag: str
    parts: tuple[str, ...]
    """Dotted names of the parts, in the order of their columns p0, p1, ..."""
    rows: int
    unreadable: tuple[int, ...]
    """Numbers, from 1, of rows that are no score rows, or have half of a character that UTF-16 writes as two."""
    complete: bool = True
    problem: str = ""
    """Why the rest of the file is not indexed."""


class Store:
    """The index of a source. Every method can be called from any thread."""

    def __init__(self, folder: Path, source: Source) -> None:
        """Index the first rows of a source in ``folder``, and start to index the rest. Raises ``UsageError``."""
        self.source = source
        self._lock = threading.Lock()
        self._searches: dict[tuple[str, str], str] = {}
        self._count = 0
        self._db = _connect(folder, source)
        self.table = self._index_head()
        self._thread = threading.Thread(target=self._index_all, daemon=True)
        self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until everything is indexed, or for ``seconds``."""
        self._thread.join(seconds)

    def close(self) -> None:
        """Stop."""
        self._db.interrupt()
        self._db.close()

    def query(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[dict[str, Any]]:
        """The rows of a query as mappings."""
        cursor = self._db.cursor()
        found = cursor.execute(sql, parameters)
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def row(self, table: Table, n: int) -> dict[str, Any]:
        """The whole row ``n`` of the index, from 0."""
        (found,) = self.query(f"SELECT row FROM texts_{table.tag} WHERE n = ?", [n])
        return dict(json.loads(found["row"]))

    def search(self, table: Table, text: str) -> str:
        """The name of a table of the ``n`` of all rows whose text contains ``text``.

        Lower-case letters match both cases; a text with a capital letter matches exactly.
        """
        with self._lock:
            if name := self._searches.get((table.tag, text)):
                return name
            self._count += 1
            name = f"hits_{self._count}"
            if len(self._searches) >= MAX_SEARCHES:
                oldest = next(iter(self._searches))
                self.query(f"DROP TABLE {self._searches.pop(oldest)}")
            column = "text" if text != text.lower() else "lower(text)"
            self.query(f"CREATE TABLE {name} AS SELECT n FROM texts_{table.tag} WHERE contains({column}, ?)", [text])
            self._searches[table.tag, text] = name
            return name

    def _index_head(self) -> Table:
        table = self._index("head", part_names(self.source), HEAD)
        if not table.rows:
            what = "a JSONL or Parquet file, whose name ends in .gz or .zst if it is compressed"
            raise UsageError(f"{self.source.path}: no score row among the first ones that DuckDB reads; give {what}")
        return replace(table, complete=table.rows + len(table.unreadable) < HEAD)

    def _index_all(self) -> None:
        head = self.table
        if head.complete:
            return
        try:
            self.table = self._index("all", head.parts)
        except duckdb.Error as error:
            self.table = replace(head, problem=str(error).split("\n")[0][:300])

    def _index(self, tag: str, parts: tuple[str, ...], most: int | None = None) -> Table:
        """Make the tables of the first ``most`` rows. ``parts`` are known already; others are found in the rows."""
        while True:
            sql = texts_sql(self.source.kind, len(parts), most)
            leaves = [name.split(".")[-1] for name in parts]
            parameters = {"files": _patterns(self.source), "paths": row_paths(parts), "leaves": leaves}
            self.query(f"CREATE OR REPLACE TABLE texts_{tag} AS {sql}", parameters)
            unreadable = self._without_broken(tag)
            new = self._new_parts(tag, parts)
            if not new:
                break
            parts += new
        self.query(f"CREATE TABLE rows_{tag} AS {rows_sql(tag, parts)}")
        (count,) = self.query(f"SELECT count(*) AS rows FROM rows_{tag}")
        return Table(tag, parts, count["rows"], unreadable)

    def _without_broken(self, tag: str) -> tuple[int, ...]:
        """Delete the rows that DuckDB could not read or that are no score rows; returns their numbers."""
        bad = "id IS NULL OR completion IS NULL OR status IS NULL OR keys IS NULL"
        broken = self.query(f"SELECT n FROM texts_{tag} WHERE {bad} ORDER BY n")
        self.query(f"DELETE FROM texts_{tag} WHERE {bad}")
        return tuple(row["n"] + 1 for row in broken)

    def _new_parts(self, tag: str, known: tuple[str, ...]) -> tuple[str, ...]:
        """The names of parts, at the top level, that rows have and ``known`` lacks, at most ``MAX_PARTS`` in all."""
        keys = self.query(f"SELECT DISTINCT unnest(keys) AS name FROM (SELECT DISTINCT keys FROM texts_{tag})")
        new = sorted(name for row in keys if (name := row["name"]) not in known and len(name) <= MAX_NAME)
        return tuple(new[: max(0, MAX_PARTS - len(known))])


def _connect(folder: Path, source: Source) -> duckdb.DuckDBPyConnection:
    """A database in ``folder`` that can open nothing but the files of ``source``, and load no extensions."""
    config = {
        "memory_limit": MEMORY,
        "temp_directory": str(folder / "spill"),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    db = duckdb.connect(str(folder / "index.duckdb"), config=config)
    allowed = (*map(str, source.files), *_patterns(source))
    quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in allowed)
    db.execute(f"SET allowed_paths = [{quoted}]")
    db.execute("SET enable_external_access = false")
    db.execute("SET lock_configuration = true")
    for macro in MACROS:
        db.execute(macro)
    return db


def _patterns(source: Source) -> list[str]:
    """What DuckDB reads as the names of the source's files, and as no others: ``*`` is a letter in them."""
    return [re.sub(r"[*?[]", r"[\g<0>]", str(path)) for path in source.files]


def part_names(source: Source) -> tuple[str, ...]:
    """The dotted names of all parts in the first rows of a source, in order, at most ``MAX_PARTS``."""
    names: dict[str, None] = {}
    for record in islice(chain.from_iterable(map(read_records, source.files)), HEAD):
        with suppress(UsageError, KeyError, TypeError):
            names |= dict.fromkeys(named_parts(record.row or {}))
    return tuple(name for name in names if len(name) <= MAX_NAME)[:MAX_PARTS]
