"""Equality of formulas by computer algebra, in a process that can be killed.

Signals work on the main thread only and threads cannot be stopped, so a deadline is kept by ending a process. It is
counted in the worker's processor time, so that a busy machine changes no verdict; by the clock it is ``PATIENCE``
times as long. There is one worker per process that asks, started on first use (which is not part of any deadline) and
replaced when it had to be killed.
Sizes are checked before anything is sent: most hostile answers never reach the worker.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from grpo_env.killable_worker import LateError, ProgramWorker, WorkerDiedError

from .exact import OverLimitError
from .formulas import decide, is_constant, readable

MEMORY = 2 * 2**30  # bytes of address space
PATIENCE = 5.0  # seconds by the clock for one of processor time
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
    return bool(_ask({"gold": gold, "answer": answer, "rel_tol": rel_tol, "decimals": decimals}, timeout)["same"])


@lru_cache(maxsize=4096)
def formula_problem(text: str, timeout: float) -> str | None:
    """Why a formula in normal LaTeX cannot be read, or ``None``."""
    try:
        check_size(text)
        if not readable(text):
            _ask({"gold": text}, timeout)
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


def _ask(request: dict[str, Any], timeout: float) -> dict[str, Any]:
    """The worker's answer. Raises ``OverLimitError``, ``DeadlineError`` or ``UnreadableError``."""
    request = {**request, "deadline": timeout}
    try:
        try:
            reply = _worker.ask(request, PATIENCE * timeout)
        except WorkerDiedError:  # not necessarily because of this request: try once more, with a fresh worker
            reply = _worker.ask(request, PATIENCE * timeout)
    except WorkerDiedError:
        raise OverLimitError("the algebra worker died of it") from None
    except LateError:
        _clock.seconds = spent() + timeout
        raise DeadlineError(_LATE) from None
    _clock.seconds = spent() + reply["seconds"]
    if "over" in reply:
        raise OverLimitError(f"too large for the worker's {reply['over']}")
    if "unreadable" in reply:
        raise UnreadableError(reply["unreadable"])
    return reply


_clock = threading.local()
_worker = ProgramWorker(f"{__package__}.worker", str(MEMORY))
