"""Scoring processes that requests use in turns. An item that kills its process is unscored; others get their scores."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import NamedTuple

from grpo_env.errors import RunError
from grpo_env.scoring.row_reader import InputRow
from grpo_env.workers.killable_worker import LateError, LateVerifierError, WorkerDiedError

from .pieces import PIECE, Piece, PieceScorer, encode, units, unscored
from .worker_slot import WorkerSlot

IDLE_CHECK = 1.0  # seconds between two checks whether an idle process is alive
TURN = 1.0  # seconds after which a process begins no further item of a request, or an eighth of the deadline

Attempt = Callable[[Sequence[InputRow]], Awaitable[list[str]]]


class _Unit(NamedTuple):
    rows: list[InputRow]
    alone: bool = False  # it was in a piece that killed its process, or was late


@dataclass(eq=False)
class _Request:
    """A request: its units that no process has begun, and the scores of the others by line."""

    task: str
    units: deque[_Unit]
    programs: float
    finished: asyncio.Future[None]
    missing: int
    scores: dict[int, str] = field(default_factory=dict)
    queued: bool = False
    spent: float = 0.0
    turns: set[float] = field(default_factory=set)  # when the attempts that are not over began

    def take(self) -> list[_Unit]:
        """The units of the next turn."""
        taken = [self.units.popleft()]
        size = PIECE - len(taken[0].rows)
        while not taken[0].alone and self.units and not self.units[0].alone and len(self.units[0].rows) <= size:
            taken.append(self.units.popleft())
            size -= len(taken[-1].rows)
        return taken

    def add(self, rows: Sequence[InputRow], scores: Sequence[str]) -> None:
        """Note scores: one for each row."""
        self.scores |= {row.line: score for row, score in zip(rows, scores, strict=True)}
        self.missing -= len(rows)
        if not self.missing and not self.finished.done():
            self.finished.set_result(None)

    def used(self, now: float) -> float:
        """Seconds that processes have worked for it."""
        return self.spent + sum(now - began for began in self.turns)


class WorkerPool:
    """``count`` processes, and the requests that take turns with them.

    A turn is up to ``PIECE`` items, of which those that were not begun after ``TURN`` seconds go back to the request.
    ``deadline`` is how many seconds a request may take. An attempt that takes half of it is ended with its process.
    Programs that verifiers ask (computer algebra) have half of it for a request, and a twelfth for an item.
    """

    def __init__(self, scorer: PieceScorer, count: int, deadline: float) -> None:
        self._scorer = scorer
        self._deadline = deadline
        self._threads = ThreadPoolExecutor(count)
        self._slots: list[WorkerSlot] = [WorkerSlot(scorer, deadline / 2, self._threads) for _ in range(count)]
        self._turns: asyncio.Queue[_Request] = asyncio.Queue()  # bounded by the requests that are admitted
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
        """Requests that wait for a turn."""
        return self._turns.qsize()

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

    async def score(self, task: str, rows: Sequence[InputRow], end: float) -> list[str]:
        """The scores of a request's rows, in order. ``end`` is its deadline by the event loop's clock.

        What is late then has status ``timeout`` if the processes worked for this request for half of its deadline.
        Raises ``TimeoutError`` if it had to wait for others instead, and ``RunError`` if no process can be started.
        """
        loop = asyncio.get_running_loop()
        waiting = deque(_Unit(unit) for unit in units(rows))
        request = _Request(task, waiting, self._deadline / 2, loop.create_future(), len(rows))
        self._queue(request)
        try:
            async with asyncio.timeout_at(end):
                await request.finished
        except TimeoutError:
            if request.used(loop.time()) < self._deadline / 2:
                raise
        finally:
            request.finished.cancel()
        late = self._scorer.late(task, f"the request was not scored within {self._deadline:g} s")
        return [request.scores.get(row.line) or encode(row.id, late) for row in rows]

    def _queue(self, request: _Request) -> None:
        if request.units and not request.queued and not request.finished.done():
            request.queued = True
            self._turns.put_nowait(request)

    async def _serve(self, slot: WorkerSlot) -> None:
        while True:
            try:
                async with asyncio.timeout(IDLE_CHECK):
                    request = await self._turns.get()
            except TimeoutError:
                with suppress(RunError):  # the next request that needs the process reports it
                    await slot.start()
                continue
            request.queued = False
            if request.finished.done():  # nobody waits for it any more
                continue
            taken = request.take()
            self._queue(request)  # other processes may go on with it
            try:
                await self._turn(slot, request, taken)
            except Exception as error:
                if not request.finished.done():
                    request.finished.set_exception(error)
            self._queue(request)

    async def _turn(self, slot: WorkerSlot, request: _Request, taken: list[_Unit]) -> None:
        attempt = partial(self._attempt, slot, request)
        if taken[0].alone:
            rows = taken[0].rows
            try:
                request.add(rows, await _isolate_failures(rows, attempt))
            except LateError as error:
                late = self._scorer.late(request.task, str(error))
                request.add(rows, [encode(row.id, late) for row in rows])
            return
        rows = list(chain.from_iterable(unit.rows for unit in taken))
        try:
            scores = await attempt(rows, again=False)
        except (WorkerDiedError, LateError) as error:
            place = error.lateness.place.completion if isinstance(error, LateVerifierError) else -1
            if place < 0:  # any of them
                taken = [unit._replace(alone=True) for unit in taken]
            else:
                hanging = next(unit for unit in taken if rows[place] in unit.rows)
                taken.remove(hanging)
                request.units.append(hanging._replace(alone=True))
            request.units.extendleft(reversed(taken))
            return
        request.add(rows[: len(scores)], scores)
        request.units.extendleft(_Unit(unit) for unit in reversed(units(rows[len(scores) :])))

    async def _attempt(
        self, slot: WorkerSlot, request: _Request, rows: Sequence[InputRow], again: bool = True
    ) -> list[str]:
        await slot.start()
        until = time.perf_counter() + min(TURN, self._deadline / 8)
        began = time.monotonic()
        request.turns.add(began)
        try:
            scored = await slot(Piece(request.task, tuple(rows), until, request.programs, self._deadline / 12), again)
        except (WorkerDiedError, LateError):
            await slot.start()  # within the time of the request that ended the process, not of the next one
            raise
        finally:
            request.turns.remove(began)
            request.spent += time.monotonic() - began
        request.programs -= scored.programs
        return scored.scores


async def _isolate_failures(unit: list[InputRow], attempt: Attempt) -> list[str]:
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


async def _attempt_twice(rows: Sequence[InputRow], attempt: Attempt) -> list[str] | WorkerDiedError:
    """Twice, since a process can also be killed from outside: by the system for lack of memory, or by hand."""
    try:
        return await attempt(rows)
    except WorkerDiedError:
        try:
            return await attempt(rows)
        except WorkerDiedError as death:
            return death
