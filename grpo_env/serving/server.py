"""Starts and stops the server: its socket, its processes, its signals."""

from __future__ import annotations

import asyncio
import math
import signal
import socket
import sys
from collections.abc import Sequence
from types import FrameType

from grpo_env.errors import UsageError
from grpo_env.taskfile.task import Task
from grpo_env.workers.core_count import usable_cores

from .app import make_app
from .local_server import is_loopback, listen, quiet_server, url_of
from .pieces import PieceScorer
from .worker_pool import WorkerPool

KEEP_ALIVE = 60  # seconds; long, so that clients do not reuse a connection just as it is closed


def serve(
    tasks: Sequence[Task], host: str, port: int, *, workers: int = 0, deadline: float = 60.0, token: str | None = None
) -> None:
    """Serve until SIGTERM or SIGINT, then answer the accepted requests and return.

    ``port`` 0 is any free port, ``workers`` 0 one for each core. Prints the address to standard output when ready.
    Raises ``UsageError``, and ``RunError`` if no scoring process can be started.
    """
    served = {task.name: task for task in tasks}
    if len(served) < len(tasks):
        raise UsageError(f"two tasks have the same name; given: {', '.join(task.name for task in tasks)}")
    if token is None and not is_loopback(host):
        raise UsageError(
            f"--host {host} is not a loopback address: set a token (--token-file or GRPO_ENV_TOKEN) or use 127.0.0.1"
        )
    listener = listen(host, port)
    for name in (signal.SIGTERM, signal.SIGINT):
        # uvicorn handles them while it serves and raises them again after its shutdown, which is no failure.
        signal.signal(name, _exit)
    try:
        asyncio.run(_serve(served, listener, workers or usable_cores(), deadline, token))
    finally:
        listener.close()


async def _serve(
    tasks: dict[str, Task], listener: socket.socket, workers: int, deadline: float, token: str | None
) -> None:
    pool = WorkerPool(PieceScorer(tasks), workers, deadline)
    try:
        await pool.start()
        server = quiet_server(
            make_app(tasks, pool, token),
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=math.ceil(2 * deadline),  # to be scored, to be read
        )
        print(f"serving {', '.join(tasks)} on {url_of(listener)}", flush=True)
        await server.serve([listener])
    finally:
        pool.close()


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
