"""Equality of families of functions with arbitrary constants. Used by the worker process only, since it imports sympy.

The constants are the symbols ``q_1``, ``q_2``, ... of ``constant_families``. Functions are compared at rational points
with 60 digits, as in ``sympy_equality``; what is neither clearly zero nor clearly not is not equal.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

import sympy

from .sympy_equality import same

DIGITS = 60
ZERO = sympy.Float(10, DIGITS) ** -40  # the most that rounding leaves of a zero, for numbers up to 1
CLEARLY_NOT_ZERO = sympy.Float(10, DIGITS) ** -20
POINTS = 60  # that are tried
LEAST_POINTS = 8  # where all functions are real
MAX_CONSTANTS = 4

Point = dict[sympy.Symbol, sympy.Float]


def same_family(a: Any, b: Any, how: str, variable: str) -> bool:
    """Whether two families are the same.

    ``how`` is ``span`` for two functions of the variable, ``level`` for two differences that are 0, or ``renamed`` for
    functions that have to be equal up to the names of the constants.
    """
    if not (isinstance(a, sympy.Expr) and isinstance(b, sympy.Expr)):
        return False
    constants = _constants(a)
    if constants != _constants(b) or not 1 <= len(constants) <= MAX_CONSTANTS:
        return False
    if how == "level":
        return _same_levels(a, b, constants)
    x = next((symbol for symbol in a.free_symbols if symbol.name == variable), None)
    if how == "span" and x is not None:
        one, other = _terms(a, constants), _terms(b, constants)
        if one and other:
            return _same_spans(one, other, x)
        y = sympy.Symbol("unknown", real=True)
        if len(constants) == 1 and _same_levels(y - a, y - b, constants):
            return True
    return any(same(a, b.xreplace(dict(zip(constants, names, strict=True)))) for names in permutations(constants))


def _constants(expression: sympy.Expr) -> list[sympy.Symbol]:
    return sorted((symbol for symbol in expression.free_symbols if symbol.name.startswith("q_")), key=str)


def _terms(expression: sympy.Expr, constants: Sequence[sympy.Symbol]) -> list[sympy.Expr] | None:
    """``[f, g, h]`` of a function ``f + q_1 g + q_2 h``; ``None`` if it is not linear in its constants."""
    factors = [_without(sympy.diff(expression, constant), constants) for constant in constants]
    if None in factors:
        return None
    return [expression.subs(dict.fromkeys(constants, 0)), *factors]


def _without(expression: sympy.Expr, constants: Sequence[sympy.Symbol]) -> sympy.Expr | None:
    """An expression as one without these constants, if that is possible."""
    for form in (lambda same: same, sympy.expand, sympy.cancel):
        result = form(expression)
        if result.free_symbols.isdisjoint(constants):
            return result
    return None


def _same_spans(one: list[sympy.Expr], other: list[sympy.Expr], x: sympy.Symbol) -> bool:
    """Whether two affine spaces of functions are equal, for several values of the other symbols.

    The functions are independent, those of both together have no higher rank, and the difference of the particular
    solutions does not raise it either.
    """
    others = sorted({symbol for part in (*one, *other) for symbol in part.free_symbols} - {x}, key=str)
    draw = random.Random(str((one, other)))
    return all(
        _same_spans_at(one, other, [{x: value, **fixed} for value in _values(draw)])
        for fixed in ({symbol: _value(draw, signed=n > 0) for symbol in others} for n in range(3 if others else 1))
    )


def _same_spans_at(one: list[sympy.Expr], other: list[sympy.Expr], points: list[Point]) -> bool:
    count = len(one) - 1
    wanted = 3 * count + LEAST_POINTS
    columns: list[list[Any]] = []
    for point in points:
        column = [_real_value(part, point) for part in (*one, *other)]
        if None not in column:
            columns.append(column)
        if len(columns) == wanted:
            break
    if len(columns) < 2 * count + LEAST_POINTS // 2:
        return False
    rows = [list(row) for row in zip(*columns, strict=True)]
    particular = [a - b for a, b in zip(rows[0], rows[count + 1], strict=True)]
    first, second = (_scaled(rows[start : start + count]) for start in (1, count + 2))
    size = max((abs(value) for row in (rows[0], rows[count + 1]) for value in row), default=0)
    together = [*first, *second, *([[value / size for value in particular]] if size else [])]
    return count == _rank(first) == _rank(second) == _rank(together)


def _scaled(rows: list[list[Any]]) -> list[list[Any]]:
    """Rows whose largest number is 1; rows of zeros as they are."""
    return [[value / (max(map(abs, row)) or 1) for value in row] for row in rows]


def _rank(rows: list[list[Any]]) -> int | None:
    """The rank of a matrix of numbers up to 1, by elimination with the largest pivots; ``None`` if it is uncertain."""
    left = [list(row) for row in rows]
    rank = 0
    while left and left[0]:
        pivot, at, column = max(
            ((abs(value), n, m) for n, row in enumerate(left) for m, value in enumerate(row)),
            key=lambda entry: entry[0],
        )
        if pivot < CLEARLY_NOT_ZERO:
            return rank if pivot < ZERO else None
        top = left.pop(at)
        left = [[a - b * row[column] / top[column] for a, b in zip(row, top, strict=True)] for row in left]
        rank += 1
    return rank


def _same_levels(a: sympy.Expr, b: sympy.Expr, constants: Sequence[sympy.Symbol]) -> bool:
    """Whether ``a = 0`` and ``b = 0``, solved for the constant, have parallel gradients, and neither is constant."""
    levels = [level for side in (a, b) if (level := _level(side, constants)) is not None]
    if len(constants) > 1 or len(levels) < 2:
        return False
    symbols = sorted({symbol for level in levels for symbol in level.free_symbols}, key=str)
    gradients = [[sympy.diff(level, symbol) for symbol in symbols] for level in levels]
    draw, agreed = random.Random(str(levels)), 0
    for number in range(POINTS):
        point = {symbol: _value(draw, signed=number > 5, scale=_scale(number)) for symbol in symbols}
        one, other = ([_real_value(part, point) for part in (level, *gradient)]
                      for level, gradient in zip(levels, gradients, strict=True))  # fmt: skip
        if None in one or None in other:
            continue
        first, second = one[1:], other[1:]
        sizes = [max(map(abs, gradient)) for gradient in (first, second)]
        if min(sizes) < CLEARLY_NOT_ZERO:
            return False
        for n, m in combinations(range(len(symbols)), 2):
            if abs(first[n] * second[m] - first[m] * second[n]) > ZERO * sizes[0] * sizes[1]:
                return False
        agreed += 1
        if agreed == 3 * LEAST_POINTS:
            break
    return len(symbols) > 1 and agreed >= LEAST_POINTS


def _level(difference: sympy.Expr, constants: Sequence[sympy.Symbol]) -> sympy.Expr | None:
    """The function F if a difference is 0 where F is the constant."""
    terms = _terms(difference, constants) or _terms(sympy.fraction(sympy.together(difference))[0], constants)
    return -terms[0] / terms[1] if terms and terms[1] != 0 else None


def _values(draw: random.Random) -> Iterator[sympy.Float]:
    """Values of a variable: positive ones, for logarithms, and ones of both signs."""
    for number in range(POINTS):
        yield _value(draw, signed=number % 2 == 1, scale=_scale(number))


def _scale(number: int) -> int:
    """Large points, for the root of x - 5, are tried last: there, exponential functions are too different in size."""
    return 10 if number >= POINTS - LEAST_POINTS * 3 else 1


def _value(draw: random.Random, *, signed: bool, scale: int = 1) -> sympy.Float:
    sign = draw.choice((1, -1)) if signed else 1
    return sympy.Float(sympy.Rational(scale * sign * draw.randrange(20_000, 400_000), 104_729), DIGITS)


def _real_value(expression: sympy.Expr, point: Point) -> Any:
    """The value at a point, or ``None`` if it is not real or not finite."""
    value = expression.xreplace(point).evalf(DIGITS)
    if value.is_Rational:
        return sympy.Float(value, DIGITS)
    return value if value.is_Float and value.is_finite else None
