"""Opens files and runs, and serves their pages until Ctrl-C."""

from __future__ import annotations

import secrets
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from grpo_env.serving.address import listen, url_of
from grpo_env.serving.quiet_server import quiet_server

from .app import make_app
from .sources import find_sources
from .store import Store

FIRST_WAIT = 1.0  # seconds for the index of a small file, before the address is printed


def view(paths: Sequence[Path], port: int, token: str | None) -> None:
    """Serve pages of score files and runs on 127.0.0.1, and print their address.

    ``port`` 0 is any free port. Without a ``token`` a new one is made. Raises ``UsageError``.
    """
    sources = find_sources(paths)
    token = token or secrets.token_urlsafe(16)
    listener = listen("127.0.0.1", port)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, _exit)
    with listener, TemporaryDirectory(prefix="grpo_env-view-") as folder:
        store = Store(Path(folder), sources)
        try:
            store.start()
            store.wait(FIRST_WAIT)
            print(
                f"viewing {len(sources)} {'files' if len(sources) > 1 else 'file'}: {url_of(listener)}/?token={token}",
                flush=True,
            )
            quiet_server(make_app(store, token), timeout_graceful_shutdown=1).run([listener])
        finally:
            store.close()


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
