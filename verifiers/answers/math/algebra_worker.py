"""The process that does computer algebra, so that nothing a model writes can hang or fill the caller.

It answers requests of ``algebra.py``, which runs it with the memory limit in bytes and the pipe as its arguments and
never imports it. It ends with its caller, or when its memory has run out.
"""

from __future__ import annotations

import os
import re
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import sympy
from antlr4 import PredictionMode
from latex2sympy2_extended.latex2sympy2 import ConversionConfig, _Latex2Sympy

from grpo_env.lazy_regex import lazy_compile
from grpo_env.workers.child_process import limit_memory, limit_processor_time, read_requests

from .grammar import UndecidedError
from .sympy_equality import Closeness, same
from .sympy_families import same_family
from .sympy_reader import DERIVATIVE, read_formula

_PLAIN = lazy_compile(
    r"(?<![\\A-Za-z])(pi|theta|alpha|beta|gamma|delta|lambda|mu|sigma|omega|phi|rho|tau|infty"
    r"|exp|sin|cos|tan|cot|sec|csc|log|ln)(?![A-Za-z])"
)
# \\sin x \\cdot y is a product: latex2sympy reads it as \\sin(xy)
_ARGUMENT = lazy_compile(
    r"(\\(?:arc)?(?:sin|cos|tan|cot|sec|csc|ln|log)(?![a-z])(?:_\{?\w\}?)?(?:\^\{?\d\}?)?)\s*"
    r"(\d*\s*(?:[A-Za-z]|\\(?:alpha|beta|gamma|theta|phi|omega)(?![a-z])))(?=\s*\\(?:cdot|times)(?![a-z]))"
)
_EXPONENT = lazy_compile(r"\^\s*\(((?:[^()]|\([^()]*\))*)\)")  # e^(-x)
_OF_SET = lazy_compile(r"(\\(?:max|min|gcd)(?![a-z]))\s*(?:\\left)?\\\{([^{}]*?)(?:\\right)?\\\}")  # \\max\\{a, b\\}
_INEXACT = lazy_compile(r"\\(approx|simeq)(?![a-z])")
_SUBSCRIPTED_NUMBER = lazy_compile(r"\d\s*_")
_COMPLEX = lazy_compile(r"(?<![A-Za-z\\])i(?![A-Za-z])")
_INDEX = r"(?:\s?_\s?(?:\{\s?(?P<index%d>\w{1,9})\s?\}|(?P<short%d>\w)))?"
_PRIMED = lazy_compile(  # y', y_1'', x'_1, y^{\prime}: latex2sympy reads y for all of these
    rf"(?P<letter>[A-Za-z]|\\[A-Za-z]+){_INDEX % (1, 1)}\s?"
    rf"(?P<primes>'+|\^\s?\{{?(?:\s?\\prime)+\s?\}}?){_INDEX % (2, 2)}"
)
# latex2sympy leaves out the index and the power of I, reads \\gamma as Euler's constant and \\gamma-1 as a value of the
# gamma function, and does not read E_n.
_MISREAD = lazy_compile(
    r"(?:\\(?P<greek>gamma|Gamma(?!\s?\())(?![A-Za-z])|\\[A-Za-z]+|(?P<letter>I|[Ee](?=\s?_)))"
    r"(?:\s?_\s?(?:\{\s?(?P<index>\w{1,12})\s?\}|(?P<short>\w)))?"
)
_DIFFERENTIAL = lazy_compile(rf"\\(?:int|oint|iint)(?![a-z])|{DERIVATIVE.pattern}")
_TO_T = lazy_compile(r"\^\s?(?:T(?![A-Za-z])|\{\s?T\s?\})")  # which latex2sympy leaves out, as a transposition
_LETTERS = lazy_compile(r"\\[A-Za-z]+|_\s?(?:\{[^{}]*\}|\w)|d(?=\s?_)|(?P<word>(?:(?!d\s?_)[A-Za-z])+)")


class UnreadableError(ValueError):
    """The text is not a formula."""


class _Reader(_Latex2Sympy):  # type: ignore[misc]
    """latex2sympy, but faster and with fewer mixed numbers: without this ``2(3)``, ``(2)(3)`` and ``2 3`` are 5."""

    def __init__(self, is_complex: bool, mode: Any) -> None:
        super().__init__(is_real=None if is_complex else True, config=ConversionConfig(lowercase_symbols=False))
        self._mode = mode

    def create_parser(self, latex_str: str) -> Any:
        parser = super().create_parser(latex_str)
        parser._interp.predictionMode = self._mode
        return parser

    def convert_postfix_list(self, arr: Any, i: int = 0) -> Any:
        number = arr[i].getText().replace(".", "", 1).isdigit()
        following = arr[i + 1].getText() if i + 1 < len(arr) else ""
        if not following or (number and following.startswith(r"\frac")):
            return super().convert_postfix_list(arr, i)
        if number and (following[0].isdigit() or following[0] == "."):
            raise UnreadableError("two numbers without a sign between them")
        sides = self.convert_postfix(arr[i]), self.convert_postfix_list(arr, i + 1)
        if not all(isinstance(side, sympy.Expr | sympy.MatrixBase) for side in sides):
            raise UnreadableError("not a product")
        matrix = any(isinstance(side, sympy.MatrixBase) for side in sides)
        return (self.mat_mul_flat if matrix else self.mul_flat)(*sides)


def _formula(text: str, is_complex: bool) -> Any:
    try:
        return read_formula(text, is_real=not is_complex)
    except UndecidedError:
        if "d" in text and not _DIFFERENTIAL.search(text):
            text = _LETTERS.sub(_in_braces, text)
        if "T" in text and "matrix" not in text and "," not in text:
            text = _TO_T.sub("^{{T}}", text)
        return _parsed(_ARGUMENT.sub(r"\1(\2)", text), is_complex)


def _parsed(text: str, is_complex: bool) -> Any:
    """A formula as latex2sympy reads it. SLL prediction is faster, and fails where it would not read what LL reads."""
    try:
        return _Reader(is_complex, PredictionMode.SLL).parse(text)
    except MemoryError:
        raise
    except Exception:
        return _Reader(is_complex, PredictionMode.LL).parse(text)


@lru_cache(maxsize=2048)
def read(text: str, is_complex: bool) -> Any:
    """A formula as a sympy object, with decimals made exact. Raises ``UnreadableError``."""
    if len(cases := re.split(r"\s+or\s+", text)) > 1:
        return sympy.Or(*(read(case, is_complex) for case in cases))
    if _INEXACT.search(text) or _SUBSCRIPTED_NUMBER.search(text):
        raise UnreadableError(text)
    if "'" in text or "\\prime" in text:
        text = _PRIMED.sub(_as_index, text)
        if "'" in text or "\\prime" in text:  # (A + B)'
            raise UnreadableError(text)
    text = _MISREAD.sub(_renamed, text)
    text = re.sub(r"(?<!\\)sqrt\s*\(([^()]*)\)", r"\\sqrt{\1}", text.replace("**", "^"))
    text = _PLAIN.sub(r"\\\1 ", _EXPONENT.sub(r"^{\1}", _OF_SET.sub(r"\1(\2)", text)))
    try:
        expression = _exact(_formula(text, is_complex))
        return expression.subs({sympy.Symbol("i"): sympy.I}) if is_complex else expression
    except MemoryError:
        raise
    except Exception as error:
        raise UnreadableError(text) from error


def _as_index(match: re.Match[str]) -> str:
    """``y_{1prime2}`` for ``y_1''``: another symbol, or function, than y."""
    index = "".join(match[name] or "" for name in ("index1", "short1", "index2", "short2"))
    primes = match["primes"]
    return f"{match['letter']}_{{{index}prime{primes.count(chr(39)) or primes.count('prime')}}}"


def _renamed(match: re.Match[str]) -> str:
    """``J_{I0}`` for ``I_0``."""
    name = match["letter"] or match["greek"]
    return f"J_{{{name}{match['index'] or match['short'] or ''}}}" if name else match[0]


def _in_braces(match: re.Match[str]) -> str:
    r"""``{d}y`` for ``dy`` and ``{d}\sin x`` for ``d\sin x``, which latex2sympy reads as one name."""
    word = match["word"]
    return word.replace("d", "{d}") if word and len(word) <= 3 and word not in ("and", "mod", "gcd") else match[0]


def _exact(expression: Any) -> Any:
    if isinstance(expression, list):
        return sympy.Tuple(*(_exact(item) for item in expression))
    if isinstance(expression, sympy.MatrixExpr):
        expression = expression.doit()
    if isinstance(expression, sympy.MatrixBase):
        return expression.applyfunc(_exact)
    return expression.xreplace({number: sympy.Rational(str(number)) for number in expression.atoms(sympy.Float)})


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a request: ``{"gold"}`` to try to read it, ``{"gold", "answer", "rel_tol", "decimals"}`` to compare.

    With a ``variable`` they are families of functions.
    """
    texts = [request["gold"], request.get("answer")]
    is_complex = any(_COMPLEX.search(text) for text in texts if text)
    read_texts = []
    for text, role in zip(texts, ("gold", "answer"), strict=True):
        try:
            read_texts.append(read(text, is_complex) if text is not None else None)
        except UnreadableError:
            return {"unreadable": role}
    if request.get("answer") is None:
        return {"same": True}
    if request.get("variable") is not None:
        return {"same": same_family(read_texts[0], read_texts[1], request["variable"])}
    return {"same": same(read_texts[0], read_texts[1], Closeness(request.get("rel_tol"), request.get("decimals")))}


def main() -> None:
    """Answer requests until the caller closes the pipe."""
    memory = int(sys.argv[1])
    limit_memory(memory)
    _parsed(r"\frac{1}{2}x", is_complex=False)  # the first call builds the tables of its parser
    for request, send in read_requests(sys.argv):
        start = time.process_time()
        limit_processor_time(request["deadline"])
        reply = _reply(request)
        limit_processor_time(0.0)
        send({**reply, "seconds": time.process_time() - start})
        if reply.get("over") == "memory" or _has_grown(memory):
            return


def _reply(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return answer(request)
    except (MemoryError, SystemError):  # C code may report running out of memory as a SystemError
        return {"over": "memory"}
    except RecursionError:
        return {"over": "nesting"}
    except Exception as error:
        return {"same": False, "why": f"{type(error).__name__}: {error}"[:200]}


def _has_grown(limit: int) -> bool:
    """Whether the tables and caches of so many formulas might make the next one run out of memory.

    Not by ``getrusage``: its peak is inherited from the process that started this one, which may have loaded a model.
    """
    try:
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        return False
    return resident > limit // 2


if __name__ == "__main__":
    main()
