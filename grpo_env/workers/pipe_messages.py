"""Messages between a process and its worker, over a pipe to which the worker's own code may have written as well.

A message is a frame: a mark, its length and its bytes. Other bytes, a frame that is too long, and one whose rest does
not follow end the exchange with ``BrokenFrameError``: nothing is waited for without end, and no more memory is taken
than has arrived.
"""

from __future__ import annotations

import os
import pickle
import select
import struct
import time
from collections.abc import Callable
from math import inf
from typing import Any

MARK = b"grpo_env"
HEADER = struct.Struct("!8sQ")
MAX_BYTES = 2**30
FRAME_SECONDS = 60.0  # from the first byte of a frame to the last; without progress, to write one
READ = 2**20


class BrokenFrameError(Exception):
    """What arrived is no frame, or not all of one: something else writes to the pipe or reads from it."""


def forever() -> float:
    """Wait for the next byte as long as it takes."""
    return inf


class Frames:
    """Both directions of a pipe; ``own_end`` in the worker, whose programs do not inherit it."""

    def __init__(self, descriptor: int, own_end: bool = False) -> None:
        self._descriptor = descriptor
        if own_end:
            os.set_inheritable(descriptor, False)
        else:
            os.set_blocking(descriptor, False)

    def send(self, data: bytes) -> None:
        """Write a frame. Raises ``OSError`` if the other end is closed, ``BrokenFrameError`` if nothing reads it."""
        rest = memoryview(HEADER.pack(MARK, len(data)) + data)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest[:READ]) :]
            except BlockingIOError:
                if not _is_ready(self._descriptor, select.POLLOUT, FRAME_SECONDS):
                    raise BrokenFrameError("it does not read what it is sent") from None

    def receive(self, wait: Callable[[], float] = forever) -> bytes:
        """Read a frame. ``wait`` gives the seconds to wait for the next byte before it is asked again; it may raise.

        Raises ``EOFError`` or ``OSError`` if the other end is closed, and ``BrokenFrameError``.
        """
        mark, length = HEADER.unpack(self._read(HEADER.size, wait))
        if mark != MARK:
            raise BrokenFrameError("something else than its answer was written to its pipe")
        if length > MAX_BYTES:
            raise BrokenFrameError(f"its answer would have {length:,} bytes, more than {MAX_BYTES:,}")
        return self._read(length, wait, time.monotonic() + FRAME_SECONDS)

    def _read(self, count: int, wait: Callable[[], float], end: float = inf) -> bytes:
        """``count`` bytes, until ``end`` or, without one, until a while after the first."""
        data, seconds = bytearray(), 0.0
        while len(data) < count:
            if _is_ready(self._descriptor, select.POLLIN, seconds):
                chunk = os.read(self._descriptor, min(READ, count - len(data)))
                if not chunk:
                    raise EOFError
                data += chunk
                end = min(end, time.monotonic() + FRAME_SECONDS)
            elif time.monotonic() >= end:
                raise BrokenFrameError("its answer is not complete")
            else:
                seconds = min(wait(), max(0.0, end - time.monotonic()))
        return bytes(data)


def to_bytes(value: Any) -> bytes:
    """A value for ``from_bytes`` in another process. Classes of ``__main__`` (a script, a notebook) go by value.

    So do those that no import finds there, such as local ones. Others are imported there.
    """
    try:
        data = pickle.dumps(value)
    except Exception:
        data = b"__main__"
    if b"__main__" not in data:
        return data
    import cloudpickle

    return bytes(cloudpickle.dumps(value))


def from_bytes(data: bytes) -> Any:
    """The value that ``to_bytes`` was called with."""
    return pickle.loads(data)


def _is_ready(descriptor: int, event: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(None if seconds == inf else 1000 * seconds))
