"""The program of a ``killable_worker.Worker``: calls a function on each piece that its parent sends."""

from __future__ import annotations

import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any

from grpo_env import core
from grpo_env.deadlines import Watch
from grpo_env.killable_worker import from_bytes, to_bytes


def main() -> None:
    """Answer until the parent closes the pipe or ends. The arguments are the shared memory's and the pipe's."""
    watch = Watch(int(sys.argv[1]))
    pipe: Connection[bytes, bytes] = Connection(int(sys.argv[2]))
    try:
        sys.path[:] = from_bytes(pipe.recv_bytes())
        work = from_bytes(pipe.recv_bytes())
        core.install(watch)
        pipe.send_bytes(b"ready")
        while True:
            piece, late, most = from_bytes(pipe.recv_bytes())
            watch.start(late, most)
            pipe.send_bytes(_answer(work, piece))
    except (EOFError, OSError):
        return  # the caller has ended or closed the pipe


def _answer(work: Any, piece: Any) -> bytes:
    try:
        return to_bytes((work(piece), None))
    except Exception as error:
        error.add_note(traceback.format_exc())
        return to_bytes((None, error))


if __name__ == "__main__":
    main()
