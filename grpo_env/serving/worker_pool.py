"""Scoring processes that requests share. An item that kills its process is unscored; others get their scores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from grpo_env.scoring.row_reader import InputRow
from grpo_env.workers.killable_worker import ReplaceableWorker, WorkerDiedError

from .pieces import Piece, PieceScorer, encode, units, unscored

Worker = ReplaceableWorker[Piece, list[str]]
Scores = dict[int, str]
"""Scores by the rows' lines."""
Attempt = Callable[[Sequence[InputRow]], Awaitable[Scores]]


class WorkerPool:
    """``count`` processes, which do pieces of requests in the order in which they are asked for.

    A request asks for one piece a process, and for the next when one is done, so that a small request waits for no
    more than one piece of each other one. ``deadline`` is how many seconds a request may take; a verifier may take a
    quarter of it.
    """

    def __init__(self, scorer: PieceScorer, count: int, deadline: float) -> None:
        self.deadline = deadline
        self._scorer = scorer
        self._threads = ThreadPoolExecutor(count)  # each blocks on a process while the event loop goes on
        self._workers: list[Worker] = [ReplaceableWorker(scorer) for _ in range(count)]
        self._free: asyncio.Queue[Worker] = asyncio.Queue()

    @property
    def alive(self) -> int:
        """Running processes."""
        return sum(worker.alive for worker in self._workers)

    @property
    def restarts(self) -> int:
        """Processes that replaced others."""
        return max(0, sum(worker.starts for worker in self._workers) - len(self._workers))

    async def start(self) -> None:
        """Start all processes. Raises ``RunError``."""
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(self._threads, worker.start) for worker in self._workers))
        for worker in self._workers:
            self._free.put_nowait(worker)

    def close(self) -> None:
        """End all processes. No request may be waiting."""
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown()
        for worker in self._workers:
            worker.close()

    async def score(self, task: str, rows: Sequence[InputRow]) -> list[str]:
        """The scores of a request's rows, in order. Raises ``TimeoutError`` after the deadline, and ``RunError``."""
        scores: Scores = {}
        pieces = self._scorer.pieces(task, rows)
        async with asyncio.timeout(self.deadline):
            await asyncio.gather(*(self._score_pieces(task, pieces, scores) for _ in self._workers))
        return [scores[row.line] for row in rows]

    async def _score_pieces(self, task: str, pieces: Iterator[list[InputRow]], scores: Scores) -> None:
        for rows in pieces:
            worker = await self._free.get()
            try:
                scores |= await _isolate_failures(rows, partial(self._attempt, worker, task))
            finally:
                self._give_back(worker)

    def _give_back(self, worker: Worker) -> None:
        """Let others have a process, once it runs again if it has ended. Whoever waited before this goes first."""

        def free(started: asyncio.Future[None]) -> None:
            started.exception()  # a process that cannot start is reported by the request that needs it next
            self._free.put_nowait(worker)

        asyncio.get_running_loop().run_in_executor(self._threads, worker.start).add_done_callback(free)

    async def _attempt(self, worker: Worker, task: str, rows: Sequence[InputRow]) -> Scores:
        """Twice, since a process can also be killed from outside: by the system for lack of memory, or by hand."""
        try:
            scores = await self._call(worker, Piece(task, tuple(rows)))
        except WorkerDiedError:
            scores = await self._call(worker, Piece(task, tuple(rows)))
        return {row.line: score for row, score in zip(rows, scores, strict=True)}

    async def _call(self, worker: Worker, piece: Piece) -> list[str]:
        loop = asyncio.get_running_loop()
        answer = loop.run_in_executor(self._threads, worker, piece, self.deadline / 2)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:  # the request is late
            answer.add_done_callback(asyncio.Future.exception)
            worker.kill()
            raise


async def _isolate_failures(rows: list[InputRow], attempt: Attempt) -> Scores:
    """The scores of rows, without those that kill a process on their own; of a group without any if none does."""
    try:
        return await attempt(rows)
    except WorkerDiedError as death:
        lost = {row.line: encode(row.id, unscored(str(death))) for row in rows}
    if len(groups := units(rows)) > 1:
        return {line: score for group in groups for line, score in (await _isolate_failures(group, attempt)).items()}
    survivors = [row for row in rows if len(rows) > 1 and await _survives(row, attempt)]
    try:
        return lost | (await attempt(survivors) if survivors else {})
    except WorkerDiedError:
        return lost


async def _survives(row: InputRow, attempt: Attempt) -> bool:
    try:
        await attempt([row])
    except WorkerDiedError:
        return False
    return True
