r"""The grammar of formulas in normal LaTeX; what is made of a formula is up to each reader.

These are sums, products, quotients, powers, roots, factorials, binomials, absolute values, series and the usual
functions of numbers and variables. Whatever is ambiguous (``1/2x``, ``\sin x/2``) or anything else is undecided here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from grpo_env.lazy_regex import lazy_compile

GREEK = (
    "alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|lambda|mu|nu|xi|rho|varrho|sigma|tau"
    "|upsilon|phi|varphi|chi|psi|omega|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
"""An alternative of a pattern: the names of letters. ``\\pi`` is a number, ``\\Gamma`` often a function."""
_INDEX = r"(?:\{\s*[A-Za-z0-9]{1,12}\s*\}|[A-Za-z0-9](?!\d))"
_FUNCTION = r"\\(?:sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|sinh|cosh|tanh|ln|log|exp)(?![A-Za-z])"
_TOKEN = lazy_compile(
    r"(?P<number>\d+(?:\.\d+)?|\.\d+)"
    rf"|(?P<symbol>(?:[A-Za-z]|\\(?:{GREEK}|pi)(?![A-Za-z]))(?:\s*_\s*{_INDEX})?)"
    rf"|(?P<function>{_FUNCTION}(?:(?<=g)\s*_\s*{_INDEX})?)"
    r"|(?P<sign>\\(?:frac|sqrt|binom|cdot|times|div|sum|prod|infty)(?![A-Za-z])|\*\*|!(?!=)|[-+*/^=(){}\[\]|,_])"
    r"|(?P<other>\S)"
)
_NAMES = {r"\cdot": "*", r"\times": "*", r"\div": "/", "**": "^"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SINGLE = r"(?:n|s(?: \^ (?:[ns]|\{ [ns] \}))?)"
_ARGUMENTS = lazy_compile(rf"{_SINGLE}(?: , {_SINGLE})*")
_SERIES = (r"\sum", r"\prod")
_OPENING = frozenset(("(", "[", r"\frac", r"\sqrt", r"\binom", *_SERIES))


class UndecidedError(Exception):
    """The formula is ambiguous, too large, or none that can be read here."""


class Token(NamedTuple):
    """``kind`` is ``number``, ``symbol``, ``function``, ``sign`` or ``end``."""

    kind: str
    text: str


_END = Token("end", "")
Value = TypeVar("Value")


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a formula, without braces around indices; none if there is anything else in it."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup or "", match.group()
        if kind == "other":
            return ()
        if kind in ("symbol", "function"):
            token = "".join(character for character in token if character not in "{} \n\t")
        found.append(Token(kind, _NAMES.get(token, token)))
    return tuple(found)


def sides(formula: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """The sides of an equation or chain of equations, or all of a formula; not split inside of braces."""
    edges, depth = [-1], 0
    for place, token in enumerate(formula):
        depth += (token.text == "{") - (token.text == "}")
        if token.text == "=" and not depth:
            edges.append(place)
    return [formula[start + 1 : end] for start, end in pairwise([*edges, len(formula)])]


class FormulaReader(ABC, Generic[Value]):
    r"""Recursive descent. A subclass defines the operations; those that it does not have are undecided.

    root(value, degree)                 the square root for the degree ``None``
    factorial(n), binomial(n, k), absolute(value), infinity()
    function(name, index, argument)     of ``sin`` or another name, and the index of ``\log_2`` or ``None``
    call(name, arguments)               of ``f(x)``, ``y(0)`` or ``f(x, y)``, which may be products
    series(name, index, bounds, read)   a ``sum`` or ``prod``, whose term ``read`` reads; over all for ``None``
    """

    deepest: ClassVar[int] = 12

    def read(self, formula: tuple[Token, ...]) -> Value:
        """The value of all tokens. Raises ``UndecidedError``, and whatever the operations raise."""
        self._tokens = (*formula, _END)
        self._at = 0
        self._depth = 0
        self._between_bars = False
        value = self._sum()
        if self._next() is not _END:
            raise UndecidedError
        return value

    @abstractmethod
    def number(self, text: str) -> Value: ...

    @abstractmethod
    def symbol(self, name: str) -> Value:
        r"""Of ``x``, ``x_1``, ``x_12``, ``\alpha``, ``\pi``."""

    @abstractmethod
    def plus(self, one: Value, other: Value) -> Value: ...

    @abstractmethod
    def negative(self, value: Value) -> Value: ...

    @abstractmethod
    def times(self, one: Value, other: Value) -> Value: ...

    @abstractmethod
    def over(self, one: Value, other: Value) -> Value: ...

    @abstractmethod
    def power(self, base: Value, exponent: Value) -> Value: ...

    @abstractmethod
    def is_rational(self, value: Value) -> bool:
        """Whether it is a rational number, so that an integer in front may make it a mixed number."""

    def _undecided(self, *arguments: Any, **options: Any) -> Value:
        raise UndecidedError

    root = factorial = binomial = absolute = infinity = function = call = series = _undecided

    def minus(self, one: Value, other: Value) -> Value:
        return self.plus(one, self.negative(other))

    def function_to_power(self, name: str, index: Value | None, argument: Value, exponent: Value) -> Value:
        r"""Of ``\sin^2 x``."""
        return self.power(self.function(name, index, argument), exponent)

    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self, *expected: str) -> Token:
        token = self._tokens[self._at]
        if expected and token.text not in expected:
            raise UndecidedError
        self._at += 1
        return token

    def _sum(self) -> Value:
        value = self._product()
        while self._next().text in ("+", "-"):
            combine = self.plus if self._take().text == "+" else self.minus
            value = combine(value, self._product())
        return value

    def _product(self) -> Value:
        value, divided = self._signed(divided=False), False
        while self._next().text in ("*", "/"):
            combine = self.times
            if self._take().text == "/":
                combine, divided = self.over, True
            value = combine(value, self._signed(divided))
        return value

    def _signed(self, divided: bool) -> Value:
        if self._next().text not in ("+", "-"):
            return self._side_by_side(divided)
        sign = self._take().text
        value = self._inner(lambda: self._signed(divided))
        return self.negative(value) if sign == "-" else value

    def _side_by_side(self, divided: bool) -> Value:
        """Factors without a sign between them; after a division there may be only one."""
        value = self._power()
        while self._begins_a_factor():
            may_be_mixed = self._tokens[self._at - 1].kind == "number" and self._next().text == r"\frac"
            factor = self._power()
            if divided or (may_be_mixed and self.is_rational(factor)):
                raise UndecidedError
            value = self.times(value, factor)
        return value

    def _begins_a_factor(self) -> bool:
        token = self._next()
        if token.kind == "number":
            return self._tokens[self._at - 1].text == "!"  # 2!3!
        return (
            token.kind in ("symbol", "function")
            or token.text in _OPENING
            or (token.text == "|" and not self._between_bars)
        )

    def _power(self) -> Value:
        token = self._next()
        if token.kind == "function":
            return self._function()
        if token.text in _SERIES:
            return self._series()
        is_call = token.kind == "symbol" and self._is_called(self._at + 1)
        base = self._call() if is_call else self._atom()
        if self._next().text == "!":
            self._at += 1
            base = self.factorial(base)
        if self._next().text != "^":
            return base
        exponent = self._exponent()
        if token.kind == "symbol" and self._is_called(self._at):  # f^{-1}(x)
            raise UndecidedError
        return self.power(base, exponent)

    def _is_called(self, at: int) -> bool:
        """Whether brackets begin here around numbers and variables, as in ``f(x)``, ``f(x^2)``, ``f(x, 0)``."""
        if self._tokens[at].text not in ("(", "["):
            return False
        inside: list[str] = []
        for token in self._tokens[at + 1 :]:
            if token.text == _CLOSING[self._tokens[at].text]:
                return bool(_ARGUMENTS.fullmatch(" ".join(inside)))
            inside.append(token.kind[0] if token.kind in ("number", "symbol") else token.text)
        return False

    def _call(self) -> Value:
        name = self._take().text
        self._take("(")
        arguments = [self._inner(self._sum)]
        while self._next().text == ",":
            self._at += 1
            arguments.append(self._inner(self._sum))
        self._take(")")
        if len(arguments) > 1 and self._next().text == "^":  # t(1, 2)^T
            raise UndecidedError
        return self.call(name, arguments)

    def _exponent(self) -> Value:
        self._take("^")
        is_negative = self._next().text == "-"
        self._at += is_negative
        exponent = self._atom()
        if self._next().text in ("^", "!"):
            raise UndecidedError
        return self.negative(exponent) if is_negative else exponent

    def _atom(self) -> Value:
        token = self._next()
        if token.kind == "number":
            self._at += 1
            return self.number(token.text)
        if token.kind == "symbol":
            self._at += 1
            return self.symbol(token.text)
        if token.text == r"\infty":
            self._at += 1
            return self.infinity()
        if token.text == "|" and not self._between_bars:
            return self._absolute()
        if token.text not in (r"\frac", r"\binom", r"\sqrt"):
            return self._bracketed("(", "[", "{")
        self._at += 1
        if token.text == r"\sqrt":
            degree = self._bracketed("[") if self._next().text == "[" else None
            return self.root(self._bracketed("{"), degree)
        combine = self.over if token.text == r"\frac" else self.binomial
        return combine(self._bracketed("{"), self._bracketed("{"))

    def _absolute(self) -> Value:
        self._at += 1
        self._between_bars = True
        value = self._inner(self._sum)
        self._take("|")
        self._between_bars = False
        return self.absolute(value)

    def _function(self) -> Value:
        name, _, index_text = self._take().text[1:].partition("_")
        exponent = self._exponent() if self._next().text == "^" else None
        is_bracketed = self._next().text in ("(", "[")
        argument, index = self._argument(), self._index(index_text)
        following = self._next().text
        if following == "!" or (following == "^" and (exponent is not None or not is_bracketed)):
            raise UndecidedError
        if exponent is not None:
            return self.function_to_power(name, index, argument, exponent)
        value = self.function(name, index, argument)
        return self.power(value, self._exponent()) if following == "^" else value  # \sin(x)^2

    def _series(self) -> Value:
        r"""``\sum_{i=1}^{n} x_i y_i``, ``\sum_j x_j``: all factors that follow belong to the term."""
        name = self._take().text[1:]
        self._take("_")
        is_in_braces = self._next().text == "{"
        self._at += is_in_braces
        index = self._take()
        if index.kind != "symbol" or "_" in index.text:
            raise UndecidedError
        lower = None
        if is_in_braces:
            if self._next().text == "=":
                self._at += 1
                lower = self._inner(self._sum)
            self._take("}")
        if (lower is None) == (self._next().text == "^"):
            raise UndecidedError
        bounds = (lower, self._exponent()) if lower is not None else None
        return self._inner(lambda: self.series(name, index.text, bounds, self._product))

    def _index(self, text: str) -> Value | None:
        if not text:
            return None
        return self.number(text) if text.isdecimal() else self.symbol(text)

    def _argument(self) -> Value:
        r"""``(x+1)`` or ``2x``. Undecided if what follows might belong to it as well: ``\sin x/2``."""
        first = self._next()
        if first.text in ("(", "["):
            return self._bracketed("(", "[")
        if first.text in ("{", r"\frac", r"\sqrt", "|"):
            value = self._atom()
        elif first.kind in ("number", "symbol"):
            value = self._power()
            while first.text != "e" and self._next().kind == "symbol" and self._next().text != "e":
                value = self.times(value, self._power())
        else:
            raise UndecidedError
        following = self._next()
        begins_another = following.kind == "function" or following.text == "e" != first.text
        if following.text in ("^", "!", "/") or (self._begins_a_factor() and not begins_another):
            raise UndecidedError
        return value

    def _bracketed(self, *openings: str) -> Value:
        opening = self._take(*openings)
        between_bars, self._between_bars = self._between_bars, False
        value = self._inner(self._sum)
        self._between_bars = between_bars
        self._take(_CLOSING[opening.text])
        return value

    def _inner(self, read: Callable[[], Value]) -> Value:
        self._depth += 1
        if self._depth > self.deepest:
            raise UndecidedError
        value = read()
        self._depth -= 1
        return value
