"""Worker processes that can be killed: a piece of work that hangs, crashes or fills the memory ends only its process.

``Worker`` calls a function, ``ReplaceableWorker`` does so with deadlines, and replaces a process that died or was late.
``ProgramWorker`` runs a module that answers JSON requests by ``worker_process.read_requests``. All of these processes
end when the process that started them ends, also while they start or are stuck, and also if it is killed.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from math import inf
from multiprocessing import Pipe
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakSet

from grpo_env.core import SpentError
from grpo_env.errors import RunError
from grpo_env.workers.deadlines import Clock, Late, Lateness, Place, make_memory
from grpo_env.workers.frames import BrokenFrameError, Frames

A = TypeVar("A")
B = TypeVar("B")

START_TIMEOUT = 120.0  # seconds a program may take to import its libraries on a busy machine
START_ATTEMPTS = 10  # a process may be killed from outside before it is ready
LOOK = 1.0  # seconds between two looks at what a worker is doing, at most
END_TIMEOUT = 10.0  # seconds an idle process may take to end


class WorkerDiedError(RunError):
    """The worker process ended without an answer: killed, out of memory, ``os._exit``, a crash."""


class LateError(RunError):
    """The work took longer than its deadline, and the worker process was killed."""


class LateVerifierError(LateError):
    """A verifier took longer than its deadline."""

    def __init__(self, lateness: Lateness) -> None:
        super().__init__(f"a verifier did not end within {lateness.seconds:.4g} s")
        self.lateness = lateness


class _Process:
    """``python -m module arguments PIPE`` with the other end of the pipe, and a lifeline: see ``worker_process``.

    ``Pipe`` makes descriptors that no program started from here inherits, so only this process, and what it forks,
    has the writing end of the lifeline. ``forget`` closes it in a fork by Python (``multiprocessing``, ``DataLoader``).
    """

    def __init__(
        self, module: str, *arguments: str, memory: int | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        self._pipe, child_end = Pipe()
        self.frames = Frames(self._pipe.fileno())
        lifeline, self._lifeline = Pipe(duplex=False)
        output = subprocess.DEVNULL if memory is None else None
        with child_end, lifeline:
            shared = [] if memory is None else [memory]
            ends = [*map(str, shared), str(child_end.fileno())]
            self._popen = subprocess.Popen(
                [*_PYTHON, "grpo_env.workers.worker_process", str(lifeline.fileno()), module, *arguments, *ends],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[lifeline.fileno(), child_end.fileno(), *shared],
                env={**os.environ, **(environment or {})},
            )
        self.pid = self._popen.pid

    @property
    def alive(self) -> bool:
        """Whether it is running."""
        return self._popen.poll() is None

    def wait(self) -> int:
        """Wait for its end; returns its exit code, or minus the signal that ended it."""
        return self._popen.wait()

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._popen.kill()

    def close(self) -> None:
        """Let it end by itself, if it is idle and does so soon, and wait for its end."""
        self._pipe.close()
        try:
            self._popen.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()
        self._lifeline.close()

    def forget(self) -> None:
        """In a forked child: leave the process to the parent."""
        self._pipe.close()
        self._lifeline.close()
        self._popen.returncode = 0  # not a child of this process: nothing to reap, no warning


_PYTHON = [sys.executable, "-P", "-m"]


def _ending(exitcode: int) -> str:
    return signal.Signals(-exitcode).name if exitcode < 0 else f"exit code {exitcode}"


def to_bytes(value: Any) -> bytes:
    """A value for ``from_bytes`` in another process. Classes of ``__main__`` (a script, a notebook) go by value.

    So do those that no import finds there, such as local ones. Others are imported there.
    """
    try:
        data = pickle.dumps(value)
    except Exception:
        data = b"__main__"
    if b"__main__" not in data:
        return data
    import cloudpickle

    return bytes(cloudpickle.dumps(value))


def from_bytes(data: bytes) -> Any:
    """The value that ``to_bytes`` was called with."""
    return pickle.loads(data)


class Worker(Generic[A, B]):
    """A process that calls ``work``. It ends when this object is closed, and when the process that started it ends.

    One piece at a time; ``kill`` and ``alive`` may be used from other threads meanwhile.
    """

    def __init__(self, work: Callable[[A], B]) -> None:
        """Raises ``RunError`` if the process does not start: at once if it fails, the tenth time if it is killed."""
        try:
            self._work = to_bytes(work)
        except Exception as error:
            raise RunError(f"the task cannot be sent to a worker process ({error})") from error
        attempts = 0
        while (exitcode := self._start()) is not None:
            attempts += 1
            if exitcode >= 0 or attempts == START_ATTEMPTS:
                break
        else:
            return
        raise RunError(f"a worker process did not start ({_ending(exitcode)}); its error is printed above")

    def __call__(self, piece: A, late: Late | None = None, most: float = inf) -> B:
        """``work(piece)``. Raises ``WorkerDiedError``, ``LateVerifierError``, and what it raises.

        The places in ``late`` are not run again; ``most`` as in ``deadlines.Watch``.
        """
        data = to_bytes((piece, dict(late or {}), most))
        try:
            self._clock.clear()
            self._process.frames.send(data)
            answer, error = from_bytes(self._receive())
        except (EOFError, OSError) as closed:
            raise WorkerDiedError(f"the worker process died ({_ending(self._process.wait())})") from closed
        except BaseException as error:  # late, or interrupted between piece and answer: the pipe is out of step
            self.kill()
            self._process.close()
            if isinstance(error, BrokenFrameError):
                raise WorkerDiedError(f"the worker process was ended: {error}") from error
            raise
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]

    def _start(self) -> int | None:
        """Start the process; returns its exit code if it ends instead."""
        memory = make_memory()
        try:
            self._clock = Clock(memory)
            self._process = _Process("grpo_env.workers.function_worker", memory=memory)
        finally:
            os.close(memory)
        try:
            self._process.frames.send(pickle.dumps(sys.path))
            self._process.frames.send(self._work)
            self._process.frames.receive()
        except (EOFError, OSError, BrokenFrameError) as error:
            if isinstance(error, BrokenFrameError):
                self.kill()
            exitcode = self._process.wait()
            self._process.close()
            return exitcode
        return None

    def _receive(self) -> bytes:
        pause = 0.025

        def wait() -> float:
            nonlocal pause
            if lateness := self._clock.late():
                raise LateVerifierError(lateness)
            if not self._process.alive:  # what it has started may still hold its end of the pipe
                raise EOFError
            pause = min(2 * pause, LOOK)
            return min(pause, self._clock.seconds_left())

        return self._process.frames.receive(wait)

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.alive

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()

    def close(self) -> None:
        """Let the idle process end and wait for its end."""
        self._process.close()

    def forget(self) -> None:
        """In a forked child: leave the process to the parent."""
        self._process.forget()


class ReplaceableWorker(Generic[A, B]):
    """A ``Worker`` that is started when it is needed, and replaced after it died or was late. Threads take turns.

    A forked process starts its own. ``starts`` counts processes.
    """

    def __init__(self, work: Callable[[A], B]) -> None:
        self.starts = 0
        self._work = work
        self._worker: Worker[A, B] | None = None
        self._lock = threading.Lock()
        self._killed = False
        _owners.add(self)

    @property
    def alive(self) -> bool:
        """Whether a process is running."""
        return self._worker is not None and self._worker.alive

    def start(self) -> None:
        """Start the process, unless one is running. Raises ``RunError``."""
        with self._lock:
            self._started()

    def __call__(self, piece: A, seconds: float = inf, again: bool = True) -> B:
        """``work(piece)``; what is late in it scores 0 with status ``timeout`` and is not run again.

        Raises ``WorkerDiedError``, ``RunError`` if no process starts, and what ``work`` raises. With ``seconds``, a
        verifier has at most half of what is left of them, so that there is time to score the rest again. Raises
        ``LateVerifierError`` instead of that if not ``again``.
        """
        end = time.monotonic() + seconds
        late: dict[Place, Lateness] = {}
        with self._lock:
            try:
                while True:
                    worker = self._started()
                    if self._killed:
                        worker.kill()
                    try:
                        return worker(piece, late, max(0.0, end - time.monotonic()) / 2)
                    except LateVerifierError as error:
                        if not again:
                            raise
                        late[error.lateness.place] = error.lateness
            finally:
                self._killed = False

    def kill(self) -> None:
        """End the process, whatever it is doing: the call in progress raises ``WorkerDiedError``."""
        self._killed = True
        if (worker := self._worker) is not None:
            worker.kill()

    def close(self) -> None:
        """End the process, by killing it if a call is in progress, and wait for its end."""
        worker, self._worker = self._worker, None
        if worker is not None:
            if self._lock.locked():
                worker.kill()
            worker.close()

    def forget(self) -> None:
        """In a forked child: leave the process to the parent, which may also hold the lock."""
        worker, self._worker = self._worker, None
        self._lock = threading.Lock()
        if worker is not None:
            worker.forget()

    def _started(self) -> Worker[A, B]:
        if self._worker is None or not self._worker.alive:
            self.close()
            self.starts += 1
            self._worker = Worker(self._work)
        return self._worker


class ProgramWorker:
    """``python -P -m module``, started by the first request and again after it has ended.

    Unlike a ``Worker``'s, its answers are JSON, never unpickled. Threads take turns. A forked process starts its own.
    """

    seconds_left: ClassVar[float] = inf
    """Seconds by the clock that all programs of this process may still take. ``serve`` sets it for each piece."""

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._program = [module, *arguments]
        self._environment = environment
        self._lock = threading.Lock()
        self._process: _Process | None = None
        _owners.add(self)

    @property
    def pid(self) -> int | None:
        """The process's id while there is one."""
        return self._process.pid if self._process is not None else None

    def ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to a request.

        Raises ``LateError`` after ``timeout`` seconds by the clock, or when the program passes its own
        ``limit_processor_time``; ``WorkerDiedError`` if it ends otherwise, ``RuntimeError`` if it does not start, and
        ``SpentError`` where ``seconds_left`` ends it earlier.
        """
        start, left = time.monotonic(), ProgramWorker.seconds_left
        try:
            if left <= 0:
                raise LateError("no seconds are left")
            with self._lock:
                process = self._process
                if process is None or not process.alive:
                    process = self._start()
                return self._exchange(process, request, min(timeout, left))
        except LateError as late:
            if left < timeout:
                raise SpentError("the seconds for computer algebra and other programs are used up") from late
            raise
        finally:
            ProgramWorker.seconds_left -= time.monotonic() - start

    def close(self) -> None:
        """Kill the process and wait for its end."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.close()

    def forget(self) -> None:
        """In a forked child: leave the process to the parent, which may also hold the lock."""
        process, self._process = self._process, None
        self._lock = threading.Lock()
        if process is not None:
            process.forget()

    def _start(self) -> _Process:
        for _ in range(START_ATTEMPTS):
            self.close()
            process = self._process = _Process(*self._program, environment=self._environment)
            try:
                _receive(process, START_TIMEOUT)
                return process
            except (EOFError, OSError) as error:
                reason: Exception = error
                if process.wait() >= 0:
                    break
            except (LateError, BrokenFrameError) as error:
                reason = error
                break
        self.close()
        command = " ".join([*_PYTHON, *self._program])
        raise RuntimeError(f"a worker did not start; to see why, run {command}") from reason

    def _exchange(self, process: _Process, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        try:
            process.frames.send(json.dumps(request).encode())
            return _receive(process, timeout)
        except (EOFError, OSError) as closed:
            exitcode = process.wait()
            self.close()
            if exitcode == -signal.SIGPROF:
                raise LateError("the worker used up its processor time") from closed
            raise WorkerDiedError(f"the worker process died ({_ending(exitcode)})") from closed
        except BaseException as error:  # late, or interrupted between request and answer: the pipe is out of step
            self.close()
            if isinstance(error, BrokenFrameError):
                raise WorkerDiedError(f"the worker process was ended: {error}") from error
            raise


def _receive(process: _Process, timeout: float) -> dict[str, Any]:
    end = time.monotonic() + timeout

    def wait() -> float:
        if time.monotonic() >= end:
            raise LateError(f"no answer within {timeout:g} s")
        return end - time.monotonic()

    answer: dict[str, Any] = json.loads(process.frames.receive(wait))
    return answer


_owners: WeakSet[ProgramWorker | ReplaceableWorker[Any, Any]] = WeakSet()


def _close_all() -> None:
    for owner in list(_owners):
        owner.close()


def _forget_all() -> None:
    for owner in list(_owners):
        owner.forget()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_all)
