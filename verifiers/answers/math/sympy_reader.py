"""Formulas as sympy objects, by the grammar of ``grammar``. Used by the worker process only, since it imports sympy.

Nothing is evaluated, so that what a formula is undefined for is not lost: ``\\sqrt{x}\\sqrt{x}`` is not made ``x``. The
objects are those of latex2sympy, which reads the formulas that this grammar does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import sympy

from grpo_env.lazy_regex import lazy_compile

from .grammar import FormulaReader, UndecidedError, sides, tokens

_FUNCTIONS = {name.replace("arc", "a"): getattr(sympy, name.replace("arc", "a")) for name in (
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
)}  # fmt: skip
DERIVATIVE = lazy_compile(r"\\partial(?![a-z])|\\frac\s?\{\s?d[^{}]*\}\s?\{\s?d|d[a-z]\s?/\s?d[a-z]")
_SCIENTIFIC = lazy_compile(r"\d\s*[eE]\s*[-+]?\s*\d")


def read_formula(text: str, is_real: bool) -> Any:
    """A formula or equation; the variables are real, or complex. Raises ``UndecidedError``."""
    formula = tokens(text)
    if not formula or _SCIENTIFIC.search(text) or ("d" in text and DERIVATIVE.search(text)):
        raise UndecidedError
    parts = sides(formula)
    if len(parts) > 2:
        raise UndecidedError
    values = [_SympyReader(is_real).read(part) for part in parts]
    return values[0] if len(values) == 1 else sympy.Eq(*values, evaluate=False)


class _SympyReader(FormulaReader[Any]):
    deepest: ClassVar[int] = 40

    def __init__(self, is_real: bool) -> None:
        self._real = True if is_real else None
        self._indices: list[str] = []  # of the series that are being read

    def number(self, text: str) -> Any:
        return sympy.Rational(text)

    def symbol(self, name: str) -> Any:
        name = name.removeprefix("\\")
        if name in ("e", "pi"):
            return sympy.E if name == "e" else sympy.pi
        if name in self._indices:
            return _index(name)
        letter, _, place = name.partition("_")
        if used := [index for index in self._indices if index in place]:  # x_i, x_{ij}
            places = "".join("n" if sign in used else sign for sign in place)
            return sympy.Function(f"{letter}_{{of{places}}}")(*(_index(sign) for sign in place if sign in used))
        return sympy.Symbol(_with_braces(name), real=self._real)

    def plus(self, one: Any, other: Any) -> Any:
        return _flat(sympy.Add, one, other)

    def negative(self, value: Any) -> Any:
        return -value if value.is_Number else self.times(sympy.S.NegativeOne, value)

    def times(self, one: Any, other: Any) -> Any:
        return _flat(sympy.Mul, one, other)

    def over(self, one: Any, other: Any) -> Any:
        if one.is_Integer and other.is_Integer:
            return sympy.Rational(one, other)
        return sympy.Mul(one, sympy.Pow(other, -1, evaluate=False), evaluate=False)

    def power(self, base: Any, exponent: Any) -> Any:
        return sympy.exp(exponent) if base is sympy.E else sympy.Pow(base, exponent, evaluate=False)

    def is_rational(self, value: Any) -> bool:
        return bool(value.is_Rational)

    def root(self, value: Any, degree: Any | None) -> Any:
        return sympy.Pow(value, sympy.S.Half if degree is None else 1 / degree, evaluate=False)

    def factorial(self, value: Any) -> Any:
        return sympy.factorial(value, evaluate=False)

    def binomial(self, n: Any, k: Any) -> Any:
        return sympy.binomial(n, k)

    def absolute(self, value: Any) -> Any:
        return sympy.Abs(value, evaluate=False)

    def infinity(self) -> Any:
        return sympy.oo

    def series(self, name: str, index: str, bounds: tuple[Any, Any] | None, read_term: Callable[[], Any]) -> Any:
        self._indices.append(index)
        term = read_term()
        self._indices.pop()
        first, last = bounds or (sympy.S.One, sympy.Symbol("q_{all}", real=self._real))
        if first.is_Integer and first != 0 and last is sympy.oo:  # all of these begin with 0
            term, first = term.subs(_index(index), _index(index) + first), sympy.S.Zero
        return (sympy.Sum if name == "sum" else sympy.Product)(term, (_index(index), first, last))

    def function(self, name: str, index: Any | None, argument: Any) -> Any:
        if name == "exp":
            return sympy.exp(argument, evaluate=False)
        if name in ("ln", "log"):
            base = sympy.E if name == "ln" else sympy.Integer(10)
            return sympy.log(argument, base if index is None else index, evaluate=False)
        return _FUNCTIONS[name.replace("arc", "a")](argument, evaluate=False)

    def function_to_power(self, name: str, index: Any | None, argument: Any, exponent: Any) -> Any:
        if exponent != -1:
            return super().function_to_power(name, index, argument, exponent)
        if f"a{name}" not in _FUNCTIONS:
            raise UndecidedError
        return _FUNCTIONS[f"a{name}"](argument, evaluate=False)  # \\sin^{-1} x

    def call(self, name: str, arguments: list[Any]) -> Any:
        return sympy.Function(_with_braces(name))(*arguments)


def _with_braces(name: str) -> str:
    """``x_{12}`` for ``x_12``."""
    letter, _, index = name.partition("_")
    return f"{letter}_{{{index}}}" if len(index) > 1 else name


def _index(name: str) -> Any:
    return sympy.Symbol(f"{name}_{{index}}", integer=True)


def _flat(operation: Any, one: Any, other: Any) -> Any:
    """A sum or product, without brackets around its terms or factors."""
    parts = [part for value in (one, other) for part in (value.args if isinstance(value, operation) else (value,))]
    return operation(*parts, evaluate=False)
