"""Maps work over processes, in order; if one dies or is late, only the piece that it was working on is affected."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing
from typing import Generic, TypeVar

from grpo_env.workers.killable_worker import ReplaceableWorker, WorkerDiedError

A = TypeVar("A")
B = TypeVar("B")

PIECES_PER_WORKER = 4  # in flight: bounds memory, and keeps all processes busy while one is slow


def map_on_workers(
    work: Callable[[A], B],
    pieces: Iterable[A],
    count: int,
    retry: Callable[[A, Callable[[A], B]], B] | None = None,
) -> Generator[B, None, None]:
    """The results of ``work`` on each piece, in order, computed by ``count`` processes.

    If a process dies, ``retry`` gets the piece it died of and a function that does (smaller) pieces in a fresh process
    and raises ``WorkerDiedError`` in turn. Raises ``RunError`` if a process cannot start (or dies, without ``retry``),
    and what ``work`` raises.
    """
    workers = _ThreadWorkers(work)

    def do(piece: A) -> B:
        try:
            return workers(piece)
        except WorkerDiedError:
            if retry is None:
                raise
            return retry(piece, workers)

    with closing(workers), ThreadPoolExecutor(count) as threads:
        waiting: deque[Future[B]] = deque()
        try:
            for piece in pieces:
                waiting.append(threads.submit(do, piece))
                if len(waiting) >= count * PIECES_PER_WORKER:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            workers.stop()
            threads.shutdown(wait=False, cancel_futures=True)
            raise


class _ThreadWorkers(Generic[A, B]):
    """Does pieces in processes, one for each thread that calls it."""

    def __init__(self, work: Callable[[A], B]) -> None:
        self._work = work
        self._local = threading.local()
        self._workers: list[ReplaceableWorker[A, B]] = []
        self._stopped = False

    def __call__(self, piece: A) -> B:
        """Raises ``WorkerDiedError``, ``RunError``, what the work raises, and ``CancelledError`` after ``stop``."""
        if self._stopped:
            raise CancelledError
        worker: ReplaceableWorker[A, B] | None = getattr(self._local, "worker", None)
        if worker is None:
            worker = self._local.worker = ReplaceableWorker(self._work)
            self._workers.append(worker)
        if self._stopped:  # before the worker was in the list
            worker.kill()
        return worker(piece)

    def stop(self) -> None:
        """Kill all processes, whatever they are doing, and start no further piece."""
        self._stopped = True
        for worker in list(self._workers):
            worker.kill()

    def close(self) -> None:
        """Wait for the end of all processes."""
        for worker in self._workers:
            worker.close()
