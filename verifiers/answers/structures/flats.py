r"""Lines, planes and spans of vectors: ``(1,-1,0)+t(2,-1,3)``, ``x=1+2t, y=-1-t, z=3t``, ``\text{span}\{(1,0)\}``.

Each is a point and directions. Two are equal if their directions span the same space and the difference of the points
is in it. That is a matter of ranks, which are computed exactly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..formulas.exact import quotient
from ..formulas.polynomials import PI, Quotient, TooLargeError
from ..spelling.brackets import items, outer, split
from .vectors import in_components, unit_vectors_in_components

MAX_LENGTH = 400
MAX_VECTORS = 6  # and components of each
MAX_PARAMETERS = 4

Vector = list[Quotient]

_PARAMETER = r"(?:[a-dhkm-w]|\\(?:lambda|mu|alpha|beta)(?![a-z]))(?:_\{?\d\}?)?"
_NAMES = rf"{_PARAMETER}(?:\s*,\s*{_PARAMETER}){{0,3}}"
_DECLARED = lazy_compile(
    rf"(?P<body>.+?)(?:[\s,;:|(]|\\mid|where|with|for(?: all)?)+(?P<names>{_NAMES})\s*"
    r"(?:\\in\s*\\mathbb\s?\{?\s?R\s?\}?(?P<excluded>\s*(?:\\setminus|-)\s*\\\{\s*0\s*\\\})?|(?P<nonzero>\\ne\s*0))\s*\)?",
    re.DOTALL,
)
_SPAN = lazy_compile(r"(?:[A-Z][^=]{0,30}=\s*)?\{?\\?span\}?\s*(?P<vectors>.+)", re.IGNORECASE | re.DOTALL)
_NAMED = lazy_compile(
    r"(?:(?:\\(?:vec|overline|text)\s*\{\s*[rxvXL]\s*\}|[rxXLl]|\\ell)\s*(?:\(\s*(?:[a-z]|\\[a-z]+)\s*\))?"
    r"|\(\s*x\s*,\s*y\s*(?:,\s*z\s*)?\))\s*[=:]\s*(?P<value>.+)",
    re.DOTALL,
)
_SYSTEM = lazy_compile(r"\\begin\{(?P<kind>cases|aligned)\}(?P<rows>.+)\\end\{(?P=kind)\}", re.DOTALL)
_BRACKET = lazy_compile(r"\\langle|\\rangle|\\[{}]|[()\[\]{}]")
_COORDINATES = (("x", "y"), ("x", "y", "z"), *(tuple(f"x_{n}" for n in range(1, m + 1)) for m in range(2, 6)))
_USUAL = frozenset(("s", "t", r"\lambda", r"\mu"))  # names of parameters that need no declaration
_OF_A_SPAN = lazy_compile(r"[cdkrst]|c_?\d")  # of two or more
_ARE_PARAMETERS = lazy_compile(_PARAMETER)


class Flat(NamedTuple):
    """A point and directions. ``without_zero`` if the parameter may not be 0, ``sure`` if it can be nothing else."""

    point: Vector
    directions: list[Vector]
    without_zero: bool
    sure: bool


def may_be_flat(gold: str) -> bool:
    """Whether a gold answer may be one of these."""
    if "span" in gold.lower() or r"\mathbb" in gold or r"\ne" in gold or gold.count("=") > 1:
        return True
    return "+" in gold and (("(" in gold and "," in gold) or "matrix" in gold or r"\langle" in gold)


def is_flat(text: str) -> bool:
    """Whether a text in normal spelling is surely one of these."""
    flat = _flat(text)
    return flat is not None and flat.sure


def same_flat(gold: str, answer: str) -> bool | None:
    """Whether two texts in normal spelling are the same line, plane or span; ``None`` if one of them is none."""
    one = _flat(gold)
    other = _flat(answer) if one and one.sure else None
    if one is None or other is None:
        return None
    if len(one.point) != len(other.point) or one.without_zero != other.without_zero:
        return False
    try:
        difference = [a.plus(b, -1) for a, b in zip(one.point, other.point, strict=True)]
        together = _rank([*one.directions, *other.directions, difference])
        return _rank(one.directions) == _rank(other.directions) == together
    except TooLargeError:
        return None


@lru_cache(maxsize=256)
def _flat(text: str) -> Flat | None:
    if len(text) > MAX_LENGTH:
        return None
    try:
        return _span(text) or _with_parameters(text)
    except TooLargeError:
        return None


def _span(text: str) -> Flat | None:
    match = _SPAN.fullmatch(text)
    inner = outer(match["vectors"].strip())[1] if match else ""
    vectors = [_vector(part) for part in items(in_components(inner))]
    directions = [vector for vector in vectors if vector and all(part.is_constant() for part in vector)]
    if not 0 < len(directions) == len(vectors) <= MAX_VECTORS or len({len(vector) for vector in directions}) > 1:
        return None
    return Flat([Quotient.of(0)] * len(directions[0]), directions, False, True)


def _with_parameters(text: str) -> Flat | None:
    if text.startswith("\\{"):  # \{(t,2t) : t\in\mathbb{R}\}
        text = outer(text)[1].strip()
    declared = _DECLARED.fullmatch(text) if r"\in" in text or r"\ne" in text else None
    body = declared["body"].strip() if declared else text
    if system := _SYSTEM.fullmatch(body):
        body = ", ".join(row.strip(" ,;&") for row in split(system["rows"], "\\\\") if row).replace("&", "")
    named = _NAMED.fullmatch(body)
    value = named["value"] if named else body
    if vector := _vector(in_components(value)) or _vector(unit_vectors_in_components(value)):
        is_sure = not outer(body)[0]  # (1+3t, 2+4t) may be a place at the time t
    elif found := _parametric(body):
        vector, is_sure = found, len(found) > 2
    elif found := _symmetric(body):
        vector, is_sure = found, True
    else:
        return None
    names = sorted({name for part in vector for name in _letters(part)})
    is_span = len(names) > 1 and all(map(_OF_A_SPAN.fullmatch, names)) and not outer(body)[0]
    is_sure = bool(declared) or (is_sure and _USUAL.issuperset(names)) or is_span
    if declared and {re.sub(r"[\s{}]", "", name) for name in declared["names"].split(",")} != set(names):
        return None
    if not 0 < len(names) <= MAX_PARAMETERS or not all(map(_ARE_PARAMETERS.fullmatch, names)):
        return None
    directions: list[Vector] = []
    for name in names:
        pairs = [part.linear(name) for part in vector]
        if None in pairs:
            return None
        vector = [pair[0] for pair in pairs if pair]
        directions.append([pair[1] for pair in pairs if pair])
    if not all(part.is_constant() for row in (vector, *directions) for part in row):
        return None
    without_zero = bool(declared and (declared["excluded"] or declared["nonzero"]))
    if without_zero and (len(names) > 1 or any(part.top for part in vector)):
        return None
    return Flat(vector, directions, without_zero, is_sure)


def _letters(value: Quotient) -> set[str]:
    return {name for polynomial in (value.top, value.bottom) for _, powers in polynomial for name, _ in powers} - {PI}


def _vector(text: str) -> Vector | None:
    """A sum of multiples of vectors, ``(1,2)+t(3,4)``, or one in components, ``(1+3t, 2+4t)``."""
    vectors: list[Vector] = []
    parts, at, depth, start = [], 0, 0, 0
    for match in _BRACKET.finditer(text):
        opening = match.group() in ("(", "[", "{", "\\{")
        if opening and depth == 0:
            start = match.start()
        depth += 1 if opening else -1
        components = items(text[start + 1 : match.start()]) if depth == 0 and text[start] in "([" else []
        if 1 < len(components) <= MAX_VECTORS:
            values = [value for part in components if (value := quotient(part))]
            if len(values) < len(components) or len(vectors) == MAX_VECTORS:
                return None
            vectors.append(values)
            parts += [text[at:start], f" q_{{{len(vectors)}}} "]
            at = match.end()
    if not vectors or len({len(vector) for vector in vectors}) > 1:
        return None
    rest = quotient("".join([*parts, text[at:]]))
    total = [Quotient.of(0)] * len(vectors[0])
    for number, vector in enumerate(vectors, 1):
        terms = rest.linear(f"q_{number}") if rest else None
        if terms is None:
            return None
        rest, factor = terms
        if any(name.startswith("q_") for name in _letters(factor)):
            return None
        total = [part.plus(factor * component, 1) for part, component in zip(total, vector, strict=True)]
    return total if rest and not rest.top else None


def _parametric(text: str) -> Vector | None:
    """``x=1+2t, y=-1-t, z=3t``."""
    pairs = [split(part, "=") for part in items(text)]
    if not 1 < len(pairs) <= MAX_VECTORS or any(len(pair) != 2 for pair in pairs):
        return None
    values = {re.sub(r"[\s{}]", "", name): quotient(value) for name, value in pairs}
    return _in_order(values) if len(values) == len(pairs) else None


def _in_order(values: dict[str, Quotient | None]) -> Vector | None:
    """The values of all coordinates."""
    names = tuple(sorted(values))
    vector = [value for name in names if (value := values[name])]
    return vector if names in _COORDINATES and len(vector) == len(names) else None


def _symmetric(text: str) -> Vector | None:
    r"""``\frac{x-1}{2}=\frac{y+1}{-1}=\frac{z}{3}``, with the common value as the parameter t; ``y=2`` beside it."""
    values: dict[str, Quotient | None] = {}
    chains = 0
    for part in items(text):
        sides = [quotient(side) for side in split(part, "=")]
        coordinates = [_coordinate(side) for side in sides]
        if len(sides) == 2 and coordinates[0] and not coordinates[1]:
            value, name = sides[1], coordinates[0]
            sides, parameter = sides[:1], value
        else:
            parameter, chains = Quotient.symbol("t"), chains + 1
        for side in sides:
            name = _coordinate(side)
            terms = side.linear(name) if side and name else None
            if terms is None or name in values or parameter is None or not terms[1].top:
                return None
            values[name] = parameter.plus(terms[0], -1) / terms[1]
    return _in_order(values) if chains == 1 and len(values) == 3 else None


def _coordinate(value: Quotient | None) -> str:
    """The only letter of a side, if it is x, y or z."""
    letters = _letters(value) if value else set()
    name = next(iter(letters), "")
    return name if len(letters) == 1 and name in ("x", "y", "z") else ""


def _rank(rows: Sequence[Vector]) -> int:
    """The rank of a matrix. Raises ``TooLargeError``."""
    left = [list(row) for row in rows]
    rank = 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((row for row in left if row[column].top), None)
        if pivot is None:
            continue
        left = [_reduced(row, pivot, column) for row in left if row is not pivot]
        rank += 1
    return rank


def _reduced(row: Vector, pivot: Vector, column: int) -> Vector:
    """A row without its entry in a column."""
    if not row[column].top:
        return row
    factor = row[column] / pivot[column]
    return [_simple(a.plus(factor * b, -1)) for a, b in zip(row, pivot, strict=True)]


def _simple(value: Quotient) -> Quotient:
    number = value.rational()
    return value if number is None else Quotient.of(number)
