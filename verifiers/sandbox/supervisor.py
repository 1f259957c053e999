"""The process inside the sandbox: forks once for each run of a program, confines the fork, and reports how it ended.

Started by ``launch`` with the job as JSON on standard input; writes ``{}`` and then one JSON line per run to standard
output. The forks that run the program have neither, so they cannot forge the result of a run. What they report is read
here and leaves as hashes: this process can be ended at any time, its caller's not.
"""

from __future__ import annotations

import atexit
import builtins
import json
import os
import resource
import select
import signal
import sys
import threading
import time
import types
from _socket import SCM_RIGHTS, SOL_SOCKET, socketpair
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from .confine import answer_clone, clone_listener, confine, protect
from .equal_values import equality
from .limits import STANDARD_ERROR, Limits, exceeds_disk_limits, exceeds_own_disk, remove_tree, set_rlimit
from .plain_values import MAX_DIGITS, NotPlainError, digest, shown, to_json

_CHUNK = 65536
_POLL = 0.002
_WATCH = 0.02  # seconds between two looks at the files of a run
_READERS_MEMORY = 2**31  # bytes of address space of this process, which reads the reports
_MAX_RECORDS = 10_000  # values that a run may report
_SHOWN = 80  # characters of a reported value


def main(folder: str) -> None:
    """Do the job, with a folder below ``folder`` for each run, and exit."""
    protect()
    sys.argv = ["program.py"]
    with open(0, "rb", closefd=False) as stdin:
        job = json.load(stdin)
    reply = os.dup(1)
    limits = Limits(**job["limits"])
    end = time.monotonic() + limits.deadline
    # If the caller dies without ending this process, the system ends it.
    signal.setitimer(signal.ITIMER_REAL, limits.deadline + 5)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    set_rlimit(resource.RLIMIT_AS, max(_READERS_MEMORY, 2 * limits.memory))
    os.write(reply, b"{}\n")
    for number, run in enumerate(job["runs"]):
        seconds = min(limits.seconds, end - time.monotonic())
        if seconds <= 0:
            break
        run_folder = os.path.join(folder, f"run{number}")
        os.mkdir(run_folder)
        result = _supervise(job, run, run_folder, limits._replace(seconds=seconds))
        _write_all(reply, json.dumps(result).encode() + b"\n")
        remove_tree(run_folder)
    os._exit(0)


def _supervise(job: dict[str, Any], run: dict[str, Any], folder: str, limits: Limits) -> dict[str, Any]:
    """Run once in a fork and wait for its end: what it wrote and how it ended."""
    start = time.monotonic()
    pipes = [os.pipe() for _ in range(4)]  # standard output, standard error, the fork's report, its ticket
    channel, childs_channel = socketpair()
    pid = os.fork()
    if pid == 0:
        _child(job, run, folder, limits, pipes, childs_channel)
    childs_channel.close()
    ticket = os.urandom(16).hex().encode()  # made after the fork, so that the program's memory does not contain it
    os.write(pipes[3][1], ticket)
    for end in (*(pipe[1] for pipe in pipes), pipes[3][0]):
        os.close(end)
    exceeds = exceeds_own_disk if job["own_disk"] else exceeds_disk_limits
    watch = _Watch([pipe[0] for pipe in pipes[:3]], channel, limits, lambda: exceeds(folder, limits))
    ended = watch.wait(start + limits.seconds)
    status = None
    while ended == "exit" and status is None:
        done, wait_status = os.waitpid(pid, os.WNOHANG)
        if done:
            status = wait_status
        elif time.monotonic() > start + limits.seconds:
            ended = "timeout"
        else:
            time.sleep(_POLL)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    watch.close()
    code = os.waitstatus_to_exitcode(status)
    if ended == "exit" and -code == signal.SIGXCPU:
        ended = "timeout"
    output, error, report = map(bytes, watch.texts)
    *lines, last = report.split(b"\n", _MAX_RECORDS)
    return {
        "ended": ended,
        "code": code,
        "output": output.decode(errors="replace"),
        "error": error.decode(errors="replace"),
        "passed": last == ticket,
        "records": [_record(line, run["as_json"]) for line in lines],
    }


def _record(line: bytes, as_json: bool) -> tuple[int, str, str]:
    """A value that a run reported: the number of its place in the test, its hash, and its start."""
    try:
        place, value = json.loads(line, parse_int=_integer)
        return int(place), digest(value, as_json), shown(value, _SHOWN)
    except Exception:  # the program can write anything here
        return -1, "", ""


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError("too many digits")
    return int(text)


class _Watch:
    """Reads what a run writes, counts its threads and watches its files."""

    def __init__(self, sources: list[int], channel: Any, limits: Limits, exceeds: Callable[[], bool]) -> None:
        self.texts = [bytearray() for _ in sources]
        self._sources = dict(zip(sources, self.texts, strict=True))
        self._errors = sources[1]
        self._channel = channel
        self._listener: int | None = None
        self._limits = limits
        self._threads = 0
        self._exceeds = exceeds
        self._poll = select.poll()
        for source in (*sources, channel.fileno()):
            self._poll.register(source, select.POLLIN)
        self._open = set(sources)

    def wait(self, end: float) -> str:
        """Until the run has closed all it can write to: ``exit``; or ``timeout``, ``output`` or ``files``."""
        next_look = time.monotonic() + _WATCH
        while self._open:
            now = time.monotonic()
            if now >= end:
                return "timeout"
            if now >= next_look:
                if self._exceeds():
                    return "files"
                next_look = time.monotonic() + _WATCH
            for source, event in self._poll.poll(1000 * max(0.0, min(end, next_look) - now)):
                if source in self._open:
                    if self._read(source):
                        return "output"
                elif source == self._listener:
                    self._answer(event)
                else:
                    self._listen()
        return "files" if self._exceeds() else "exit"

    def close(self) -> None:
        for source in (*self._sources, *([] if self._listener is None else [self._listener])):
            os.close(source)
        self._channel.close()

    def _read(self, source: int) -> bool:
        """Read a part; whether it is too much."""
        chunk = os.read(source, _CHUNK)
        text = self._sources[source]
        text += chunk
        if not chunk:
            self._open.discard(source)
            self._poll.unregister(source)
        elif source == self._errors:
            del text[:-STANDARD_ERROR]
        elif len(text) > self._limits.output:
            del text[:]
            return True
        return False

    def _listen(self) -> None:
        """Receive the listener that the fork made."""
        self._poll.unregister(self._channel.fileno())
        with suppress(OSError):
            for _, _, data in self._channel.recvmsg(1, 64)[1]:
                self._listener = int.from_bytes(data[:4], sys.byteorder)
                self._poll.register(self._listener, select.POLLIN)

    def _answer(self, event: int) -> None:
        assert self._listener is not None
        if not event & select.POLLIN:  # the run has ended
            self._poll.unregister(self._listener)
            return
        self._threads += 1
        answer_clone(self._listener, self._threads <= self._limits.threads)


def _child(
    job: dict[str, Any],
    run: dict[str, Any],
    folder: str,
    limits: Limits,
    pipes: list[tuple[int, int]],
    channel: Any,
) -> NoReturn:
    """In the fork: become the program. What it raises ends the interpreter as usual."""
    os.chdir(folder)
    os.environ["HOME"] = os.environ["TMPDIR"] = folder
    stdin = os.open("stdin", os.O_RDWR | os.O_CREAT)
    os.unlink("stdin")
    _write_all(stdin, run.get("input", "").encode(errors="replace"))
    os.lseek(stdin, 0, os.SEEK_SET)
    for target, source in enumerate((stdin, pipes[0][1], pipes[1][1])):
        os.dup2(source, target)
    # Random descriptors, so that a program has to search for them before it can forge a report.
    report, ticket = (base + os.urandom(1)[0] % 15 for base in (32, 47))
    listener = clone_listener()
    threads = listener is not None
    if listener is not None:
        channel.sendmsg([b"."], [(SOL_SOCKET, SCM_RIGHTS, listener.to_bytes(4, sys.byteorder))])
    os.dup2(pipes[2][1], report)
    os.dup2(pipes[3][0], ticket)
    first = 3
    for descriptor in sorted((report, ticket)) if run["kind"] != "program" else ():
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 256)
    confine(folder, job["readable"], limits.seconds, limits.memory, limits.file_size, threads=threads)
    texts = (job["setup"], job["program"])
    if run["kind"] == "program":
        _program(texts)
    if run["kind"] == "value":
        _value(texts, run, report)
    _block(texts, run, report, ticket)


def _program(texts: tuple[str, ...]) -> NoReturn:
    """Run texts as a script, and end as an interpreter does, without the time that it takes to free all memory."""
    names = _load("__main__", texts)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    names.clear()  # closes, and so flushes, files that the program left open
    streams: tuple[Any, ...] = (sys.stdout, sys.__stdout__)
    for stream in streams:
        with suppress(AttributeError, ValueError):  # replaced by the program, closed by the program
            stream.flush()
    os._exit(0)


def _load(name: str, texts: tuple[str, ...]) -> dict[str, Any]:
    """Run texts as one module called ``name``; its names."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    for leave in ("exit", "quit"):  # of the module ``site``, which is loaded only with packages
        setattr(builtins, leave, sys.exit)
    run, make = exec, compile
    for text in texts:
        run(make(text, "<program>", "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def _value(texts: tuple[str, ...], run: dict[str, Any], report: int) -> NoReturn:
    """Report the value of an expression, after the program and the test's own statements."""
    leave, record = os._exit, _recorder(report)
    names = _load("solution", (*texts, run["before"]))
    record(0, eval(compile(run["code"], "<test>", "eval"), names))
    leave(0)


def _block(texts: tuple[str, ...], run: dict[str, Any], report: int, ticket: int) -> NoReturn:
    """Run a test's statements after the program, and write the ticket to the report if they finish.

    The test sees the original builtins, whatever the program did to them; only ``entry_point`` may have the name of
    one.
    """
    pristine = dict(vars(builtins))
    read, write, leave, make, execute = os.read, os.write, os._exit, compile, exec
    for module in ("collections", "datetime", "decimal", "fractions"):  # before the program can replace them
        if module in run["code"]:
            __import__(module)
    helpers = {"__same__": equality(), "__record__": _recorder(report)}
    names = dict(_load("solution", texts))
    for name in pristine:
        if name != run["entry_point"]:
            names.pop(name, None)
    names |= {"__builtins__": pristine, "__name__": "solution", **helpers}
    execute(make(run["code"], "<test>", "exec", dont_inherit=True), names)
    write(report, read(ticket, 100))
    leave(0)


def _recorder(report: int) -> Callable[[int, object], None]:
    """What reports the value at a place of the test, to be compared outside of the sandbox."""
    encode, write, dumps, not_plain = to_json, os.write, json.dumps, NotPlainError

    def record(place: int, value: object) -> None:
        try:
            text = dumps([place, encode(value)], ensure_ascii=False)  # escaped halves would be joined when read
        except not_plain as error:
            raise TypeError(f"the result contains {error}") from None
        data = text.encode("utf-8", "surrogatepass") + b"\n"
        while data:
            data = data[write(report, data) :]

    return record


def _write_all(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]
