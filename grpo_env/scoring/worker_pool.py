"""Processes that each do one piece of work at a time; the death of one costs the piece that killed it, nothing else."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TypeVar

from grpo_env.killable_worker import Worker, WorkerDiedError

A = TypeVar("A")
B = TypeVar("B")

AHEAD = 4  # pieces in flight for each process: bounds memory, and keeps all busy while one is slow


def on_all(
    work: Callable[[A], B],
    pieces: Iterable[A],
    count: int,
    mend: Callable[[A, Callable[[A], B]], B] | None = None,
) -> Generator[B, None, None]:
    """The work on each piece, in order, by ``count`` processes.

    A piece that a process died of goes to ``mend``, with a function that does (smaller) pieces in a fresh process and
    raises ``WorkerDiedError`` again. Raises ``RunError`` if a process cannot start (or dies, if there is no ``mend``),
    and what the work raises.
    """
    own = threading.local()  # a thread feeds one process, and waits for it
    living: set[Worker[A, B]] = set()
    stopped = threading.Event()

    def attempt(piece: A) -> B:
        worker: Worker[A, B] | None = getattr(own, "worker", None)
        if worker is None and not stopped.is_set():
            worker = own.worker = Worker(work)
            living.add(worker)
        if worker is None or stopped.is_set():
            raise CancelledError
        try:
            return worker(piece)
        except WorkerDiedError:
            own.worker = None
            living.discard(worker)
            raise

    def do(piece: A) -> B:
        try:
            return attempt(piece)
        except WorkerDiedError:
            if mend is None:
                raise
            return mend(piece, attempt)

    with ThreadPoolExecutor(count) as threads:
        waiting: deque[Future[B]] = deque()
        try:
            for piece in pieces:
                waiting.append(threads.submit(do, piece))
                if len(waiting) >= count * AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            stopped.set()
            threads.shutdown(wait=False, cancel_futures=True)
            for worker in list(living):
                worker.kill()
            raise
    for worker in living:
        worker.close()
