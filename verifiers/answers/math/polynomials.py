r"""Exact arithmetic with quotients of polynomials whose coefficients may contain square roots, ``i`` and ``\pi``.

Different normal forms are different values: the square roots of different squarefree integers are linearly
independent over the rationals (Besicovitch, 1940), so a sum of them has one normal form; ``\pi`` is transcendental, so
it behaves like a variable. These form an integral domain: ``a/b = c/d`` exactly when ``ad = bc``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd, isqrt, pi, sqrt
from typing import TypeAlias

MAX_PRODUCTS = 400  # of terms, in one multiplication
MAX_BITS = 1000  # of a coefficient
MAX_POWER = 32
MAX_RADICAND = 10**12
PI = r"\pi"

# A square root and powers of symbols: the radicand, squarefree and negative for a factor i; names with exponents.
Powers: TypeAlias = tuple[tuple[str, int], ...]
Term: TypeAlias = tuple[int, Powers]
# Coefficients are ``int`` where they can be: these are added and multiplied several times as fast as fractions.
Rational: TypeAlias = int | Fraction
Polynomial: TypeAlias = Mapping[Term, Rational]

ONE: Term = (1, ())
_WHOLE: Polynomial = {ONE: 1}


class TooLargeError(ArithmeticError):
    """The result is too large, is not such a quotient, or is a division by zero."""


@dataclass(frozen=True)
class Quotient:
    """One polynomial over another. All operations raise ``TooLargeError``."""

    top: Polynomial
    bottom: Polynomial

    @classmethod
    def of(cls, value: Fraction | int) -> Quotient:
        """A rational number."""
        return cls({ONE: _rational(value)} if value else {}, _WHOLE)

    @classmethod
    def symbol(cls, name: str) -> Quotient:
        """A variable, ``\\pi``, or ``i``, the imaginary unit."""
        return cls({(-1, ()) if name == "i" else (1, ((name, 1),)): 1}, _WHOLE)

    def rational(self) -> Fraction | None:
        """The value, if this is a rational number in its simplest form."""
        if self.top.keys() <= {ONE} and self.bottom.keys() == {ONE}:
            return Fraction(self.top.get(ONE, 0), self.bottom[ONE])
        return None

    def is_constant(self) -> bool:
        """Whether it has no variables."""
        return all(name == PI for term in (*self.top, *self.bottom) for name, _ in term[1])

    def approximate(self) -> Fraction | None:
        """A real constant to about 15 digits."""
        sums = []
        for polynomial in (self.top, self.bottom):
            if any(root < 0 for root, _ in polynomial):
                return None
            terms = ((value, root, sum(power for _, power in powers)) for (root, powers), value in polynomial.items())
            sums.append(sum(value * Fraction(sqrt(root)) * Fraction(pi) ** power for value, root, power in terms))
        return sums[0] / sums[1] if sums[1] else None

    def same(self, other: Quotient) -> bool:
        """Whether both are equal."""
        return _product(self.top, other.bottom) == _product(other.top, self.bottom)

    def proportional(self, other: Quotient) -> bool:
        """Whether this is the other times a nonzero constant, which may contain roots and pi."""
        ratio = self / other
        top, bottom = _coefficients(ratio.top), _coefficients(ratio.bottom)
        if not top or top.keys() != bottom.keys():
            return False
        key = next(iter(top))
        return all(_product(top[powers], bottom[key]) == _product(bottom[powers], top[key]) for powers in top)

    def plus(self, other: Quotient, sign: int) -> Quotient:
        """The sum, or the difference for a ``sign`` of -1."""
        if self.bottom == other.bottom:
            return Quotient(_sum(self.top, other.top, sign), self.bottom)
        top = _sum(_product(self.top, other.bottom), _product(other.top, self.bottom), sign)
        return Quotient(top, _product(self.bottom, other.bottom))

    def __mul__(self, other: Quotient) -> Quotient:
        whole = self.bottom == _WHOLE and other.bottom == _WHOLE
        return Quotient(_product(self.top, other.top), _WHOLE if whole else _product(self.bottom, other.bottom))

    def __truediv__(self, other: Quotient) -> Quotient:
        if not other.top:
            raise TooLargeError("a division by zero")
        return Quotient(_product(self.top, other.bottom), _product(self.bottom, other.top))

    def power(self, exponent: Fraction) -> Quotient:
        """An integer power; of a rational number also a half-integer power."""
        if exponent.denominator == 2:
            return self.root().power(exponent * 2)
        if exponent.denominator > 1 or abs(exponent) > MAX_POWER or not self.top:
            raise TooLargeError("no small integer power")
        result = self if exponent else Quotient.of(1)
        for _ in range(abs(exponent.numerator) - 1):
            result *= self
        return result if exponent >= 0 else Quotient.of(1) / result

    def root(self) -> Quotient:
        """The principal square root of a rational number."""
        value = self.rational()
        if value is None or abs(value.numerator * value.denominator) > MAX_RADICAND:
            raise TooLargeError("no small square root")
        if not value:
            return self
        # The root of p/q is that of pq, over q.
        outside, inside = _squarefree(abs(value.numerator) * value.denominator)
        term = (inside if value > 0 else -inside, ())
        return Quotient({term: _rational(Fraction(outside, value.denominator))}, _WHOLE)


def _rational(value: Rational) -> Rational:
    return value.numerator if value.denominator == 1 else value


@lru_cache(maxsize=1024)
def _squarefree(number: int) -> tuple[int, int]:
    """``(a, b)`` with ``number = a² b`` and ``b`` squarefree, for a positive number."""
    outside, inside, divisor = 1, 1, 2
    while divisor**3 <= number:
        while number % divisor**2 == 0:
            outside, number = outside * divisor, number // divisor**2
        if number % divisor == 0:
            inside, number = inside * divisor, number // divisor
        divisor += 1
    root = isqrt(number)  # the rest has at most two prime factors
    return (outside * root, inside) if root * root == number else (outside, inside * number)


def _sum(one: Polynomial, other: Polynomial, sign: int) -> Polynomial:
    total = dict(one)
    for term, value in other.items():
        total[term] = total.get(term, 0) + sign * value
    return {term: value for term, value in total.items() if value}


def _product(one: Polynomial, other: Polynomial) -> Polynomial:
    if len(one) * len(other) > MAX_PRODUCTS:
        raise TooLargeError("too many terms")
    total: dict[Term, Rational] = {}
    for (root, powers), value in one.items():
        for (other_root, other_powers), other_value in other.items():
            common = gcd(root, other_root)
            product = value * other_value * (-common if root < 0 > other_root else common)  # i times i is -1
            if product.numerator.bit_length() + product.denominator.bit_length() > MAX_BITS:
                raise TooLargeError("a coefficient with too many digits")
            inside = abs(root * other_root) // common**2
            term = (-inside if (root < 0) != (other_root < 0) else inside, _powers(powers, other_powers))
            total[term] = total.get(term, 0) + product
    return {term: value for term, value in total.items() if value}


def _powers(one: Powers, other: Powers) -> Powers:
    """The product of two products of powers of symbols."""
    if not one or not other:
        return one or other
    exponents = dict(one)
    for name, exponent in other:
        exponents[name] = exponents.get(name, 0) + exponent
    return tuple(sorted(exponents.items()))


def _coefficients(polynomial: Polynomial) -> dict[Powers, dict[Term, Rational]]:
    """The coefficient of each product of variables."""
    coefficients: dict[Powers, dict[Term, Rational]] = {}
    for (root, powers), value in polynomial.items():
        constant = tuple(power for power in powers if power[0] == PI)
        coefficients.setdefault(tuple(power for power in powers if power[0] != PI), {})[root, constant] = value
    return coefficients
