"""The place of one judging process: asked from the event loop with a deadline, filled anew when the process is gone."""

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

TRIES = 3  # to start a process: the first may be ended from outside before it is ready


class Seat(Generic[A, B]):
    """One process at a time that does ``work``; a piece may take ``deadline`` seconds. ``starts`` counts processes."""

    def __init__(self, work: Callable[[A], B], deadline: float, threads: Executor) -> None:
        self._work = work
        self._deadline = deadline
        self._threads = threads  # one of them waits for the process while the event loop goes on
        self._worker: Worker[A, B] | None = None
        self.starts = 0

    @property
    def alive(self) -> bool:
        """Whether a process is there."""
        return self._worker is not None and self._worker.alive

    async def fill(self) -> Worker[A, B]:
        """The process; a new one where it is gone. Raises ``RunError`` if none starts."""
        if self._worker is None or not self._worker.alive:
            self._worker = await self._started()
        return self._worker

    async def __call__(self, piece: A) -> B:
        """The work done on a piece. Raises ``WorkerDiedError``, ``LateError``, ``RunError`` if no process starts."""
        worker = await self.fill()
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
                raise LateError(f"no verdict within {self._deadline:g} s") from death
            raise

    def kill(self) -> None:
        """End the process whatever it does."""
        if self._worker is not None:
            self._worker.kill()

    def close(self) -> None:
        """Wait for the end of a process that nobody asks any more."""
        if self._worker is not None:
            self._worker.close()

    async def _started(self) -> Worker[A, B]:
        for attempt in range(TRIES):
            try:
                self.starts += 1
                return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: Worker(self._work))
            except RunError:
                if attempt == TRIES - 1:
                    raise
        raise AssertionError
