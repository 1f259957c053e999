"""One scoring process, called from the event loop: each piece has a deadline, and a process that ended is replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from typing import Generic, TypeVar

from grpo_env.errors import RunError
from grpo_env.killable_worker import LateError, Worker, WorkerDiedError

A = TypeVar("A")
B = TypeVar("B")

START_ATTEMPTS = 3  # a process may be killed from outside before it is ready


class WorkerSlot(Generic[A, B]):
    """Runs ``work`` in one process at a time, ``deadline`` seconds at most for a piece. ``starts`` counts processes."""

    def __init__(self, work: Callable[[A], B], deadline: float, threads: Executor) -> None:
        self._work = work
        self._deadline = deadline
        self._threads = threads  # one of them blocks on the process while the event loop goes on
        self._worker: Worker[A, B] | None = None
        self.starts = 0

    @property
    def alive(self) -> bool:
        """Whether a process is running."""
        return self._worker is not None and self._worker.alive

    async def worker(self) -> Worker[A, B]:
        """The running process, or else a new one. Raises ``RunError`` if none starts."""
        if self._worker is None or not self._worker.alive:
            self._worker = await self._start()
        return self._worker

    async def __call__(self, piece: A) -> B:
        """``work(piece)``. Raises ``WorkerDiedError``, ``LateError``, and ``RunError`` if no process starts."""
        worker = await self.worker()
        answer = asyncio.get_running_loop().run_in_executor(self._threads, worker, piece)
        try:
            await asyncio.wait({answer}, timeout=self._deadline)
        except asyncio.CancelledError:
            worker.kill()
            with suppress(WorkerDiedError):
                await answer
            raise
        late = not answer.done()
        if late:
            worker.kill()
        try:
            return await answer
        except WorkerDiedError as death:
            if late:
                raise LateError(f"no answer within {self._deadline:g} s") from death
            raise

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        if self._worker is not None:
            self._worker.kill()

    def close(self) -> None:
        """Wait for the end of the process."""
        if self._worker is not None:
            self._worker.close()

    async def _start(self) -> Worker[A, B]:
        for attempt in range(1, START_ATTEMPTS + 1):
            self.starts += 1
            try:
                return await asyncio.get_running_loop().run_in_executor(self._threads, Worker, self._work)
            except RunError:
                if attempt == START_ATTEMPTS:
                    raise
        raise AssertionError
