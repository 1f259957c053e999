"""Opens a file or a run, and serves its pages until Ctrl-C."""

from __future__ import annotations

import secrets
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from grpo_env.serving.local_server import listen, quiet_server, url_of

from .app import make_app
from .duckdb_index import Store
from .source import find_source

FIRST_WAIT = 1.0  # seconds for the index of a small file, before the address is printed


def view(path: Path, port: int, token: str | None) -> None:
    """Serve the pages of a score file or a run on 127.0.0.1, and print their address.

    ``port`` 0 is any free port. Without a ``token`` a new one is made. Raises ``UsageError``.
    """
    token = token or secrets.token_urlsafe(16)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: sys.exit(0))
    source = find_source(path)
    with listen("127.0.0.1", port) as listener, TemporaryDirectory(prefix="grpo_env-view-") as folder:
        store = Store(Path(folder), source)
        try:
            store.wait(FIRST_WAIT)
            print(f"viewing {path}: {url_of(listener)}/?token={token}", flush=True)
            quiet_server(make_app(store, token), timeout_graceful_shutdown=1).run([listener])
        finally:
            store.close()
