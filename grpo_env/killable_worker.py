"""Worker processes that can be killed: a piece of work that hangs, crashes or fills the memory ends only its process.

``Worker`` calls a picklable function. ``ProgramWorker`` runs a module that answers JSON requests by ``read_requests``.
Neither queues or retries anything.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection, wait
from pickle import PicklingError
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from grpo_env.errors import RunError

A = TypeVar("A")
B = TypeVar("B")

START_TIMEOUT = 120.0  # seconds a program may take to import its libraries on a busy machine


class WorkerDiedError(RunError):
    """The worker process ended without an answer: killed, out of memory, ``os._exit``, a crash."""


class LateError(RunError):
    """The work took longer than its deadline, and the worker process was killed."""


class Worker(Generic[A, B]):
    """A process that calls ``work``. It ends when this object is closed, and when the process that started it ends.

    One piece at a time; ``kill`` and ``alive`` may be used from other threads meanwhile. The process imports the
    script that started it, as ``multiprocessing`` does, since the function may be defined there.
    """

    def __init__(self, work: Callable[[A], B]) -> None:
        # Spawned, not forked: a fork copies the locks of whatever threads torch or a notebook has running.
        context = get_context("spawn")
        self._pipe, child_end = context.Pipe()
        self._process = context.Process(target=_call, args=(child_end,))
        self._process.start()
        child_end.close()  # otherwise the end of the process would not close the pipe
        try:
            self._pipe.send(work)
            self._pipe.recv()
        except (PicklingError, AttributeError, TypeError) as error:
            self.kill()
            raise RunError(
                f"the task cannot be sent to a worker process ({error}); define its classes at the top of a module"
            ) from error
        except (EOFError, OSError) as error:
            raise RunError(f"a worker process did not start ({self._ending()}); its error is printed above") from error

    def __call__(self, piece: A) -> B:
        """``work(piece)``. Raises ``WorkerDiedError``, and what the work raised."""
        try:
            self._pipe.send(piece)
            answer, error = self._pipe.recv()
        except (EOFError, OSError) as closed:
            raise WorkerDiedError(f"the worker process died ({self._ending()})") from closed
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]

    def _ending(self) -> str:
        self._process.join()
        return _ending(self._process.exitcode or 0)

    @property
    def alive(self) -> bool:
        """Whether the process is running. Does not reap it, which another thread may be doing."""
        return not wait([self._process.sentinel], timeout=0)

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()

    def close(self) -> None:
        """Let the process finish and wait for its end."""
        self._pipe.close()
        self._process.join()


def _ending(exitcode: int) -> str:
    return signal.Signals(-exitcode).name if exitcode < 0 else f"exit code {exitcode}"


def _call(pipe: Connection[Any, Any]) -> None:
    """The main function of a ``Worker``'s process."""
    ignore_interrupts()
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
        return  # the caller has ended or closed the pipe


class ProgramWorker:
    """``python -P -m module``, started by the first request and again after it has ended.

    Unlike a ``Worker`` it imports nothing of the caller's script, and its answers are JSON, never unpickled. Threads
    take turns. A forked process starts its own.
    """

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._command = [sys.executable, "-P", "-m", module, *arguments]
        self._environment = dict(environment or {})
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection[bytes, bytes] | None = None
        _programs.add(self)

    @property
    def pid(self) -> int | None:
        """The process's id while there is one."""
        return self._process.pid if self._process is not None else None

    def ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to a request.

        Raises ``LateError`` after ``timeout`` seconds by the clock, or when the program passes its own
        ``limit_processor_time``; ``WorkerDiedError`` if it ends otherwise, and ``RuntimeError`` if it does not start.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            return self._exchange(request, timeout)

    def stop(self) -> None:
        """Kill the process and wait for its end."""
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, None
        if process is not None and pipe is not None:
            process.kill()
            process.wait()
            pipe.close()

    def forget(self) -> None:
        """In a forked child: leave the process to the parent, which may also hold the lock."""
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, None
        self._lock = threading.Lock()
        if process is not None and pipe is not None:
            pipe.close()
            process.returncode = 0  # not a child of this process: nothing to reap, no warning

    def _start(self) -> None:
        self.stop()
        self._pipe, child_end = Pipe()
        with child_end:
            number = child_end.fileno()
            command = [*self._command, str(number)]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[number],
                env={**os.environ, **self._environment},
            )
        try:
            self._receive(START_TIMEOUT)
        except (LateError, EOFError, OSError) as error:
            self.stop()
            raise RuntimeError(f"a worker did not start; to see why, run {' '.join(command)}") from error

    def _exchange(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        assert self._process is not None
        assert self._pipe is not None
        try:
            self._pipe.send_bytes(json.dumps(request).encode())
            return self._receive(timeout)
        except (EOFError, OSError) as closed:
            exitcode = self._process.wait()
            self.stop()
            if exitcode == -signal.SIGPROF:
                raise LateError("the worker used up its processor time") from closed
            raise WorkerDiedError(f"the worker process died ({_ending(exitcode)})") from closed
        except BaseException:  # late, or interrupted between request and answer: the pipe is out of step
            self.stop()
            raise

    def _receive(self, timeout: float) -> dict[str, Any]:
        assert self._pipe is not None
        if not self._pipe.poll(timeout):
            raise LateError(f"no answer within {timeout:g} s")
        answer: dict[str, Any] = json.loads(self._pipe.recv_bytes())
        return answer


_programs: WeakSet[ProgramWorker] = WeakSet()


def _stop_programs() -> None:
    for program in list(_programs):
        program.stop()


def _forget_programs() -> None:
    for program in list(_programs):
        program.forget()


atexit.register(_stop_programs)
os.register_at_fork(after_in_child=_forget_programs)


# The program's side


def read_requests(arguments: Sequence[str]) -> Iterator[tuple[dict[str, Any], Callable[[Mapping[str, Any]], None]]]:
    """Each request to this program, with the function that answers it, until the caller closes the pipe or ends.

    ``arguments`` are the program's; the last one is the pipe's. The first request is waited for as soon as this is
    iterated, so set up everything before.
    """

    def answer(reply: Mapping[str, Any]) -> None:
        pipe.send_bytes(json.dumps(reply).encode())

    pipe: Connection[bytes, bytes] = Connection(int(arguments[-1]))
    with pipe:
        answer({})  # ready
        while True:
            try:
                request = json.loads(pipe.recv_bytes())
            except (EOFError, OSError):
                return
            yield request, answer


def ignore_interrupts() -> None:
    """Leave Ctrl-C to the caller, who ends this process by closing its pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def limit_processor_time(seconds: float) -> None:
    """Have the system end this process by SIGPROF once it has used so much more processor time; 0 lifts the limit."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory(size: int) -> None:
    """Limit this process's address space to ``size`` bytes, where the system allows it."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (ValueError, OSError):  # macOS refuses an address space limit
        return
