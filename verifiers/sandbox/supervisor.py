"""The process inside the sandbox: forks once for each run of a program, confines the fork, and reports how it ended.

Started by ``launch`` with the job as JSON on standard input; writes ``{}`` and then one JSON line per run to standard
output. The forks that run the program have neither, so they cannot forge the result of a run.
"""

from __future__ import annotations

import atexit
import builtins
import json
import os
import select
import signal
import sys
import threading
import time
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from .confine import confine, protect
from .limits import STANDARD_ERROR, Limits
from .values import NotPlainError, from_json, to_json

_CHUNK = 65536
_POLL = 0.002


def main(folder: str) -> None:
    """Do the job, with a folder below ``folder`` for each run, and exit."""
    protect()
    sys.argv = ["program.py"]
    job = json.loads(_read_all(0))
    reply = os.dup(1)
    limits = Limits(**job["limits"])
    end = time.monotonic() + limits.deadline
    # If the caller dies without ending this process, the system ends it.
    signal.setitimer(signal.ITIMER_REAL, limits.deadline + 5)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.write(reply, b"{}\n")
    for number, run in enumerate(job["runs"]):
        seconds = min(limits.seconds, end - time.monotonic())
        if seconds <= 0:
            break
        run_folder = os.path.join(folder, f"run{number}")
        os.mkdir(run_folder)
        result = _supervise(job, run, run_folder, limits._replace(seconds=seconds))
        _write_all(reply, json.dumps(result).encode() + b"\n")
    os._exit(0)


def _supervise(job: dict[str, Any], run: dict[str, Any], folder: str, limits: Limits) -> dict[str, Any]:
    """Run once in a fork and wait for its end: what it wrote and how it ended."""
    start = time.monotonic()
    pipes = [os.pipe() for _ in range(4)]  # standard output, standard error, the fork's report, its ticket
    pid = os.fork()
    if pid == 0:
        _child(job, run, folder, limits, pipes)
    ticket = os.urandom(16).hex().encode()  # made after the fork, so that the program's memory does not contain it
    os.write(pipes[3][1], ticket)
    for end in (*(pipe[1] for pipe in pipes), pipes[3][0]):
        os.close(end)
    texts = {pipe[0]: bytearray() for pipe in pipes[:3]}
    ended = _collect(texts, pipes[1][0], start + limits.seconds, limits.output)
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
    for end in texts:
        os.close(end)
    code = os.waitstatus_to_exitcode(status)
    if ended == "exit" and -code == signal.SIGXCPU:
        ended = "timeout"
    output, error, report = (bytes(text).decode(errors="replace") for text in texts.values())
    if run["kind"] == "block":
        report = "passed" if report.encode() == ticket else ""
    return {"ended": ended, "code": code, "output": output, "error": error, "report": report}


def _collect(texts: dict[int, bytearray], errors: int, end: float, most: int) -> str:
    """Read all pipes until the other side closes them: ``exit``; or ``timeout``, or ``output`` for too much of it."""
    still_open = set(texts)
    while still_open:
        left = end - time.monotonic()
        ready = select.select(list(still_open), [], [], max(left, 0))[0]
        if not ready or left <= 0:
            return "timeout"
        for pipe in ready:
            chunk = os.read(pipe, _CHUNK)
            texts[pipe] += chunk
            if not chunk:
                still_open.discard(pipe)
            elif pipe == errors:
                del texts[pipe][:-STANDARD_ERROR]
            elif len(texts[pipe]) > most:
                del texts[pipe][:]
                return "output"
    return "exit"


def _child(
    job: dict[str, Any], run: dict[str, Any], folder: str, limits: Limits, pipes: list[tuple[int, int]]
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
    os.dup2(pipes[2][1], report)
    os.dup2(pipes[3][0], ticket)
    first = 3
    for descriptor in sorted((report, ticket)) if run["kind"] != "program" else ():
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 256)
    confine(folder, job["readable"], limits.seconds, limits.memory, limits.file_size)
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
    run, make = exec, compile
    for text in texts:
        run(make(text, "<program>", "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def _value(texts: tuple[str, ...], run: dict[str, Any], report: int) -> NoReturn:
    """Report the value of an expression, after the program and the test's own statements."""
    leave = os._exit
    names = _load("solution", (*texts, run["before"]))
    value = eval(compile(run["code"], "<test>", "eval"), names)
    try:
        text = json.dumps(to_json(value))
    except NotPlainError as error:
        raise TypeError(f"the result contains {error}") from None
    _write_all(report, text.encode(errors="replace"))
    leave(0)


def _block(texts: tuple[str, ...], run: dict[str, Any], report: int, ticket: int) -> NoReturn:
    """Run a test's statements after the program, and write the ticket to the report if they finish.

    The test sees the original builtins, whatever the program did to them; only ``entry_point`` may have the name of
    one.
    """
    pristine = dict(vars(builtins))
    read, write, leave, make, execute = os.read, os.write, os._exit, compile, exec
    same = _equality()
    names = dict(_load("solution", texts))
    for name in pristine:
        if name != run["entry_point"]:
            names.pop(name, None)
    names |= {"__builtins__": pristine, "__name__": "solution", "__same__": same}
    execute(make(run["code"], "<test>", "exec", dont_inherit=True), names)
    write(report, read(ticket, 100))
    leave(0)


def _equality() -> Callable[[object, object], Any]:
    """The ``==`` of test code: next to a builtin value, the ``__eq__`` of the program's classes is not called."""
    plain = {int, float, complex, str, bytes, bool, list, tuple, dict, set, frozenset, type(None)}
    modules, encode, decode, not_plain = sys.modules, to_json, from_json, NotPlainError

    def foreign(kind: type) -> bool:
        home = modules.get(kind.__module__)
        return kind.__module__ == "solution" or getattr(home, kind.__qualname__, None) is not kind

    def same(one: object, other: object) -> Any:
        if type(one) in plain or type(other) in plain:
            try:
                return decode(encode(one)) == decode(encode(other))
            except not_plain as error:
                if foreign(type(error.value)):
                    return False
        return one == other

    return same


def _read_all(source: int) -> bytes:
    parts = []
    while chunk := os.read(source, _CHUNK):
        parts.append(chunk)
    return b"".join(parts)


def _write_all(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]
