"""Judging processes behind a queue. What one of them dies of costs that item its verdict, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from grpo_env.errors import RunError
from grpo_env.killable_worker import WorkerDiedError
from grpo_env.scoring.reader import Row

from .work import Judge, Piece, Verdict, units, unscored, verdict
from .worker_slot import Seat

LOOK = 1.0  # seconds between two looks at whether an idle process lives


class _Asked(NamedTuple):
    piece: Piece
    answer: asyncio.Future[list[Verdict]]


class _AbandonedError(Exception):
    """Nobody waits for the answer any more."""


class WorkerPool:
    """``count`` processes that judge pieces in the order of their coming.

    ``deadline`` is how many seconds a request may take from its arrival, waiting included, and a piece from its start.
    A process whose piece takes longer is ended and replaced; that of a request which waited in vain works on.
    """

    def __init__(self, judge: Judge, count: int, deadline: float) -> None:
        self._deadline = deadline
        self._threads = ThreadPoolExecutor(count)
        self._seats = [Seat(judge, deadline, self._threads) for _ in range(count)]
        self._queue: asyncio.Queue[_Asked] = asyncio.Queue()  # bounded by the requests that the gate lets in
        self._running: list[asyncio.Task[None]] = []

    @property
    def alive(self) -> int:
        """Processes that are there."""
        return sum(seat.alive for seat in self._seats)

    @property
    def restarts(self) -> int:
        """Processes that took the place of others."""
        return max(0, sum(seat.starts for seat in self._seats) - len(self._seats))

    @property
    def waiting(self) -> int:
        """Pieces that no process has begun."""
        return self._queue.qsize()

    async def start(self) -> None:
        """Start all processes. Raises ``RunError``."""
        await asyncio.gather(*(seat.fill() for seat in self._seats))
        self._running = [asyncio.create_task(self._serve(seat)) for seat in self._seats]

    async def close(self) -> None:
        """End all processes. No request may be waiting."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        for seat in self._seats:
            seat.kill()
        self._threads.shutdown()
        for seat in self._seats:
            seat.close()

    async def judge(self, pieces: Sequence[Piece]) -> list[Verdict]:
        """The verdicts on a request's pieces, in order.

        Raises ``TimeoutError`` or ``LateError`` past the deadline, ``RunError`` where no process can be started.
        """
        loop = asyncio.get_running_loop()
        asked = [_Asked(piece, loop.create_future()) for piece in pieces]
        for one in asked:
            self._queue.put_nowait(one)
        try:
            async with asyncio.timeout(self._deadline):
                return list(chain.from_iterable(await asyncio.gather(*(one.answer for one in asked))))
        finally:
            for one in asked:
                one.answer.cancel()

    async def _serve(self, seat: Seat[Piece, list[Verdict]]) -> None:
        while True:
            try:
                async with asyncio.timeout(LOOK):
                    asked = await self._queue.get()
            except TimeoutError:
                with suppress(RunError):  # a request that needs the process will say so
                    await seat.fill()
                continue
            try:
                verdicts = await self._judged(seat, asked)
            except _AbandonedError:
                continue
            except Exception as error:
                if not asked.answer.done():
                    asked.answer.set_exception(error)
            else:
                if not asked.answer.done():
                    asked.answer.set_result(verdicts)

    async def _judged(self, seat: Seat[Piece, list[Verdict]], asked: _Asked) -> list[Verdict]:
        async def attempt(rows: Sequence[Row]) -> list[Verdict]:
            if asked.answer.done():
                raise _AbandonedError
            return await seat(Piece(asked.piece.task, tuple(rows)))

        async def again(rows: Sequence[Row]) -> list[Verdict] | WorkerDiedError:
            """Twice: a process can be ended from outside too, by the system for want of memory or by hand."""
            try:
                return await attempt(rows)
            except WorkerDiedError:
                try:
                    return await attempt(rows)
                except WorkerDiedError as death:
                    return death

        async def mended(unit: list[Row]) -> list[Verdict]:
            """A group whose judge died, without the items that it dies of alone; without all if there are none."""
            whole = await again(unit)
            if not isinstance(whole, WorkerDiedError):
                return whole
            verdicts = {row.line: verdict(row.id, unscored(str(whole))) for row in unit}
            sound = [row for row in unit if len(unit) > 1 and not isinstance(await again([row]), WorkerDiedError)]
            rest = await again(sound) if sound else []
            if not isinstance(rest, WorkerDiedError):
                verdicts |= {row.line: one for row, one in zip(sound, rest, strict=True)}
            return [verdicts[row.line] for row in unit]

        try:
            return await attempt(asked.piece.rows)
        except WorkerDiedError:
            return [one for unit in units(asked.piece.rows) for one in await mended(unit)]
