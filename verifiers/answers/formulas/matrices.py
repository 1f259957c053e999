r"""Formulas of matrices and vectors, whose factors keep their order: ``(X^TX)^{-1}X^Ty``, ``\dot{x} = (A-BK)x``.

They are compared at one matrix of ``SIZE`` rows for each name, drawn with the name as the seed, modulo a fixed prime
near 2^61. Equal formulas are found equal, if they are for all shapes that fit; different ones are by chance only
(Schwartz, 1980). Identities of matrices of ``SIZE`` rows alone, which no answer is about, count as equal too.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product
from string import ascii_lowercase
from typing import ClassVar, TypeAlias

from grpo_env.lazy_regex import lazy_compile

from .grammar import FormulaReader, Token, UndecidedError, sides, tokens

SIZE = 3
PRIME = 2**61 - 1
MAX_LENGTH = 300
MAX_POWER = 6

_CAPITALS = r"(?:[A-Z]|\\(?:Sigma|Lambda|Omega|Phi|Psi|Theta)(?![a-z]))"
# A^T, (AB)^T, (AB)^{-1}, A^{-1}B: letters without an inverse or transpose may be numbers, whose order means nothing.
_TRANSPOSED = lazy_compile(
    rf"(?:{_CAPITALS}|[A-Z]\s?\)[)\s]{{0,4}})(?:_\w)?\s?\^\s?(?:T|\{{\s?-?\s?T\s?\}})|\)\s?\^\s?\{{\s?-\s?T\s?\}}"
)
_INVERTED = lazy_compile(
    rf"(?=.*{_CAPITALS}\s?\)?\s?\^\s?\{{\s?-1\s?\}})(?=.*{_CAPITALS}.*{_CAPITALS})(?:{_CAPITALS}|[()\s]|\^\s?\{{\s?-1\s?\}})+"
)
_PRIMED = lazy_compile(r"([A-Z)])'(?=\s?[A-Za-z()])")  # (X'X)^{-1}X'y
_PRODUCT = lazy_compile(r"[a-z]\s?\^\s?(?:T|\{\s?T\s?\})\s?[A-Za-z(]")  # w^Tx, which may be a power of w
_BESIDE = lazy_compile(r"([a-z])\s?\^\s?\{?\s?T|T\s?\}?\s?([a-z])|[A-Z]\s?([a-z])(?![a-z])")
_STATES = lazy_compile(r"(?P<state>[a-z])_\{dot\}(?:\([a-z]\))?\s?=.*[A-Z]\s?\)?\s?(?P=state)(?![a-z])")
_LETTERS = frozenset(ascii_lowercase) - frozenset("cdeijkmnprst")  # that may name vectors

Rows: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Value:
    """A matrix modulo ``PRIME``; a number is one of one row. ``exact`` is a small integer's value."""

    rows: Rows
    exact: int | None = None
    is_t: bool = False
    """Whether it is the letter T, or its opposite, which transposes as an exponent."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])


def same(one: str, other: str) -> bool | None:
    """Whether two formulas, with names as algebra has them, are equal; ``None`` if these are no such formulas."""
    if max(len(one), len(other)) > MAX_LENGTH:
        return None
    texts = [_PRIMED.sub(r"\1^T ", text) if "^{-1}" in text else text for text in (one, other)]
    is_certain = any(map(_has_matrices, texts))
    if not is_certain and not all("^" in text and _PRODUCT.search(text) for text in texts):
        return None
    formulas = [sides(tokens(text)) for text in texts]
    if not all(all(parts) for parts in formulas) or max(map(len, formulas)) > 2:
        return None
    if {len(parts) for parts in formulas} == {1, 2}:  # the name of one may be left out
        formulas = [parts[1:] if len(parts) == 2 and len(parts[0]) == 1 else parts for parts in formulas]
        if len({len(parts) for parts in formulas}) > 1:
            return None
    beside = frozenset(
        letter for text in texts for match in _BESIDE.finditer(text) for letter in match.groups() if letter
    )
    for vectors, are_greek_vectors in product((_LETTERS, beside, frozenset[str]()), (False, True)):
        try:
            values = [_zero(parts, _MatrixReader(vectors, are_greek_vectors)) for parts in formulas]
        except (UndecidedError, ZeroDivisionError):
            continue
        is_equation = len(formulas[0]) == 2
        are_same = _proportional(*values) if is_equation else values[0].rows == values[1].rows
        return are_same if are_same or is_certain else None
    return None


def _has_matrices(text: str) -> bool:
    if "^" in text and (_TRANSPOSED.search(text) or _INVERTED.fullmatch(text)):
        return True
    return "_{dot}" in text and _STATES.search(text) is not None


def _zero(parts: list[tuple[Token, ...]], reader: _MatrixReader) -> _Value:
    """The difference of the sides of an equation, or the value of a formula."""
    values = [reader.read(part) for part in parts]
    if len(values) == 1:
        return values[0]
    nonzero = [value for value in values if value.exact != 0]
    if not nonzero:  # 0 = 0
        raise UndecidedError
    return reader.minus(values[0], values[1]) if len(nonzero) == 2 else nonzero[0]


def _proportional(one: _Value, other: _Value) -> bool:
    entries = [[entry for row in value.rows for entry in row] for value in (one, other)]
    first = next((pair for pair in zip(*entries, strict=False) if any(pair)), None)
    if one.shape != other.shape or first is None or not all(first):
        return False
    return all((a * first[1] - b * first[0]) % PRIME == 0 for a, b in zip(*entries, strict=True))


class _MatrixReader(FormulaReader[_Value]):
    """Capitals are square matrices. Its operations raise ``UndecidedError`` for shapes that do not fit."""

    deepest: ClassVar[int] = 20

    def __init__(self, vectors: frozenset[str], are_greek_vectors: bool) -> None:
        self._vectors = vectors
        self._are_greek_vectors = are_greek_vectors

    def number(self, text: str) -> _Value:
        whole, _, decimals = text.partition(".")
        value = int(whole + decimals) * pow(10 ** len(decimals), -1, PRIME)
        return _Value(((value % PRIME,),), None if decimals else int(whole))

    def symbol(self, name: str) -> _Value:
        if name == "I":
            return _Value(tuple(tuple(int(row == column) for column in range(SIZE)) for row in range(SIZE)))
        draw = random.Random(name)
        rows, columns = self._shape(name)
        entries = tuple(tuple(draw.randrange(PRIME) for _ in range(columns)) for _ in range(rows))
        return _Value(entries, is_t=name == "T")

    def _shape(self, name: str) -> tuple[int, int]:
        letter = name.removeprefix("\\")
        if letter[0].isupper():
            return SIZE, SIZE
        if name.startswith("\\"):
            return (SIZE, 1) if self._are_greek_vectors else (1, 1)
        is_marked = bool(self._vectors) and letter.endswith(("dot", "hat", "vec", "bar"))
        return (SIZE, 1) if is_marked or letter[0] in self._vectors else (1, 1)

    def plus(self, one: _Value, other: _Value) -> _Value:
        if one.shape != other.shape or one.is_t or other.is_t:
            raise UndecidedError
        pairs = (zip(first, second, strict=True) for first, second in zip(one.rows, other.rows, strict=True))
        exact = None if one.exact is None or other.exact is None else one.exact + other.exact
        return _Value(tuple(tuple((a + b) % PRIME for a, b in row) for row in pairs), exact)

    def minus(self, one: _Value, other: _Value) -> _Value:
        return self.plus(one, self.negative(other))

    def negative(self, value: _Value) -> _Value:
        rows = tuple(tuple(-entry % PRIME for entry in row) for row in value.rows)
        return _Value(rows, None if value.exact is None else -value.exact, value.is_t)

    def times(self, one: _Value, other: _Value) -> _Value:
        if one.is_t or other.is_t:
            raise UndecidedError
        for scalar, value in ((one, other), (other, one)):
            if scalar.shape == (1, 1):
                exact = None if scalar.exact is None or value.exact is None else scalar.exact * value.exact
                factor = scalar.rows[0][0]
                return _Value(tuple(tuple(factor * entry % PRIME for entry in row) for row in value.rows), exact)
        if one.shape[1] != other.shape[0]:
            raise UndecidedError
        columns = list(zip(*other.rows, strict=True))
        return _Value(
            tuple(
                tuple(sum(a * b for a, b in zip(row, column, strict=True)) % PRIME for column in columns)
                for row in one.rows
            )
        )

    def over(self, one: _Value, other: _Value) -> _Value:
        if other.shape != (1, 1):
            raise UndecidedError
        return self.times(one, _inverse(other))

    def power(self, base: _Value, exponent: _Value) -> _Value:
        if exponent.is_t and not base.is_t:
            transposed = _Value(tuple(zip(*base.rows, strict=True)))
            return transposed if exponent.rows == self.symbol("T").rows else _inverse(transposed)
        power = exponent.exact
        if power is None or abs(power) > MAX_POWER or not power or base.shape[0] != base.shape[1]:
            raise UndecidedError
        factor = base if power > 0 else _inverse(base)
        value = factor
        for _ in range(abs(power) - 1):
            value = self.times(value, factor)
        return value

    def is_rational(self, value: _Value) -> bool:
        return value.exact is not None

    def call(self, name: str, arguments: list[_Value]) -> _Value:
        """Of ``A(B)``, a product; ``x(t)`` is ``x``."""
        value = self.symbol(name)
        return value if len(arguments) == 1 and arguments[0].shape == (1, 1) else self.times(value, arguments[0])


def _inverse(value: _Value) -> _Value:
    """By Gauss and Jordan. Raises ``ZeroDivisionError`` or ``UndecidedError``."""
    size = len(value.rows)
    if value.shape != (size, size):
        raise UndecidedError
    rows = [[*row, *(int(number == column) for column in range(size))] for number, row in enumerate(value.rows)]
    for column in range(size):
        pivot = next((row for row in rows[column:] if row[column]), None)
        if pivot is None:
            raise ZeroDivisionError
        rows.remove(pivot)
        rows.insert(column, pivot)
        factor = pow(pivot[column], -1, PRIME)
        rows[column] = [entry * factor % PRIME for entry in pivot]
        for number, row in enumerate(rows):
            if number != column and row[column]:
                times = row[column]
                rows[number] = [(a - times * b) % PRIME for a, b in zip(row, rows[column], strict=True)]
    return _Value(tuple(tuple(row[size:]) for row in rows))
