r"""Formulas whose equality is decided exactly and quickly, without computer algebra.

These are sums, products, quotients and integer powers of rational numbers, variables, ``\pi``, ``i`` and square
roots of rational numbers; an equation between two of these. Other functions, other roots, ``e``, and whatever is
ambiguous or large are left to computer algebra.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from grpo_env.lazy_regex import lazy_compile

from .number import Number
from .parsed import Content, Formula
from .polynomials import ONE, Quotient, Term, TooLargeError

MAX_LENGTH = 200
MAX_DEPTH = 12
MAX_DIGITS = 60

_TOKEN = lazy_compile(
    r"(?P<number>\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<symbol>(?:[A-Za-z]|\\(?:alpha|beta|gamma|theta|lambda|mu|phi|omega|pi)(?![A-Za-z]))"
    r"(?:_(?:\{[A-Za-z0-9]{1,9}\}|[A-Za-z0-9](?!\d)))?)"
    r"|(?P<sign>\\(?:frac|sqrt|cdot|times|div)(?![A-Za-z])|\*\*|[-+*/^=(){}\[\]])"
    r"|(?P<other>\S)"
)
_NAMES = {r"\cdot": "*", r"\times": "*", r"\div": "/", "**": "^"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
# Euler's number, derivatives, sympy's own constants; and letters in a row that are a word, a unit or a function.
_RESERVED = frozenset("eEIdO")
_WORD = lazy_compile(r"(?<![A-Za-z\\])(?:[A-Za-z]{3}|i[A-Za-z]|[A-Za-z]i|(?:ln|lg|or|to|cm|mm|km|ft)(?![A-Za-z]))")


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "")


class _UndecidedError(Exception):
    """The formula is left to computer algebra."""


@dataclass(frozen=True)
class _Equation:
    """``left - right``."""

    zero: Quotient


_Value: TypeAlias = Quotient | _Equation


def decide(one: str, other: str) -> bool | None:
    """Whether two formulas in normal LaTeX are equal; ``None`` if that is left to computer algebra."""
    first, second = _read(one), _read(other)
    try:
        return None if first is None or second is None else _same(first, second)
    except (_UndecidedError, TooLargeError):
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


def quotient(text: str) -> Quotient | None:
    """A formula that is no equation; ``None`` if it cannot be read here."""
    value = _read(text)
    return value if isinstance(value, Quotient) else None


def linear(text: str, name: str) -> tuple[Quotient, Quotient] | None:
    """``a`` and ``b`` of a formula ``a + b name``; ``None`` if it is not linear, or cannot be read here."""
    value = quotient(text)
    return value.linear(name) if value else None


def constant_terms(value: Quotient) -> Mapping[Term, Fraction] | None:
    """The terms of a constant with a rational denominator; ``None`` for anything else."""
    divisor = value.bottom.get(ONE) if value.bottom.keys() == {ONE} else None
    if divisor is None or not value.is_constant():
        return None
    return {term: Fraction(number) / divisor for term, number in value.top.items()}


def _same(one: _Value, other: _Value) -> bool:
    if isinstance(one, Quotient) and isinstance(other, Quotient):
        return one.same(other)
    if isinstance(one, _Equation) and isinstance(other, _Equation):
        return one.zero.proportional(other.zero)
    raise _UndecidedError


@lru_cache(maxsize=4096)
def _read(text: str) -> _Value | None:
    try:
        return _evaluate(_tokens(text))
    except (_UndecidedError, TooLargeError):
        return None


def _tokens(text: str) -> list[_Token]:
    if len(text) > MAX_LENGTH or _WORD.search(text):
        raise _UndecidedError
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup or "", match.group()
        if kind == "other":
            raise _UndecidedError
        if kind == "symbol":
            token = token.replace("{", "").replace("}", "")
        tokens.append(_Token(kind, _NAMES.get(token, token)))
    return tokens


def _evaluate(tokens: list[_Token]) -> _Value:
    edges = [-1, *(n for n, token in enumerate(tokens) if token.text == "="), len(tokens)]
    sides = [_Parser(tokens[start + 1 : end]).value() for start, end in pairwise(edges)]
    if len(sides) > 2:
        raise _UndecidedError
    return sides[0] if len(sides) == 1 else _Equation(sides[0].plus(sides[1], -1))


class _Parser:
    """Recursive descent. Ambiguous formulas (``1/2x``, ``2(3)``, ``f(x)``) are left to computer algebra."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = [*tokens, _END]
        self._at = 0
        self._depth = 0

    def value(self) -> Quotient:
        """The value of all tokens. Raises ``_UndecidedError`` or ``TooLargeError``."""
        value = self._sum()
        if self._next() is not _END:
            raise _UndecidedError
        return value

    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self, *expected: str) -> _Token:
        token = self._next()
        if expected and token.text not in expected:
            raise _UndecidedError
        self._at += 1
        return token

    def _sum(self) -> Quotient:
        value = self._product()
        while self._next().text in ("+", "-"):
            sign = 1 if self._take().text == "+" else -1
            value = value.plus(self._product(), sign)
        return value

    def _product(self) -> Quotient:
        value, divided = self._factor(), False
        while True:
            token = self._next()
            if token.text in ("*", "/"):
                self._at += 1
                operand = self._factor()
                value = value / operand if token.text == "/" else value * operand
                divided = divided or token.text == "/"
            elif token.kind == "symbol" or token.text in ("(", "[", r"\frac", r"\sqrt"):
                called = self._calls(token)
                operand = self._power()
                numbers = token.text != r"\sqrt" and value.rational() is not None and operand.rational() is not None
                if divided or called or numbers:
                    raise _UndecidedError
                value *= operand
            else:
                return value

    def _calls(self, opening: _Token) -> bool:
        """Whether a bracket after a symbol contains a single token, as in ``f(x)``."""
        if opening.text not in _CLOSING or self._tokens[self._at - 1].kind != "symbol":
            return False
        after = [token.text for token in self._tokens[self._at + 2 : self._at + 3]]
        return after == [_CLOSING[opening.text]]

    def _factor(self) -> Quotient:
        if self._next().text in ("+", "-"):
            sign = -1 if self._take().text == "-" else 1
            return Quotient.of(sign) * self._inner(self._factor)
        return self._power()

    def _power(self) -> Quotient:
        base = self._atom()
        if self._next().text != "^":
            return base
        self._at += 1
        exponent = self._atom().rational()
        if exponent is None or self._next().text == "^":
            raise _UndecidedError
        return base.power(exponent)

    def _atom(self) -> Quotient:
        token = self._next()
        if token.kind == "number" and len(token.text) <= MAX_DIGITS:
            self._at += 1
            return Quotient.of(int(token.text) if token.text.isdecimal() else Fraction(token.text))
        if token.kind == "symbol" and token.text not in _RESERVED:
            self._at += 1
            return Quotient.symbol(token.text)
        if token.text == r"\frac":
            self._at += 1
            return self._bracketed("{") / self._bracketed("{")
        if token.text == r"\sqrt":
            self._at += 1
            return self._bracketed("{").root()
        return self._bracketed("(", "[", "{")

    def _bracketed(self, *openings: str) -> Quotient:
        opening = self._take(*openings)
        value = self._inner(self._sum)
        self._take(_CLOSING[opening.text])
        return value

    def _inner(self, read: Callable[[], Quotient]) -> Quotient:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _UndecidedError
        value = read()
        self._depth -= 1
        return value
