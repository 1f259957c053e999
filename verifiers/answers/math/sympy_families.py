"""Equality of families of functions with arbitrary constants. Used by the worker process only, since it imports sympy.

The constants are the symbols ``q_1``, ``q_2``, ... of ``constant_families``. Functions are compared at rational points
with 60 digits; what is neither clearly zero nor clearly not is not equal.
"""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import sympy

from .sympy_equality import same, same_up_to_constant

DIGITS = 60
ZERO = sympy.Float(10, DIGITS) ** -40  # the most that rounding leaves of a zero, for numbers up to 1
CLEARLY_NOT_ZERO = sympy.Float(10, DIGITS) ** -20
POINTS = 60  # that are tried
MAX_CONSTANTS = 4


def same_family(a: Any, b: Any, variable: str) -> bool:
    """Whether two families of functions of a variable are the same; without one, up to the names of the constants."""
    if not (isinstance(a, sympy.Expr) and isinstance(b, sympy.Expr)):
        return False
    constants = _constants(a)
    if constants != _constants(b) or not 1 <= len(constants) <= MAX_CONSTANTS:
        return False
    one, other = (_terms(formula, constants) if variable else [] for formula in (a, b))
    if not one or not other:
        return any(same(a, b.xreplace(dict(zip(constants, names, strict=True)))) for names in permutations(constants))
    is_added = len(constants) == 1 and all(part.is_number and part != 0 for part in (one[1], other[1]))
    if is_added and same_up_to_constant(one[0], other[0]):
        return True
    return not (is_added and len(a.free_symbols | b.free_symbols) > 2) and _same_spans([*one, *other], variable)


def _constants(formula: sympy.Expr) -> list[sympy.Symbol]:
    return sorted((symbol for symbol in formula.free_symbols if symbol.name.startswith("q_")), key=str)


def _terms(formula: sympy.Expr, constants: list[sympy.Symbol]) -> list[sympy.Expr]:
    """``[f, g, h]`` of a function ``f + q_1 g + q_2 h``; nothing if it is not linear in its constants."""
    factors = [sympy.cancel(sympy.expand(sympy.diff(formula, constant))) for constant in constants]
    if any(factor.free_symbols & set(constants) for factor in factors):
        return []
    return [formula.subs(dict.fromkeys(constants, 0)), *factors]


def _same_spans(parts: list[sympy.Expr], variable: str) -> bool:
    """Whether two affine spaces are equal, of which these are the particular functions and the independent others."""
    symbols = {symbol for part in parts for symbol in part.free_symbols}
    given = sorted((symbol for symbol in symbols if symbol.name != variable), key=str)
    draw, count = random.Random(str(parts)), len(parts) // 2 - 1
    for n in range(3 if given else 1):
        values = {symbol: _value(draw, n > 0) for symbol in given}
        rows = _rows([part.xreplace(values) for part in parts], draw)
        if not rows:
            return False
        particular = [a - b for a, b in zip(rows[0], rows[count + 1], strict=True)]
        scaled = [[value / (max(map(abs, row)) or 1) for value in row] for row in rows]
        first, second = scaled[1 : count + 1], scaled[count + 2 :]
        least, most = (_rank(first, CLEARLY_NOT_ZERO), _rank(second, CLEARLY_NOT_ZERO)), [*first, *second, particular]
        if least != (count, count) or _rank(most, ZERO) != count:
            return False
    return True


def _rows(parts: list[sympy.Expr], draw: random.Random) -> list[list[Any]]:
    """The values of functions at points where all are real, at each point up to 1; nothing if there are too few."""
    x = {symbol for part in parts for symbol in part.free_symbols}
    columns: list[list[Any]] = []
    for number in range(POINTS):  # positive ones, for logarithms; large ones, for the root of x - 5, last
        point = _value(draw, number % 2 == 1) * (10 if number > 0.6 * POINTS else 1)
        values = [part.xreplace(dict.fromkeys(x, point)).evalf(DIGITS) for part in parts]
        if all(value.is_Float or value.is_Rational for value in values):
            columns.append([value / (max(map(abs, values)) or 1) for value in values])
        if len(columns) == 2 * len(parts) + 2:
            break
    return [list(row) for row in zip(*columns, strict=True)] if len(columns) > len(parts) + 1 else []


def _rank(rows: list[list[Any]], least: sympy.Float) -> int:
    return int(sympy.Matrix(rows).rank(iszerofunc=lambda value: abs(value) < least))


def _value(draw: random.Random, signed: bool) -> sympy.Float:
    sign = draw.choice((1, -1)) if signed else 1
    return sympy.Float(sympy.Rational(sign * draw.randrange(20_000, 400_000), 104_729), DIGITS)
