"""Equality of formulas by computer algebra, in a process that can be killed.

Signals work on the main thread only and threads cannot be stopped, so a deadline is kept by ending a process. It is
counted in the worker's processor time, so that a busy machine changes no verdict; by the clock it is ``PATIENCE``
times as long. There is one worker per process that asks, started on first use and replaced when it had to be killed.
Sizes are checked before anything is sent: most hostile answers never reach the worker.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .exact import OverLimitError
from .formulas import decide, is_constant, readable

MEMORY = 2 * 2**30  # bytes of address space
PATIENCE = 5.0  # seconds by the clock for one of processor time
START_UP = 120.0  # seconds to import sympy on a busy machine; not part of any verdict's deadline
MAX_LENGTH = 1000
MAX_NESTING = 30
MAX_NUMBER = 1000  # for exponents, factorials and binomials

_TOWER = re.compile(r"[\d!)}]\s*(?:\^|\*\*)\s*[{(]{0,3}\s*[-+]?\s*[\d!]+\s*[)}]{0,3}\s*(?:\^|\*\*)")
_EXPONENT = re.compile(r"(?:\^|\*\*|\d[eE])\s*[{(]{0,3}\s*[-+]?\s*(\d+)(!?)")
_FACTORIAL = re.compile(r"(\d+)\s*[)}]{0,3}\s*(!+)")
_OF_FACTORIAL = re.compile(r"!\s*[)}\]]{1,9}\s*!")
_WORD = re.compile(r"(?<![A-Za-z\\{])[A-Za-z]{4,}")  # not pmatrix in \\begin{pmatrix}
_FUNCTIONS = {
    "sqrt", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "floor", "ceil", "theta", "alpha", "beta", "infty",
    "infinity", "choose",
}  # fmt: skip
_BINOMIAL = re.compile(r"\\(?:binom|dbinom|tbinom|choose|genfrac)|\bbinom")


_LATE = "no verdict in time"


class DeadlineError(Exception):
    """The deadline passed and the worker was killed."""


class _DiedError(Exception):
    """The worker ended by itself."""


class UnreadableError(Exception):
    """A formula cannot be read. ``role`` says which: ``gold`` or ``answer``."""

    def __init__(self, role: str) -> None:
        super().__init__(f"the {role} cannot be read as mathematics")
        self.role = role


@dataclass
class _Question:
    """A comparison, its verdict once there is one, and the longest time that was not enough for it."""

    right: bool | None = None
    late: float = 0.0


@lru_cache(maxsize=4096)
def _question(gold: str, answer: str, rel_tol: float | None, decimals: int | None) -> _Question:
    return _Question()


def spent() -> float:
    """Seconds of processor time that computer algebra has taken for this thread so far, without its start."""
    return getattr(_clock, "seconds", 0.0)


def same_formula(gold: str, answer: str, rel_tol: float | None, timeout: float, decimals: int | None = None) -> bool:
    """Whether two formulas in normal LaTeX are worth the same.

    Raises ``OverLimitError``, ``DeadlineError`` or ``UnreadableError``.
    """
    question = _question(gold, answer, rel_tol, decimals)
    if question.right is None:
        if timeout <= question.late:
            raise DeadlineError(_LATE)
        try:
            question.right = _same_formula(gold, answer, rel_tol, timeout, decimals)
        except DeadlineError:
            question.late = timeout
            raise
    return question.right


def _same_formula(gold: str, answer: str, rel_tol: float | None, timeout: float, decimals: int | None) -> bool:
    check_size(answer)
    check_size(gold)
    decided = decide(gold, answer)
    if decided is not None and (decided or (rel_tol is None and decimals is None)):
        return decided
    if (is_constant(gold) and _has_word(answer)) or (is_constant(answer) and _has_word(gold)):
        return False
    if timeout <= 0:
        raise DeadlineError(_LATE)
    return bool(
        _worker.ask({"gold": gold, "answer": answer, "rel_tol": rel_tol, "decimals": decimals}, timeout)["same"]
    )


@lru_cache(maxsize=4096)
def formula_problem(text: str, timeout: float) -> str | None:
    """Why a formula in normal LaTeX cannot be read, or ``None``."""
    try:
        check_size(text)
        if not readable(text):
            _worker.ask({"gold": text}, timeout)
    except DeadlineError:
        return "reading it takes too long"
    except (OverLimitError, UnreadableError) as error:
        return str(error)
    return None


def check_size(text: str) -> None:
    """Raise ``OverLimitError`` for a formula that no honest answer needs and that may take very long."""
    if len(text) > MAX_LENGTH:
        raise OverLimitError(f"a formula of {len(text)} characters is too long")
    depth = deepest = 0
    for character in text:
        depth += (character in "({[") - (character in ")}]")
        deepest = max(deepest, depth)
    if deepest > MAX_NESTING:
        raise OverLimitError("brackets are nested too deeply")
    if _TOWER.search(text):
        raise OverLimitError("a tower of powers is too large")
    for match in _EXPONENT.finditer(text):
        if _too_large(match[1]) or match[2]:
            raise OverLimitError(f"the exponent {match[1][:20]} is too large")
    large = any(_too_large(match[1]) or len(match[2]) > 1 for match in _FACTORIAL.finditer(text))
    if large or text.count("!") > 4 or _OF_FACTORIAL.search(text):
        raise OverLimitError("a factorial is too large")
    if _BINOMIAL.search(text) and any(_too_large(number) for number in re.findall(r"\d+", text)):
        raise OverLimitError("a binomial is too large")


def _has_word(text: str) -> bool:
    """Whether a word is in a formula, ``John`` in ``10+John's age``: algebra would take its letters for variables."""
    return any(word not in _FUNCTIONS and re.search("[aeiouy]", word) for word in _WORD.findall(text))


def _too_large(digits: str) -> bool:
    return len(digits) > 6 or int(digits) > MAX_NUMBER


class _Worker:
    """The one worker of this process. Threads take turns; a fork starts its own."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        with self._lock:
            try:
                reply = self._exchange(request, timeout)
            except _DiedError:  # not necessarily this request's doing: one more try, with a fresh worker
                try:
                    reply = self._exchange(request, timeout)
                except _DiedError:
                    raise OverLimitError("the algebra worker died of it") from None
        if reply is None:
            raise DeadlineError(_LATE)
        if "over" in reply:
            raise OverLimitError(f"too large for the worker's {reply['over']}")
        if "unreadable" in reply:
            raise UnreadableError(reply["unreadable"])
        return reply

    def stop(self) -> None:
        """End the worker and reap it."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def forget(self) -> None:
        """In a forked child: the worker belongs to the parent, and its lock may be held there."""
        process, self._process = self._process, None
        self._lock = threading.Lock()
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            process.returncode = 0  # not our child: nothing to reap, no warning

    def _start(self) -> subprocess.Popen[bytes]:
        self.stop()
        command = [sys.executable, "-P", "-m", f"{__package__}.worker", str(MEMORY)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        try:
            ready = _read_line(self._process, START_UP)
        except _DiedError:
            ready = None
        if ready is None:
            self.stop()
            raise RuntimeError(f"the algebra worker did not start: {' '.join(command)}")
        return self._process

    def _exchange(self, request: dict[str, Any], timeout: float) -> dict[str, Any] | None:
        """The reply, or ``None`` if it took too long. Unless there is one, the worker is ended."""
        process = self._process if self._process and self._process.poll() is None else self._start()
        assert process.stdin is not None
        line: bytes | None = None
        try:
            process.stdin.write(json.dumps({**request, "deadline": timeout}).encode() + b"\n")
            line = _read_line(process, PATIENCE * timeout)
        except (BrokenPipeError, _DiedError):
            if process.wait() != -_PROCESSOR_TIME_IS_UP:
                self.stop()
                raise _DiedError from None
        except BaseException:  # an interrupt between request and reply: the pipe is out of step
            self.stop()
            raise
        if line is None:
            self.stop()
            _clock.seconds = spent() + timeout
            return None
        reply: dict[str, Any] = json.loads(line)
        _clock.seconds = spent() + reply["seconds"]
        return reply


def _read_line(process: subprocess.Popen[bytes], timeout: float) -> bytes | None:
    """The next line of the worker, ``None`` when the deadline passes. Raises ``_DiedError``."""
    assert process.stdout is not None
    end, line = time.monotonic() + timeout, b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            remaining = end - time.monotonic()
            if remaining <= 0 or not selector.select(remaining):
                return None
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                raise _DiedError
            line += data
    return line


_PROCESSOR_TIME_IS_UP = getattr(signal, "SIGPROF", 0)
_clock = threading.local()
_worker = _Worker()
atexit.register(_worker.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_worker.forget)
