r"""Formulas with powers, factorials and binomials too large to work out: ``\binom{4025}{2012}``, ``x^{2007}-1``.

They are compared modulo ``PRIMES`` random primes, with random residues for their variables, for ``e`` and for ``\pi``.
Equal formulas are found equal. Different ones are by mistake with a probability below 10^-18: the value of a formula
has at most ``MAX_BITS`` bits, so at most 2^36 primes above 2^61 divide the difference of two cross products, out of
more than 10^16 to draw from; and a polynomial of degree d has at most d roots (Schwartz, 1980).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from math import log2

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 3000
MAX_DEPTH = 20
MAX_BITS = 2.0**40  # of the numerator and of the denominator of a value; and of a degree
MAX_EXACT = 4096  # bits of an integer that is worked out, for exponents and below binomials
MAX_FACTORS = 20_000  # in all factorials and binomials of a formula
PRIMES = 3

_TOKEN = lazy_compile(
    r"(?P<number>\d+(?:\.\d+)?)|(?P<symbol>(?:[A-Za-z]|\\(?:alpha|beta|gamma|theta|lambda|mu|phi|omega|pi)(?![A-Za-z]))"
    r"(?:_(?:\{[A-Za-z0-9]{1,9}\}|[A-Za-z0-9](?!\d)))?)"
    r"|(?P<sign>\\(?:frac|binom|cdot|times|div)(?![A-Za-z])|\*\*|[-+*/^!(){}\[\]])|(?P<space>\s+)"
)
_NAMES = {r"\cdot": "*", r"\times": "*", r"\div": "/", "**": "^"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WORD = lazy_compile(r"(?<![A-Za-z\\])(?:[A-Za-z]{3}|(?:ln|lg|or|to|cm|mm|km|ft|i|I|O)(?![A-Za-z]))")
_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # decide whether a number below 2^81 is prime (Sorenson, 2015)


class _UndecidedError(Exception):
    """The formula is not one of these, or too large even for them."""


@dataclass(frozen=True)
class _Value:
    """A value modulo a prime. ``exact`` is the value itself if it is a small integer."""

    residue: int
    bits: float
    exact: int | None = None


def decide(one: str, other: str) -> bool | None:
    """Whether two formulas in normal LaTeX are equal; ``None`` if they are not of this kind."""
    tokens = [_tokens(text) for text in (one, other)]
    if not all(tokens):
        return None
    draw = random.Random("\n".join(sorted((one, other))))
    try:
        for _ in range(PRIMES):
            prime, seed = _prime(draw), draw.random()
            first, second = (_Evaluation(part, prime, seed).value() for part in tokens)
            if first.residue != second.residue:
                return False
    except (_UndecidedError, ZeroDivisionError):
        return None
    return True


@lru_cache(maxsize=1024)
def readable(text: str) -> bool:
    """Whether this module can read a formula."""
    return decide(text, text) is True


def _prime(draw: random.Random) -> int:
    while True:
        number = draw.randrange(2**61 + 1, 2**62, 2)
        if _is_prime(number):
            return number


def _is_prime(number: int) -> bool:
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in _BASES:
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def _tokens(text: str) -> tuple[tuple[str, str], ...]:
    """Kinds and texts of the tokens; none if there is anything else in the text."""
    if len(text) > MAX_LENGTH or _WORD.search(text):
        return ()
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return ()
        at = match.end()
        if match.lastgroup != "space":
            token = match.group()
            tokens.append((match.lastgroup or "", _NAMES.get(token, token)))
    return tuple(tokens)


class _Evaluation:
    """Recursive descent, as in ``formulas``; what is ambiguous there is undecided here as well."""

    def __init__(self, tokens: tuple[tuple[str, str], ...], prime: int, seed: float) -> None:
        self._tokens = tokens
        self._prime = prime
        self._seed = seed
        self._at = 0
        self._depth = 0
        self._factors = 0

    def value(self) -> _Value:
        """The value of all tokens. Raises ``_UndecidedError`` or ``ZeroDivisionError``."""
        value = self._sum()
        if self._at < len(self._tokens):
            raise _UndecidedError
        return value

    def _next(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _take(self, *expected: str) -> str:
        token = self._next()
        if token not in expected:
            raise _UndecidedError
        self._at += 1
        return token

    def _sum(self) -> _Value:
        value = self._product()
        while self._next() in ("+", "-"):
            sign = 1 if self._take("+", "-") == "+" else -1
            term = self._product()
            exact = None if value.exact is None or term.exact is None else value.exact + sign * term.exact
            value = self._of(value.residue + sign * term.residue, value.bits + term.bits + 1, exact)
        return value

    def _product(self) -> _Value:
        value, divided = self._factor(), False
        while True:
            token = self._next()
            if token in ("*", "/"):
                self._at += 1
                factor = self._factor()
                divided = divided or token == "/"
                value = self._divided(value, factor) if token == "/" else self._times(value, factor)
            elif token in ("(", "[", r"\frac", r"\binom") or self._begins_a_factor():
                if divided or self._is_call():
                    raise _UndecidedError
                value = self._times(value, self._power())
            else:
                return value

    def _begins_a_factor(self) -> bool:
        """Whether a symbol comes next, or a number after a factorial."""
        kind = self._tokens[self._at][0] if self._at < len(self._tokens) else ""
        return kind == "symbol" or (kind == "number" and self._tokens[self._at - 1][1] == "!")

    def _is_call(self) -> bool:
        """Whether a bracket after a symbol contains a single token, as in ``f(x)``."""
        after = [token for _, token in self._tokens[self._at + 2 : self._at + 3]]
        return self._tokens[self._at - 1][0] == "symbol" and after == [_CLOSING.get(self._next(), "")]

    def _factor(self) -> _Value:
        if self._next() in ("+", "-"):
            sign = 1 if self._take("+", "-") == "+" else -1
            value = self._inner(self._factor)
            return self._of(sign * value.residue, value.bits, None if value.exact is None else sign * value.exact)
        return self._power()

    def _power(self) -> _Value:
        base = self._with_factorials(self._atom())
        if self._next() != "^":
            return base
        self._at += 1
        exponent = self._inner(self._power) if self._next() != "-" else self._inner(self._factor)
        power = exponent.exact
        if power is None or power.bit_length() > 64 or (power < 0 and not base.residue):
            raise _UndecidedError
        bits = base.bits * max(1, abs(power))
        small = base.exact is not None and power >= 0 and bits <= MAX_EXACT
        return self._of(pow(base.residue, power, self._prime), bits, base.exact**power if small else None)  # type: ignore[operator]

    def _with_factorials(self, value: _Value) -> _Value:
        if self._next() != "!":
            return value
        self._at += 1
        if value.exact is None or value.exact < 0 or self._next() == "!":
            raise _UndecidedError
        return self._product_of(range(2, value.exact + 1))

    def _atom(self) -> _Value:
        kind, token = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        self._at += 1
        if kind == "number":
            whole, _, decimals = token.partition(".")
            digits, scale = int(whole + decimals), 10 ** len(decimals)
            value = self._of(digits, len(token) * 4.0, digits)
            return self._divided(value, self._of(scale, len(token) * 4.0, scale)) if decimals else value
        if kind == "symbol":
            name = token.replace("{", "").replace("}", "")
            return self._of(random.Random(f"{self._seed} {name}").randrange(self._prime), 1.0)
        if token == r"\frac":
            return self._divided(self._bracketed("{"), self._bracketed("{"))
        if token == r"\binom":
            return self._binomial(self._bracketed("{"), self._bracketed("{"))
        self._at -= 1
        return self._bracketed("(", "[", "{")

    def _bracketed(self, *openings: str) -> _Value:
        opening = self._take(*openings)
        value = self._inner(self._sum)
        self._take(_CLOSING[opening])
        return value

    def _inner(self, read: object) -> _Value:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _UndecidedError
        value: _Value = read()  # type: ignore[operator]
        self._depth -= 1
        return value

    def _binomial(self, top: _Value, bottom: _Value) -> _Value:
        n, k = top.exact, bottom.exact
        if n is None or k is None or not 0 <= k <= n:
            raise _UndecidedError
        k = min(k, n - k)
        return self._divided(self._product_of(range(n - k + 1, n + 1)), self._product_of(range(2, k + 1)), whole=True)

    def _product_of(self, numbers: range) -> _Value:
        self._factors += max(0, numbers.stop - numbers.start)  # len() raises OverflowError from 2^63 on
        if self._factors > MAX_FACTORS:
            raise _UndecidedError
        residue = 1
        for number in numbers:
            residue = residue * number % self._prime
        bits = 1 + len(numbers) * (log2(numbers[-1]) + 1 if numbers else 0)
        exact = None
        if bits <= MAX_EXACT:
            exact = 1
            for number in numbers:
                exact *= number
        return self._of(residue, bits, exact)

    def _times(self, one: _Value, other: _Value) -> _Value:
        exact = None if one.exact is None or other.exact is None else one.exact * other.exact
        return self._of(one.residue * other.residue, one.bits + other.bits, exact)

    def _divided(self, one: _Value, other: _Value, whole: bool = False) -> _Value:
        if not other.residue:
            raise ZeroDivisionError
        exact = None
        if one.exact is not None and other.exact and (whole or one.exact % other.exact == 0):
            exact = one.exact // other.exact
        return self._of(one.residue * pow(other.residue, -1, self._prime), one.bits + other.bits, exact)

    def _of(self, residue: int, bits: float, exact: int | None = None) -> _Value:
        if bits > MAX_BITS:
            raise _UndecidedError
        keep = exact is not None and exact.bit_length() <= MAX_EXACT
        return _Value(residue % self._prime, bits, exact if keep else None)
