r"""Formulas whose equality is decided exactly and quickly, without computer algebra.

These are sums, products, quotients and integer powers of rational numbers, variables, ``\pi``, ``i`` and square
roots of rational numbers; an equation between two of these. Other functions, other roots, ``e``, and whatever is
ambiguous or large are left to computer algebra.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from grpo_env.lazy_regex import lazy_compile

from ..quantities.number import Number
from .grammar import FormulaReader, UndecidedError, sides, tokens
from .parsed import Content, Formula
from .polynomials import Quotient, TooLargeError

MAX_LENGTH = 200
MAX_DIGITS = 60

# Euler's number, derivatives, sympy's own constants; and letters in a row that are a word, a unit or a function.
_RESERVED = frozenset("eEIdO")
_WORD = lazy_compile(r"(?<![A-Za-z\\])(?:[A-Za-z]{3}|i[A-Za-z]|[A-Za-z]i|(?:ln|lg|or|to|cm|mm|km|ft)(?![A-Za-z]))")


@dataclass(frozen=True)
class _Equation:
    """``left - right``."""

    zero: Quotient


_Value: TypeAlias = Quotient | _Equation


def decide(one: str, other: str) -> bool | None:
    """Whether two formulas in normal LaTeX are equal; ``None`` if that is left to computer algebra."""
    first, second = _read(one), _read(other)
    try:
        if isinstance(first, Quotient) and isinstance(second, Quotient):
            return first.same(second)
        if isinstance(first, _Equation) and isinstance(second, _Equation):
            return first.zero.proportional(second.zero)
    except TooLargeError:
        pass
    return None


def readable(text: str) -> bool:
    """Whether this module can read a formula."""
    return _read(text) is not None


def is_constant(text: str) -> bool:
    """Whether this module can read a formula, and it has no variables."""
    value = _read(text)
    return isinstance(value, Quotient) and value.is_constant()


def approximate(content: Content) -> Fraction | None:
    """A real constant, to about 15 digits unless it is rational; ``None`` for anything else."""
    if isinstance(content, Number):
        return content.value
    value = _read(content.text) if isinstance(content, Formula) else None
    return value.approximate() if isinstance(value, Quotient) and value.is_constant() else None


@lru_cache(maxsize=4096)
def _read(text: str) -> _Value | None:
    if len(text) > MAX_LENGTH or _WORD.search(text):
        return None
    parts = sides(tokens(text))
    if len(parts) > 2:
        return None
    try:
        values = [_QuotientReader().read(part) for part in parts]
        return values[0] if len(values) == 1 else _Equation(values[0].plus(values[1], -1))
    except (UndecidedError, TooLargeError):
        return None


class _QuotientReader(FormulaReader[Quotient]):
    def number(self, text: str) -> Quotient:
        if len(text) > MAX_DIGITS:
            raise UndecidedError
        return Quotient.of(int(text) if text.isdecimal() else Fraction(text))

    def symbol(self, name: str) -> Quotient:
        if name in _RESERVED:
            raise UndecidedError
        return Quotient.symbol(name)

    def plus(self, one: Quotient, other: Quotient) -> Quotient:
        return one.plus(other, 1)

    def negative(self, value: Quotient) -> Quotient:
        return Quotient.of(-1) * value

    def times(self, one: Quotient, other: Quotient) -> Quotient:
        return one * other

    def over(self, one: Quotient, other: Quotient) -> Quotient:
        return one / other

    def power(self, base: Quotient, exponent: Quotient) -> Quotient:
        value = exponent.rational()
        if value is None:
            raise UndecidedError
        return base.power(value)

    def root(self, value: Quotient, degree: Quotient | None) -> Quotient:
        if degree is not None:
            raise UndecidedError
        return value.root()

    def is_rational(self, value: Quotient) -> bool:
        return value.rational() is not None
