"""The program of a ``killable_worker.ReplaceableWorker``: calls a function on each piece that its parent sends."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from grpo_env import core
from grpo_env.workers.deadlines import Watch
from grpo_env.workers.pipe_messages import BrokenFrameError, Frames, from_bytes, to_bytes


def main() -> None:
    """Answer until the parent closes the pipe or ends. The arguments are the shared memory's and the pipe's."""
    watch = Watch(int(sys.argv[1]))
    pipe = Frames(int(sys.argv[2]), own_end=True)
    try:
        sys.path[:] = from_bytes(pipe.receive())
        work = from_bytes(pipe.receive())
        core.install(watch)
        pipe.send(b"ready")
        while True:
            piece, late, most = from_bytes(pipe.receive())
            watch.start(late, most)
            pipe.send(_answer(work, piece))
    except (EOFError, OSError, BrokenFrameError):
        return  # the caller has ended or closed the pipe


def _answer(work: Any, piece: Any) -> bytes:
    try:
        return to_bytes((work(piece), None))
    except Exception as error:
        error.add_note(traceback.format_exc())
        return to_bytes((None, error))


if __name__ == "__main__":
    main()
