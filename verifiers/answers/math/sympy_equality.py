"""Equality of two sympy objects. Used by the worker process only, since it imports sympy."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import sympy
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

DIGITS = 40
PROOF_DIGITS = 1000
POINTS = 10


class Closeness(NamedTuple):
    """How far constants may differ: a fraction of the larger one, or not after rounding to so many decimals."""

    rel_tol: float | None = None
    decimals: int | None = None


EXACTLY = Closeness()
_STEPS = (sympy.floor, sympy.ceiling)


def same(a: Any, b: Any, closeness: Closeness = EXACTLY) -> bool:
    """Whether two sympy objects are equal."""
    for sequence in (sympy.MatrixBase, sympy.Tuple):
        if isinstance(a, sequence) or isinstance(b, sequence):
            return isinstance(a, sequence) and isinstance(b, sequence) and _same_parts(a, b, closeness)
    if a == b:
        return True
    if isinstance(a, sympy.MatrixExpr) != isinstance(b, sympy.MatrixExpr):
        return False
    if isinstance(a, sympy.Expr) and isinstance(b, sympy.Expr):  # before Boolean, which a lone symbol is as well
        return _same_values(a, b, closeness)
    if isinstance(a, Boolean | Relational) or isinstance(b, Boolean | Relational):
        return _same_relations(a, b)
    return isinstance(a, sympy.Set) and isinstance(b, sympy.Set) and _same_sets(a, b, closeness)


def _same_parts(a: Any, b: Any, closeness: Closeness) -> bool:
    alike = getattr(a, "shape", None) == getattr(b, "shape", None) and len(a) == len(b)
    return alike and all(same(one, other, closeness) for one, other in zip(a, b, strict=True))


def same_up_to_constant(a: Any, b: Any) -> bool:
    """Whether two functions have the same derivative by each of their variables, and are both real somewhere."""
    if not (isinstance(a, sympy.Expr) and isinstance(b, sympy.Expr)):
        return False
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    if not any(_real(a.subs(point)) and _real(b.subs(point)) for point in _points(a, b, symbols)):
        return False
    return bool(symbols) and all(same(sympy.diff(a, symbol), sympy.diff(b, symbol)) for symbol in symbols)


def _same_relations(a: Any, b: Any) -> bool:
    if isinstance(a, sympy.Eq) and isinstance(b, sympy.Eq):
        return _same_equations(a, b)
    if isinstance(a, sympy.Eq) or isinstance(b, sympy.Eq):
        equation, other = (a, b) if isinstance(a, sympy.Eq) else (b, a)
        return isinstance(equation.rhs, sympy.Set) and same(equation.rhs, _as_set(other))
    if _is_inequality(a) and _is_inequality(b) and len(a.free_symbols | b.free_symbols) > 1:
        ratio = sympy.cancel((a.gts - a.lts) / (b.gts - b.lts))
        is_strict = [isinstance(relation, sympy.StrictGreaterThan | sympy.StrictLessThan) for relation in (a, b)]
        return is_strict[0] == is_strict[1] and bool(ratio.is_number and ratio.is_finite and ratio.is_positive)
    if a.free_symbols and b.free_symbols and a.free_symbols != b.free_symbols:
        return False
    return same(_as_set(a), _as_set(b))


def _same_equations(a: Any, b: Any) -> bool:
    """Whether two equations are equal up to a constant factor."""
    if any(isinstance(side, sympy.Set) for side in (a.lhs, a.rhs, b.lhs, b.rhs)):
        return same(a.lhs, b.lhs) and same(a.rhs, b.rhs)
    if a.lhs == b.lhs:
        return same(a.rhs, b.rhs)
    ratio = sympy.cancel((a.lhs - a.rhs) / (b.lhs - b.rhs))
    return bool(ratio.is_number and ratio.is_finite and ratio.is_nonzero)


def _is_inequality(value: Any) -> bool:
    return isinstance(value, sympy.Gt | sympy.Ge | sympy.Lt | sympy.Le)


def _as_set(value: Any) -> Any:
    return value.as_set() if isinstance(value, Boolean | Relational) else value


def _same_sets(a: sympy.Set, b: sympy.Set, closeness: Closeness) -> bool:
    if isinstance(a, sympy.Interval) and isinstance(b, sympy.Interval):
        ends = same(a.start, b.start, closeness) and same(a.end, b.end, closeness)
        return ends and (a.left_open, a.right_open) == (b.left_open, b.right_open)
    if type(a) is type(b) and isinstance(a, sympy.Union | sympy.FiniteSet | sympy.Intersection):
        return all(any(same(one, other, closeness) for other in b.args) for one in a.args) and all(
            any(same(one, other, closeness) for other in a.args) for one in b.args
        )
    return False


def _same_values(a: sympy.Expr, b: sympy.Expr, closeness: Closeness) -> bool:
    """Equality of two formulas: of constants as in ``_same_constants``, of functions at points.

    Each variable of a point is one of about 10^5 rational numbers, drawn with the formulas as the seed. Different
    quotients of polynomials of degree d agree at a point with a probability below 2d/10^5 (Schwartz, 1980), at
    all of them below (2d/10^5)^8. A bound of a sum or product is a whole number from 1 to 60 instead.
    """
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    bound = (sympy.Sum, sympy.Product, sympy.Integral)
    if a.has(*bound) and b.has(*bound) and (a.as_dummy() == b.as_dummy() or _same_terms(a, b)):
        return True
    if any(part.has(AppliedUndef) for part in a.atoms(sympy.Integral) | b.atoms(sympy.Integral)):
        return False  # it has no value
    if not symbols:
        return _same_constants(a, b, closeness)
    # Points where a root or logarithm is not real are skipped, even where the product of two of them is real.
    roots = a.atoms(sympy.Pow, sympy.log) | b.atoms(sympy.Pow, sympy.log)
    roots = {part for part in roots if not _is_power(part) and part.free_symbols <= set(symbols)}
    agreed = 0
    counted = _bounds(a) | _bounds(b)
    for point in _points(a, b, symbols, counted):
        one, other = (_at(point, side, bool(counted)) for side in (a, b))
        if not all(_real(part) for part in (one, other, *(_at(point, root) for root in roots))):
            continue
        if not _same_constants(one, other, EXACTLY, DIGITS):
            return False
        agreed += 1
    return agreed > 0 or bool(sympy.simplify(a - b) == 0)


def _at(point: dict[sympy.Symbol, sympy.Rational], expression: sympy.Expr, works_out: bool = False) -> Any:
    """The value at a point; to 60 digits if a variable is in an exponent, since exact powers of fractions are slow."""
    in_exponents = any(not part.exp.is_number for part in expression.atoms(sympy.Pow))
    if in_exponents and not works_out and not expression.has(sympy.Integral, sympy.Sum, sympy.Product, AppliedUndef):
        return expression.evalf(60, subs=point)
    value = expression.subs(point)
    return _with_values(value.doit() if works_out else value)


def _same_terms(a: sympy.Expr, b: sympy.Expr) -> bool:
    """Whether both are series or integrals between the same bounds, and their terms are equal."""
    if type(a) is not type(b) or not isinstance(a, sympy.Sum | sympy.Product | sympy.Integral):
        return False
    if len(a.limits) != 1 or len(b.limits) != 1:
        return False
    (index, *bounds), (other, *other_bounds) = a.limits[0], b.limits[0]
    return bounds == other_bounds and same(a.function, b.function.subs(other, index))


def _with_values(expression: Any) -> Any:
    """With one of about 10^5 rational numbers for each value of an unknown function, such as f(2) or x_3."""
    values = {
        part: sympy.Rational(random.Random(str(part)).randrange(20_000, 400_000), 104_729)
        for part in expression.atoms(AppliedUndef)
        if all(argument.is_number for argument in part.args)
    }
    return expression.xreplace(values) if values else expression


def _bounds(expression: sympy.Expr) -> set[sympy.Symbol]:
    """The variables in the bounds of sums and products: n of 1 + 2 + ... + 2^n."""
    bounds = [
        bound for part in expression.atoms(sympy.Sum, sympy.Product) for limit in part.limits for bound in limit[1:]
    ]
    return {symbol for bound in bounds for symbol in bound.free_symbols}


def _points(
    a: sympy.Expr, b: sympy.Expr, symbols: list[sympy.Symbol], counted: Collection[sympy.Symbol] = ()
) -> Iterator[dict[sympy.Symbol, sympy.Rational]]:
    """Positive ones, for logarithms; of both signs, so that sqrt(x^2) is not x; and large ones, for sqrt(x - 5).

    Each variable is negative at two points. Where something is rounded up or down, whole numbers follow.

    The variables that are ``counted`` are whole numbers, larger ones at later points. Those in exponents have a small
    denominator: the exact power of 1.04 by 86716/104729 takes seconds.
    """
    powers = {symbol for part in a.atoms(sympy.Pow) | b.atoms(sympy.Pow) for symbol in part.exp.free_symbols}
    draw = random.Random("\n".join(sorted((str(a), str(b)))))  # the same in every process
    signs = {symbol: [1] * 4 + draw.sample((1, 1, -1, -1), 4) + [1] * (POINTS - 8) for symbol in symbols}
    for number in range(POINTS):
        scale = 100 if number >= POINTS - 2 else 1
        point = {}
        for symbol in symbols:
            if symbol in counted:
                point[symbol] = sympy.Integer(6 * number + draw.randrange(1, 7))
                continue
            numerator, denominator = draw.randrange(20_000, 400_000), 104_729
            if symbol in powers:
                numerator, denominator = numerator // 1000, 104
            point[symbol] = scale * signs[symbol][number] * sympy.Rational(numerator, denominator)
        yield point
    for number in range(-2, 3) if a.has(*_STEPS) or b.has(*_STEPS) else ():
        yield {symbol: sympy.Integer(number + place) for place, symbol in enumerate(symbols)}


def _is_power(part: Any) -> bool:
    return bool(part.is_Pow and part.exp.is_Integer)


def _real(value: Any) -> bool:
    number = value.evalf(DIGITS)
    return bool(number.is_number and number.is_finite and abs(sympy.im(number)) < sympy.Float(10) ** -30)


def _same_constants(a: Any, b: Any, closeness: Closeness, digits: int = PROOF_DIGITS) -> bool:
    """Equality of two constants: exact if their difference is rational, else to ``digits`` significant digits.

    Unevaluated sums and integrals are compared to 30 digits.
    """
    if a.is_infinite or b.is_infinite:
        return bool(a == b)
    difference = a - b
    if difference.is_Rational and closeness == EXACTLY:
        return bool(difference == 0)
    one, other = a.evalf(DIGITS), b.evalf(DIGITS)
    sizes = [abs(one), abs(other)]
    if any(size.is_infinite or size is sympy.nan for size in sizes):  # log_1 11, which is_infinite does not know
        return False
    if not all(size.is_comparable for size in sizes) or max(sizes) < sympy.Float(10) ** -50:  # 0 may come out as 10^-75
        return bool(sympy.simplify(difference) == 0)
    size = max(sizes)
    if abs(one - other) > sympy.Float(10, DIGITS) ** -30 * size:
        return _close(one, other, closeness)
    if difference.is_Rational:
        return difference == 0 or _close(one, other, closeness)
    if digits <= DIGITS or difference.has(sympy.Integral, sympy.Sum, sympy.Product, sympy.Limit):
        return True
    gap = abs(a.evalf(digits) - b.evalf(digits))
    return bool(gap <= sympy.Float(10, digits) ** (10 - digits) * size) or _close(one, other, closeness)


def _close(one: Any, other: Any, closeness: Closeness) -> bool:
    if closeness.rel_tol is not None:
        return bool(abs(one - other) <= sympy.Float(str(closeness.rel_tol), DIGITS) * max(abs(one), abs(other)))
    if closeness.decimals is None or not (one.is_real and other.is_real):
        return False
    scaled = [sympy.Rational(value) * 10**closeness.decimals for value in (one, other)]
    rounded = [{sympy.sign(value) * sympy.floor(abs(value) + sympy.Rational(1, 2)), round(value)} for value in scaled]
    return not rounded[0].isdisjoint(rounded[1])
