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
from typing import ClassVar

from grpo_env.lazy_regex import lazy_compile

from .grammar import FormulaReader, UndecidedError, tokens

MAX_LENGTH = 3000
MAX_BITS = 2.0**40  # of the numerator and of the denominator of a value; and of a degree
MAX_EXACT = 4096  # bits of an integer that is worked out, for exponents and below binomials
MAX_FACTORS = 20_000  # in all factorials and binomials of a formula
PRIMES = 3

_WORD = lazy_compile(r"(?<![A-Za-z\\])(?:[A-Za-z]{3}|(?:ln|lg|or|to|cm|mm|km|ft|i|I|O)(?![A-Za-z]))")
_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # decide whether a number below 2^81 is prime (Sorenson, 2015)


@dataclass(frozen=True)
class _Value:
    """A value modulo a prime. ``exact`` is the value itself if it is a small integer."""

    residue: int
    bits: float
    exact: int | None = None


def decide(one: str, other: str) -> bool | None:
    """Whether two formulas in normal LaTeX are equal; ``None`` if they are not of this kind."""
    if any(len(text) > MAX_LENGTH or _WORD.search(text) for text in (one, other)):
        return None
    formulas = tokens(one), tokens(other)
    if not all(formulas):
        return None
    draw = random.Random("\n".join(sorted((one, other))))
    try:
        for _ in range(PRIMES):
            prime, seed = _prime(draw), draw.random()
            first, second = (_ResidueReader(prime, seed).read(formula) for formula in formulas)
            if first.residue != second.residue:
                return False
    except (UndecidedError, ZeroDivisionError):
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


class _ResidueReader(FormulaReader[_Value]):
    """Its operations also raise ``ZeroDivisionError``."""

    deepest: ClassVar[int] = 20

    def __init__(self, prime: int, seed: float) -> None:
        self._prime = prime
        self._seed = seed
        self._factors = 0

    def number(self, text: str) -> _Value:
        whole, _, decimals = text.partition(".")
        digits, scale = int(whole + decimals), 10 ** len(decimals)
        value = self._of(digits, len(text) * 4.0, digits)
        return self.over(value, self._of(scale, len(text) * 4.0, scale)) if decimals else value

    def symbol(self, name: str) -> _Value:
        return self._of(random.Random(f"{self._seed} {name}").randrange(self._prime), 1.0)

    def plus(self, one: _Value, other: _Value) -> _Value:
        exact = None if one.exact is None or other.exact is None else one.exact + other.exact
        return self._of(one.residue + other.residue, one.bits + other.bits + 1, exact)

    def minus(self, one: _Value, other: _Value) -> _Value:
        return self.plus(one, self.negative(other))

    def negative(self, value: _Value) -> _Value:
        return self._of(-value.residue, value.bits, None if value.exact is None else -value.exact)

    def times(self, one: _Value, other: _Value) -> _Value:
        exact = None if one.exact is None or other.exact is None else one.exact * other.exact
        return self._of(one.residue * other.residue, one.bits + other.bits, exact)

    def over(self, one: _Value, other: _Value) -> _Value:
        is_divisible = one.exact is not None and other.exact and one.exact % other.exact == 0
        return self._divided(one, other, exactly=bool(is_divisible))

    def power(self, base: _Value, exponent: _Value) -> _Value:
        power = exponent.exact
        if power is None or power.bit_length() > 64 or (power < 0 and not base.residue):
            raise UndecidedError
        bits = base.bits * max(1, abs(power))
        exact = base.exact**power if base.exact is not None and power >= 0 and bits <= MAX_EXACT else None
        return self._of(pow(base.residue, power, self._prime), bits, exact)

    def is_rational(self, value: _Value) -> bool:
        return True

    def factorial(self, value: _Value) -> _Value:
        if value.exact is None or value.exact < 0:
            raise UndecidedError
        return self._product_of(range(2, value.exact + 1))

    def binomial(self, n: _Value, k: _Value) -> _Value:
        if n.exact is None or k.exact is None or not 0 <= k.exact <= n.exact:
            raise UndecidedError
        few = min(k.exact, n.exact - k.exact)
        top, bottom = self._product_of(range(n.exact - few + 1, n.exact + 1)), self._product_of(range(2, few + 1))
        return self._divided(top, bottom, exactly=top.exact is not None and bottom.exact is not None)

    def _divided(self, one: _Value, other: _Value, exactly: bool) -> _Value:
        """A quotient, which is an integer if it is ``exactly`` so."""
        if not other.residue:
            raise ZeroDivisionError
        exact = one.exact // other.exact if exactly and one.exact is not None and other.exact else None
        return self._of(one.residue * pow(other.residue, -1, self._prime), one.bits + other.bits, exact)

    def _product_of(self, numbers: range) -> _Value:
        self._factors += max(0, numbers.stop - numbers.start)  # len() raises OverflowError from 2^63 on
        if self._factors > MAX_FACTORS:
            raise UndecidedError
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

    def _of(self, residue: int, bits: float, exact: int | None = None) -> _Value:
        if bits > MAX_BITS:
            raise UndecidedError
        keep = exact is not None and exact.bit_length() <= MAX_EXACT
        return _Value(residue % self._prime, bits, exact if keep else None)
