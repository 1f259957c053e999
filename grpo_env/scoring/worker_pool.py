"""Processes that each do one piece of work at a time; the death of one costs the piece that killed it, nothing else."""

from __future__ import annotations

import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pickle import PicklingError
from typing import Any, Generic, TypeVar

from grpo_env.errors import RunError

A = TypeVar("A")
B = TypeVar("B")

AHEAD = 4  # pieces in flight for each process: bounds memory, and keeps all busy while one is slow


class WorkerDiedError(RunError):
    """The process that did the work ended without an answer: killed, out of memory, ``os._exit``, a crash."""


class Worker(Generic[A, B]):
    """A process that does ``work``. It ends when this object is closed, and when the process that made it ends."""

    def __init__(self, work: Callable[[A], B]) -> None:
        # Spawned, not forked: a fork copies the locks of whatever threads torch or a notebook has running.
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,))
        self._process.start()
        theirs.close()  # or its end would not be seen as the end of the pipe
        try:
            self._pipe.send(work)
            self._pipe.recv()
        except (PicklingError, AttributeError, TypeError) as error:
            self.kill()
            raise RunError(f"the task cannot be sent to another process ({error}): is a class of it local?") from error
        except (EOFError, OSError) as error:
            raise RunError(f"a scoring process could not start ({self._ending()}); see above for its error") from error

    def __call__(self, piece: A) -> B:
        """The work done on a piece. Raises ``WorkerDiedError``, or what the work raised."""
        try:
            self._pipe.send(piece)
            answer, error = self._pipe.recv()
        except (EOFError, OSError) as gone:
            raise WorkerDiedError(f"the process that judged it died ({self._ending()})") from gone
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]

    @property
    def alive(self) -> bool:
        """Whether the process is there. Asked of the system without reaping it, which another thread may be doing."""
        return not wait([self._process.sentinel], timeout=0)

    def _ending(self) -> str:
        self._process.join()
        code = self._process.exitcode or 0
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def kill(self) -> None:
        """End the process whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """Let the process end."""
        self._pipe.close()
        self._process.join()


def _serve(pipe: Connection[Any, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that handed out the work
    try:
        work = pipe.recv()
        pipe.send(None)
        while True:
            piece = pipe.recv()
            try:
                answer, problem = work(piece), None
            except Exception as error:
                error.add_note(traceback.format_exc())
                answer, problem = None, error
            pipe.send((answer, problem))
    except (EOFError, OSError):
        return  # nobody is there any more


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
