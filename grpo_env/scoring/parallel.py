"""Maps work over processes, in order; if one dies or is late, only the piece that it was working on is affected."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from typing import TypeVar

from grpo_env.workers.killable_worker import ReplaceableWorker, WorkerDiedError

A = TypeVar("A")
B = TypeVar("B")

PIECES_PER_WORKER = 4  # in flight: bounds memory, and keeps all processes busy while one is slow


def map_on_workers(
    work: Callable[[A], B],
    pieces: Iterable[A],
    count: int,
    retry: Callable[[A, Callable[[A], B]], B],
) -> Generator[B, None, None]:
    """The results of ``work`` on each piece, in order, computed by ``count`` processes.

    If a process dies, ``retry`` gets the piece it died of and a function that does (smaller) pieces in a fresh process
    and raises ``WorkerDiedError`` in turn. Raises ``RunError`` if a process cannot start, and what ``work`` raises.
    """
    workers: list[ReplaceableWorker[A, B]] = [ReplaceableWorker(work) for _ in range(count)]
    free, stopped = list(workers), Event()

    def attempt(piece: A) -> B:
        worker = free.pop()  # there are no more threads than workers
        try:
            if stopped.is_set():
                raise CancelledError
            return worker(piece)
        finally:
            free.append(worker)

    def do(piece: A) -> B:
        try:
            return attempt(piece)
        except WorkerDiedError:
            return retry(piece, attempt)

    with ExitStack() as closed, ThreadPoolExecutor(count) as threads:
        for worker in workers:
            closed.callback(worker.close)
        waiting: deque[Future[B]] = deque()
        try:
            for piece in pieces:
                waiting.append(threads.submit(do, piece))
                if len(waiting) >= count * PIECES_PER_WORKER:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            stopped.set()  # before the processes are killed, so that no further piece starts one
            for worker in workers:
                worker.kill()
            threads.shutdown(wait=False, cancel_futures=True)
            raise
