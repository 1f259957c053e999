"""``grpo_env view --out``: a selection of completions as one HTML file that needs no server and loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qsl, urlsplit

from markupsafe import Markup

from grpo_env.errors import RunError, UsageError

from . import pages, queries
from .selection import Selection
from .sources import find_sources
from .store import Store

MAX_BYTES = 64 << 20  # of a page


def bundle(paths: Sequence[Path], query: str, limit: int) -> str:
    """The page of the first ``limit`` completions of a selection.

    ``query`` is the address of a page, or what follows its question mark. Raises ``UsageError``.
    """
    if len(paths) != 1:
        raise UsageError(f"--out writes the completions of one file or run; {len(paths)} were given")
    with TemporaryDirectory(prefix="grpo_env-view-") as folder:
        store = Store(Path(folder), find_sources(paths))
        try:
            store.start()
            store.wait()
            return _render(store, query, limit)
        finally:
            store.close()


def _render(store: Store, query: str, limit: int) -> str:
    table = store.tables[0]
    if not table.complete:
        raise RunError(f"{store.sources[0].path}: cannot be indexed ({table.problem})")
    fields = dict(parse_qsl(urlsplit(query).query or query.removeprefix("?")))
    selection = Selection.parse({key: value for key, value in fields.items() if key != "token"}, table.parts)
    indexed = queries.page(store, table, selection, limit)
    if not indexed:
        raise UsageError(f"no completion matches {query!r}")
    items = [(row, pages.detail(store.row(table, row["n"]) or {}, row, selection.q)) for row in indexed]
    html = (
        pages.templates()
        .get_template("bundle.html")
        .render(
            source=store.sources[0],
            style=Markup(pages.style()),
            selection=selection,
            found=queries.count(store, table, selection),
            items=items,
        )
    )
    if len(html) > MAX_BYTES:
        raise UsageError(f"the page would have {len(html) >> 20} MiB, more than {MAX_BYTES >> 20}; lower --limit")
    return html
