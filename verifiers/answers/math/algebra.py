"""Equality of formulas by computer algebra, in a process that can be killed.

Signals work on the main thread only and threads cannot be stopped, so a deadline is kept by ending a process. It is
counted in the worker's processor time, so that a busy machine changes no verdict; by the clock it is ``PATIENCE``
times as long, and starting the worker is not part of it. Sizes are checked before anything is sent: most hostile
answers never reach the worker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from math import inf
from typing import Any, NamedTuple

from grpo_env.lazy_regex import lazy_compile
from grpo_env.workers.killable_worker import LateError, ProgramWorker, WorkerDiedError

from ..quantities.number import OverLimitError
from .exact import decide, is_constant, readable

MEMORY = 2 * 2**30  # bytes of address space
PATIENCE = 5.0  # seconds by the clock for one of processor time
MAX_LENGTH = 1000
MAX_NESTING = 30
MAX_NUMBER = 1000  # for exponents, factorials and binomials
MAX_RESULTS = 4096  # that are remembered

_TOWER = lazy_compile(r"[\d!)}]\s*(?:\^|\*\*)\s*[{(]{0,3}\s*[-+]?\s*[\d!]+\s*[)}]{0,3}\s*(?:\^|\*\*)")
_EXPONENT = lazy_compile(r"(?:\^|\*\*|\d[eE])\s*[{(]{0,3}\s*[-+]?\s*(\d+)(!?)")
_FACTORIAL = lazy_compile(r"(\d+)\s*[)}]{0,3}\s*(!+)")
_OF_FACTORIAL = lazy_compile(r"!\s*[)}\]]{1,9}\s*!")
_WORD = lazy_compile(r"(?<![A-Za-z\\{])[A-Za-z]{4,}")  # not pmatrix in \\begin{pmatrix}
_FUNCTIONS = {
    "sqrt", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "floor", "ceil", "theta", "alpha", "beta", "infty",
    "infinity", "choose",
}  # fmt: skip
_BINOMIAL = lazy_compile(r"\\(?:binom|dbinom|tbinom|choose|genfrac)|\bbinom")
_INDEXED = lazy_compile(r"(?<![A-Za-z\\_])(?<!_\{)([A-DF-HJ-Za-df-hj-z])(\d{1,3})(?![\d.])(?<!x10)")
_SYMBOL_BELOW = lazy_compile(r"_\s*\{?\s*\\(odot|oplus|infty|parallel|perp|max|min)(?![a-z])\s*\}?")
_DECORATED = lazy_compile(
    r"\\(vec|overrightarrow|overline|hat|bar|dot|ddot|tilde|mathcal|mathscr|mathfrak)\s*"
    r"(?:\{\s*([A-Za-z])([A-Za-z]?)\s*\}|\{\s*\\([A-Za-z]{2,7})\s*\})"
    r"(?:\s*_\s*(?:\{(\w{1,4})\}|(\w)))?"
)
# Of matrices and operators, whose products have an order
_NO_ALGEBRA = lazy_compile(
    r"\\nabla|\\partial|\([A-Z'\s^T]{2,}\)\s?\^|[A-Z]'[A-Z]|\\(?:det|tr|rank)(?![a-z])|\^\s?\{?\s?T(?![A-Za-z])"
    r"|_\{vec\w{0,12}\}\s*\\times"
)
_CAPITAL = lazy_compile(
    r"(?<![A-Za-z\\_{])[A-Z](?:\s?\^\s?(?:\{-1\}|\{?T\}?))?\s?(?=[A-Z(\s]|$|[^A-Za-z])|(?<=[A-Z])[A-Z](?![a-z])\s?"
)
_SHORT_INDEX = lazy_compile(r"_([eB])(?=[A-Za-z](?![a-z]))")  # m_ec, k_BT
_ELL = lazy_compile(r"\\ell(?![A-Za-z])(?:_(?:\{(\w{1,4})\}|(\w)))?")
_UNUSUAL_NAME = lazy_compile(
    rf"\\(?:hbar|ell)(?![a-z])|{_SYMBOL_BELOW.pattern}|{_DECORATED.pattern}|{_INDEXED.pattern}"
)


class DeadlineError(Exception):
    """No result in time; the worker may have been killed."""

    def __init__(self) -> None:
        super().__init__("no result in time")


class UnreadableError(Exception):
    """A formula cannot be read. ``role`` says which: ``gold`` or ``answer``."""

    def __init__(self, role: str, reason: str = "") -> None:
        super().__init__(reason or f"the {role} cannot be read as mathematics")
        self.role = role


@dataclass(slots=True)
class TimeLimit:
    """Seconds of processor time for one comparison, and in total for all comparisons with the same object."""

    seconds: float = 1.0
    total: float = inf
    """What is left; comparisons reduce it."""

    def left(self) -> float:
        """Seconds that the next comparison may take."""
        return min(self.seconds, self.total)


class _Comparison(NamedTuple):
    gold: str
    answer: str
    rel_tol: float | None
    decimals: int | None
    variable: str | None


class Algebra:
    """The computer algebra of this process: its worker, which starts when it is first needed, and known results.

    Threads take turns; a forked process starts a worker of its own (see ``ProgramWorker``).
    """

    def __init__(self) -> None:
        self.worker = ProgramWorker(f"{__package__}.algebra_worker", str(MEMORY))
        self._known: dict[_Comparison, bool | float] = {}  # results, or the longest time that was not enough

    def same(
        self,
        gold: str,
        answer: str,
        time: TimeLimit,
        rel_tol: float | None = None,
        decimals: int | None = None,
        variable: str | None = None,
    ) -> bool:
        """Whether two formulas in normal LaTeX are equal; with a variable, or "", whether they are the same family.

        For families see ``sympy_families.same_family``. Raises ``OverLimitError``, ``DeadlineError`` or
        ``UnreadableError``.
        """
        comparison = _Comparison(_with_plain_names(gold), _with_plain_names(answer), rel_tol, decimals, variable)
        known, seconds = self._known.get(comparison, 0.0), time.left()
        if isinstance(known, bool):
            return known
        if seconds <= known:
            raise DeadlineError
        if len(self._known) >= MAX_RESULTS:
            self._known.clear()
        try:
            self._known[comparison] = result = self._compare(comparison, time)
        except DeadlineError:
            self._known[comparison] = seconds
            raise
        return result

    def _compare(self, comparison: _Comparison, time: TimeLimit) -> bool:
        gold, answer, rel_tol, decimals, variable = comparison
        check_size(answer)
        check_size(gold)
        if variable is not None:
            return bool(self.ask(comparison._asdict(), time)["same"])
        if _NO_ALGEBRA.search(gold) or _NO_ALGEBRA.search(answer):
            raise UnreadableError("answer" if not _NO_ALGEBRA.search(gold) else "gold")
        if _are_turned(gold, answer) or _are_turned(answer, gold):
            return False
        decided = decide(gold, answer)
        if decided is not None and (decided or (rel_tol is None and decimals is None)):
            return decided
        if (is_constant(gold) and _has_word(answer)) or (is_constant(answer) and _has_word(gold)):
            return False
        return bool(self.ask(comparison._asdict(), time)["same"])

    def ask(self, request: dict[str, Any], time: TimeLimit) -> dict[str, Any]:
        """The worker's reply. Raises ``OverLimitError``, ``DeadlineError`` or ``UnreadableError``."""
        seconds = time.left()
        if seconds <= 0:
            raise DeadlineError
        request = {**request, "deadline": seconds}
        try:
            try:
                reply = self.worker.ask(request, PATIENCE * seconds)
            except WorkerDiedError:  # not necessarily because of this request: try once more, with a fresh worker
                reply = self.worker.ask(request, PATIENCE * seconds)
        except WorkerDiedError:
            raise OverLimitError("the algebra worker crashed on it") from None
        except LateError:
            time.total -= seconds
            raise DeadlineError from None
        time.total -= reply["seconds"]
        if "over" in reply:
            raise OverLimitError(f"too large for the worker's {reply['over']}")
        if "unreadable" in reply:
            raise UnreadableError(reply["unreadable"])
        return reply

    def clear(self) -> None:
        """Forget all results."""
        self._known.clear()


ALGEBRA = Algebra()


@lru_cache(maxsize=MAX_RESULTS)
def formula_problem(text: str, timeout: float) -> str | None:
    """Why a formula in normal LaTeX cannot be read, or ``None``."""
    text = _with_plain_names(text)
    if _NO_ALGEBRA.search(text):
        return "products of matrices and operators are not read"
    try:
        check_size(text)
        if not readable(text):
            ALGEBRA.ask({"gold": text}, TimeLimit(timeout))
    except DeadlineError:
        return "reading it takes too long"
    except (OverLimitError, UnreadableError) as error:
        return str(error)
    return None


def _are_turned(one: str, other: str) -> bool:
    """Whether two capitals that may be matrices are neighbors in one formula, ``AB``, and only turned in the other."""
    pairs, turned = set(_neighbors(one)), set(_neighbors(other))
    return any(a != b and (b, a) in turned and (a, b) not in turned and (b, a) not in pairs for a, b in pairs)


def _neighbors(text: str) -> list[tuple[str, str]]:
    found = list(_CAPITAL.finditer(text)) if _CAPITAL.search(text) else []
    return [
        (one[0].replace(" ", ""), other[0].replace(" ", ""))
        for one, other in pairwise(found)
        if one.end() == other.start()
    ]


def _with_plain_names(text: str) -> str:
    r"""A formula whose variables have names that algebra knows: ``v0`` becomes ``v_{0}``, ``\vec{a}`` ``a_{vec}``."""
    if "_" in text:
        text = _SHORT_INDEX.sub(r"_{\1}", text)
    if not _UNUSUAL_NAME.search(text):
        return text
    text = _ELL.sub(lambda match: f"l_{{ell{match[1] or match[2] or ''}}}", text.replace(r"\hbar", "h_{bar}"))
    text = _SYMBOL_BELOW.sub(r"_{\1}", text)
    text = _DECORATED.sub(_named, text)
    names = {match[1] + match[2] for match in _INDEXED.finditer(text)}
    letters = [name[0] for name in names]
    indexed = {letter for letter in letters if letters.count(letter) > 1 or f"{letter}0" in names}  # x2 alone is 2x
    return _INDEXED.sub(lambda m: f"{m[1]}_{{{m[2]}}}" if m[1] in indexed else m[0], text)


def _named(match: re.Match[str]) -> str:
    r"""The name of a decorated letter or two. ``\overrightarrow{BA}`` is the opposite of ``\overrightarrow{AB}``."""
    decoration, first, second = match[1], match[2] or match[4][0], match[3] or ""
    index = (match[4] or "") + (match[5] or match[6] or "")
    if decoration == "overrightarrow":
        decoration = "vec"
    if decoration == "vec" and second and second < first:
        return f"(-{second}_{{{decoration}{first}{index}}})"
    space = " " if match.string[: match.start()][-1:].isalpha() else ""  # \\cdot\\vec{a}
    return f"{space}{first}_{{{decoration}{second}{index}}}"


def check_size(text: str) -> None:
    """Raise ``OverLimitError`` for a formula that may take very long and is larger than any honest answer."""
    if len(text) > MAX_LENGTH:
        raise OverLimitError(f"a formula of {len(text)} characters is too long")
    depths = accumulate((character in "({[") - (character in ")}]") for character in text)
    if sum(map(text.count, "({[")) > MAX_NESTING and max(depths) > MAX_NESTING:
        raise OverLimitError("brackets are nested too deeply")
    if ("^" in text or "*" in text) and _TOWER.search(text):
        raise OverLimitError("a tower of powers is too large")
    for match in _EXPONENT.finditer(text):
        if _too_large(match[1]) or match[2]:
            raise OverLimitError(f"the exponent {match[1][:20]} is too large")
    if "!" in text:
        large = any(_too_large(match[1]) or len(match[2]) > 1 for match in _FACTORIAL.finditer(text))
        if large or text.count("!") > 4 or _OF_FACTORIAL.search(text):
            raise OverLimitError("a factorial is too large")
    if _BINOMIAL.search(text) and any(_too_large(number) for number in re.findall(r"\d+", text)):
        raise OverLimitError("a binomial is too large")


def _has_word(text: str) -> bool:
    """Whether a formula contains a word, ``10+John's age``, whose letters algebra would take for variables."""
    return any(word not in _FUNCTIONS and re.search("[aeiouy]", word) for word in _WORD.findall(text))


def _too_large(digits: str) -> bool:
    return len(digits) > 6 or int(digits) > MAX_NUMBER
