"""Worker processes that can be killed: a piece of work that hangs, crashes or fills the memory ends only its process.

``ReplaceableWorker`` calls a function within the deadlines of verifiers. ``ProgramWorker`` runs a module that answers
JSON requests by ``child_process.read_requests``. Both replace a process that died or was late. All of these processes
end when the process that started them ends, also while they start or are stuck, and also if it is killed.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from math import inf
from multiprocessing import Pipe
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from grpo_env.errors import RunError
from grpo_env.workers.deadlines import Clock, Late, LatePlaceError, Place, make_memory
from grpo_env.workers.pipe_messages import BrokenFrameError, Frames, forever, from_bytes, to_bytes

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


class _Process:
    """``python -m module arguments PIPE`` with the other end of the pipe, and a lifeline: see ``child_process``.

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
                [*_PYTHON, "grpo_env.workers.child_process", str(lifeline.fileno()), module, *arguments, *ends],
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

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._popen.kill()

    def close(self) -> int:
        """Let it end by itself, if it does so soon; returns its exit code, or minus the signal that ended it."""
        self._pipe.close()
        try:
            self._popen.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
        self._lifeline.close()
        return self._popen.wait()

    def forget(self) -> None:
        """In a forked child: leave the process to the parent."""
        self._pipe.close()
        self._lifeline.close()
        self._popen.returncode = 0  # not a child of this process: nothing to reap, no warning


_PYTHON = [sys.executable, "-P", "-m"]


def _ending(exitcode: int) -> str:
    return signal.Signals(-exitcode).name if exitcode < 0 else f"exit code {exitcode}"


class _Owner:
    """At most one process, started when it is needed, and again after it has ended. Threads take turns.

    A forked process starts its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: _Process | None = None
        _owners.add(self)

    @property
    def alive(self) -> bool:
        """Whether a process is running."""
        process = self._process
        return process is not None and process.alive

    def kill(self) -> None:
        """End the process, whatever it is doing: the call in progress raises ``WorkerDiedError``."""
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the process, by killing it if a call is in progress, and wait for its end."""
        process, self._process = self._process, None
        if process is not None:
            if self._lock.locked():
                process.kill()
            process.close()

    def forget(self) -> None:
        """In a forked child: leave the process to the parent, which may also hold the lock."""
        process, self._process = self._process, None
        self._lock = threading.Lock()
        if process is not None:
            process.forget()

    def _running(self) -> _Process:
        """The process. Raises ``RunError`` if it does not start."""
        process = self._process
        if process is None or not process.alive:
            self.close()
            process = self._start()
        return process

    def _start(self) -> _Process:
        raise NotImplementedError

    def _until_ready(
        self, make: Callable[[], _Process], messages: Sequence[bytes], wait: Callable[[], float], hint: str
    ) -> _Process:
        """A new process that got ``messages`` and said that it is ready; one that was killed is started again.

        Raises ``RunError`` with the ``hint``: at once if it fails, the tenth time if it is killed.
        """
        for _ in range(START_ATTEMPTS):
            process = self._process = make()
            try:
                for message in messages:
                    process.frames.send(message)
                process.frames.receive(wait)
                return process
            except (EOFError, OSError):
                exitcode = process.close()
                if exitcode >= 0:
                    break
            except (LateError, BrokenFrameError):
                process.kill()
                exitcode = process.close()
                break
        raise RunError(f"a worker process did not start ({_ending(exitcode)}); {hint}")

    def _exchange(self, process: _Process, request: bytes, seconds_left: Callable[[], float]) -> bytes:
        """The answer to a request. ``seconds_left`` raises when it is late, which ends the process."""
        pause = 0.025

        def wait() -> float:
            nonlocal pause
            left = seconds_left()
            if not process.alive:  # what it has started may still hold its end of the pipe
                raise EOFError
            pause = min(2 * pause, LOOK)
            return min(pause, left)

        try:
            process.frames.send(request)
            return process.frames.receive(wait)
        except (EOFError, OSError) as closed:
            self._process = None
            raise self._death(process.close()) from closed
        except BaseException as error:  # late, or interrupted between request and answer: the pipe is out of step
            self.close()
            if isinstance(error, BrokenFrameError):
                raise WorkerDiedError(f"the worker process was ended: {error}") from error
            raise

    def _death(self, exitcode: int) -> RunError:
        return WorkerDiedError(f"the worker process died ({_ending(exitcode)})")


class ReplaceableWorker(_Owner, Generic[A, B]):
    """A process that calls ``work`` on one piece at a time. ``starts`` counts processes."""

    def __init__(self, work: Callable[[A], B]) -> None:
        super().__init__()
        self.starts = 0
        self._work = work
        self._killed = False

    def start(self) -> None:
        """Start the process, unless one is running. Raises ``RunError``."""
        with self._lock:
            self._running()

    def __call__(self, piece: A, seconds: float = inf) -> B:
        """``work(piece)``; what is late in it scores 0 with status ``timeout`` and is not run again.

        Raises ``WorkerDiedError``, ``RunError`` if no process starts, and what ``work`` raises. With ``seconds``, a
        verifier has at most half of what is left of them, so that there is time to score the rest again.
        """
        end = time.monotonic() + seconds
        late: dict[Place, float] = {}
        with self._lock:
            try:
                while True:
                    try:
                        return self._do(piece, late, max(0.0, end - time.monotonic()) / 2)
                    except LatePlaceError as error:
                        late[error.place] = error.seconds
            finally:
                self._killed = False

    def kill(self) -> None:
        self._killed = True
        super().kill()

    def _do(self, piece: A, late: Late, most: float) -> B:
        """``work(piece)``, without the places in ``late``; ``most`` as in ``deadlines.Watch``."""
        process = self._running()
        if self._killed:
            process.kill()
        request = to_bytes((piece, late, most))
        self._clock.clear()
        answer, error = from_bytes(self._exchange(process, request, self._clock.seconds_left))
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]

    def _start(self) -> _Process:
        try:
            work = to_bytes(self._work)
        except Exception as error:
            raise RunError(f"the task cannot be sent to a worker process ({error})") from error
        self.starts += 1
        messages = [to_bytes(sys.path), work]
        return self._until_ready(self._with_clock, messages, forever, "its error is printed above")

    def _with_clock(self) -> _Process:
        memory = make_memory()
        try:
            self._clock = Clock(memory)
            return _Process("grpo_env.workers.function_calls", memory=memory)
        finally:
            os.close(memory)


class ProgramWorker(_Owner):
    """``python -P -m module``. Unlike a ``ReplaceableWorker``'s, its answers are JSON, never unpickled."""

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._program = [module, *arguments]
        self._environment = environment

    @property
    def pid(self) -> int | None:
        """The process's id while there is one."""
        return self._process.pid if self._process is not None else None

    def ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to a request.

        Raises ``LateError`` after ``timeout`` seconds by the clock, or when the program passes its own
        ``limit_processor_time``; ``WorkerDiedError`` if it ends otherwise, and ``RunError`` if it does not start.
        """
        with self._lock:
            data = self._exchange(self._running(), json.dumps(request).encode(), _within(timeout))
        answer: dict[str, Any] = json.loads(data)
        return answer

    def close(self) -> None:
        """Kill the process and wait for its end."""
        self.kill()
        super().close()

    def _start(self) -> _Process:
        hint = f"to see why, run {' '.join([*_PYTHON, *self._program])}"
        return self._until_ready(
            lambda: _Process(*self._program, environment=self._environment), [], _within(START_TIMEOUT), hint
        )

    def _death(self, exitcode: int) -> RunError:
        if exitcode == -signal.SIGPROF:
            return LateError("the worker used up its processor time")
        return super()._death(exitcode)


def _within(seconds: float) -> Callable[[], float]:
    """What is left of so many seconds from now on. Raises ``LateError`` when nothing is."""
    end = time.monotonic() + seconds

    def seconds_left() -> float:
        left = end - time.monotonic()
        if left <= 0:
            raise LateError(f"no answer within {seconds:g} s")
        return left

    return seconds_left


_owners: WeakSet[_Owner] = WeakSet()


def _close_all() -> None:
    for owner in list(_owners):
        owner.close()


def _forget_all() -> None:
    for owner in list(_owners):
        owner.forget()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_all)
