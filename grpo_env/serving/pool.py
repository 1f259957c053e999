"""Scoring processes behind a queue. An item that kills its process is unscored; all others get their scores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import NamedTuple

from grpo_env.errors import RunError
from grpo_env.scoring.reader import InputRow
from grpo_env.workers.killable_worker import WorkerDiedError

from .pieces import EncodedScore, Piece, PieceScorer, encode, units, unscored
from .worker_slot import WorkerSlot

IDLE_CHECK = 1.0  # seconds between two checks whether an idle process is alive

Attempt = Callable[[Sequence[InputRow]], Awaitable[list[EncodedScore]]]


class _Job(NamedTuple):
    piece: Piece
    scores: asyncio.Future[list[EncodedScore]]


class _AbandonedError(Exception):
    """Nobody waits for the scores any more."""


class WorkerPool:
    """``count`` processes that score pieces in order of arrival.

    ``deadline`` is how many seconds a request may take from its arrival, waiting included, and a piece from its start.
    A process whose piece takes longer is killed and replaced. A process whose request only waited too long works on.
    """

    def __init__(self, scorer: PieceScorer, count: int, deadline: float) -> None:
        self._deadline = deadline
        self._threads = ThreadPoolExecutor(count)
        self._slots = [WorkerSlot(scorer, deadline, self._threads) for _ in range(count)]
        self._queue: asyncio.Queue[_Job] = asyncio.Queue()  # bounded by the requests that the middleware accepts
        self._loops: list[asyncio.Task[None]] = []

    @property
    def alive(self) -> int:
        """Running processes."""
        return sum(slot.process.alive for slot in self._slots)

    @property
    def restarts(self) -> int:
        """Processes that replaced others."""
        return max(0, sum(slot.process.starts for slot in self._slots) - len(self._slots))

    @property
    def waiting(self) -> int:
        """Pieces that no process has begun."""
        return self._queue.qsize()

    async def start(self) -> None:
        """Start all processes. Raises ``RunError``."""
        await asyncio.gather(*(slot.start() for slot in self._slots))
        self._loops = [asyncio.create_task(self._serve(slot)) for slot in self._slots]

    async def close(self) -> None:
        """End all processes. No request may be waiting."""
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        for slot in self._slots:
            slot.process.kill()
        self._threads.shutdown()
        for slot in self._slots:
            slot.process.close()

    async def score(self, pieces: Sequence[Piece]) -> list[EncodedScore]:
        """The scores of a request's pieces, in order.

        Raises ``TimeoutError`` or ``LateError`` past the deadline, and ``RunError`` if no process can be started.
        """
        loop = asyncio.get_running_loop()
        jobs = [_Job(piece, loop.create_future()) for piece in pieces]
        for job in jobs:
            self._queue.put_nowait(job)
        try:
            async with asyncio.timeout(self._deadline):
                return list(chain.from_iterable(await asyncio.gather(*(job.scores for job in jobs))))
        finally:
            for job in jobs:
                job.scores.cancel()

    async def _serve(self, slot: WorkerSlot[Piece, list[EncodedScore]]) -> None:
        while True:
            try:
                async with asyncio.timeout(IDLE_CHECK):
                    job = await self._queue.get()
            except TimeoutError:
                with suppress(RunError):  # the next request that needs the process reports it
                    await slot.start()
                continue
            try:
                scores = await _score(slot, job)
            except _AbandonedError:
                continue
            except Exception as error:
                if not job.scores.done():
                    job.scores.set_exception(error)
            else:
                if not job.scores.done():
                    job.scores.set_result(scores)


async def _score(slot: WorkerSlot[Piece, list[EncodedScore]], job: _Job) -> list[EncodedScore]:
    attempt = partial(_attempt, slot, job)
    try:
        return await attempt(job.piece.rows)
    except WorkerDiedError:
        return [score for unit in units(job.piece.rows) for score in await _isolate_failures(unit, attempt)]


async def _attempt(
    slot: WorkerSlot[Piece, list[EncodedScore]], job: _Job, rows: Sequence[InputRow]
) -> list[EncodedScore]:
    if job.scores.done():
        raise _AbandonedError
    return await slot(Piece(job.piece.task, tuple(rows)))


async def _isolate_failures(unit: list[InputRow], attempt: Attempt) -> list[EncodedScore]:
    """A unit's scores, without the rows that kill a process on their own; without any if there are no such rows."""
    result = await _attempt_twice(unit, attempt)
    if not isinstance(result, WorkerDiedError):
        return result
    scores = {row.line: encode(row.id, unscored(str(result))) for row in unit}
    survivors = []
    if len(unit) > 1:
        survivors = [row for row in unit if not isinstance(await _attempt_twice([row], attempt), WorkerDiedError)]
    rest = await _attempt_twice(survivors, attempt) if survivors else []
    if not isinstance(rest, WorkerDiedError):
        scores |= {row.line: score for row, score in zip(survivors, rest, strict=True)}
    return [scores[row.line] for row in unit]


async def _attempt_twice(rows: Sequence[InputRow], attempt: Attempt) -> list[EncodedScore] | WorkerDiedError:
    """Twice, since a process can also be killed from outside: by the system for lack of memory, or by hand."""
    try:
        return await attempt(rows)
    except WorkerDiedError:
        try:
            return await attempt(rows)
        except WorkerDiedError as death:
            return death
