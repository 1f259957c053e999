"""Opens files and runs, and serves their pages until Ctrl-C."""

from __future__ import annotations

import secrets
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory

from starlette.types import ASGIApp

from grpo_env.calibrate.label_file import is_label_file
from grpo_env.plural import counted
from grpo_env.serving.local_server import listen, quiet_server, url_of

from .app import make_app
from .duckdb_index import Store
from .label_page import make_label_app
from .sources import find_sources

FIRST_WAIT = 1.0  # seconds for the index of a small file, before the address is printed


def view(paths: Sequence[Path], port: int, token: str | None) -> None:
    """Serve pages of score files and runs, or a page that asks for labels, on 127.0.0.1, and print their address.

    ``port`` 0 is any free port. Without a ``token`` a new one is made. Raises ``UsageError``.
    """
    token = token or secrets.token_urlsafe(16)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: sys.exit(0))
    if len(paths) == 1 and paths[0].is_file() and is_label_file(paths[0]):
        _serve(make_label_app(paths[0], token), listen("127.0.0.1", port), token, "a file to label")
        return
    sources = find_sources(paths)
    listener = listen("127.0.0.1", port)
    with TemporaryDirectory(prefix="grpo_env-view-") as folder:
        store = Store(Path(folder), sources)
        try:
            store.wait(FIRST_WAIT)
            _serve(make_app(store, token), listener, token, counted(len(sources), "file"))
        finally:
            store.close()


def _serve(app: ASGIApp, listener: socket, token: str, what: str) -> None:
    with listener:
        print(f"viewing {what}: {url_of(listener)}/?token={token}", flush=True)
        quiet_server(app, timeout_graceful_shutdown=1).run([listener])
