"""``grpo_env view --out``: a selection of completions as one HTML file that needs no server and loads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from grpo_env.errors import RunError, UsageError

from . import index_queries, pages
from .duckdb_index import Store, Table
from .selection import Selection
from .source import find_source

MAX_BYTES = 64 << 20  # of a page


def bundle(path: Path, query: str, limit: int) -> str:
    """The page of the first ``limit`` completions of a selection.

    ``query`` is the address of a page, or what follows its question mark. Raises ``UsageError``.
    """
    with _indexed(path) as (store, table):
        fields = dict(parse_qsl(urlsplit(query).query or query.removeprefix("?")))
        selection = Selection.parse({key: value for key, value in fields.items() if key != "token"}, table.parts)
        rows = index_queries.page(store, table, selection, limit)
        if not rows:
            raise UsageError(f"no completion matches {query!r}")
        return _render(store, table, rows, selection, index_queries.count(store, table, selection))


@contextmanager
def _indexed(path: Path) -> Iterator[tuple[Store, Table]]:
    """The complete index of a file."""
    with TemporaryDirectory(prefix="grpo_env-view-") as folder:
        store = Store(Path(folder), find_source(path))
        try:
            store.wait()
            table = store.table
            if not table.complete:
                raise RunError(f"{path}: cannot be indexed ({table.problem})")
            yield store, table
        finally:
            store.close()


def _render(store: Store, table: Table, rows: Sequence[dict[str, Any]], selection: Selection, found: int) -> str:
    items = [(row, pages.detail(store.row(table, row["n"]) or {}, row, selection.q)) for row in rows]
    html = (
        pages.templates()
        .get_template("bundle.html")
        .render(
            source=store.source,
            selection=selection,
            found=found,
            items=items,
        )
    )
    if len(html) > MAX_BYTES:
        raise UsageError(f"the page would have {len(html) >> 20} MiB, more than {MAX_BYTES >> 20}; choose fewer")
    return html
