r"""Is this answer worth the same as that gold? Exact where possible, computer algebra for the rest.

What counts as the same:

    numbers        the same exact value, however written; no tolerance unless ``rel_tol`` is set
    units          may be left out, may not contradict (12 cm is not 12 m, 5 % is 5 but not 0.05)
    bases          like units: ``52_8`` and ``52``; not ``52_9``
    lists, sets    ``2, 3``, ``3 and 2``, ``\{2,3\}``, ``\pm`` pairs: in any order
    tuples         ``(1,2)``, ``[1,2]``, intervals: in order, with the same brackets; never equal to a set
    matrices       element by element
    ``x=5``        equals ``5`` and ``x=5``, not ``y=5``
    words          upper and lower case and outer punctuation ignored; a choice letter may stand before its text
    formulas       equal values for all values of their variables; equations up to a factor

A plain number is not answered by a calculation still to be done (``2+2``, a sum, a limit).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from .algebra import same_formula
from .exact import Number, OverLimitError
from .normal import squeezed
from .shapes import Formula, Group, Reading, Shape, Words
from .units import same_unit, split_unit

_TO_DO = re.compile(
    r"\\(?:sum|int|iint|prod|lim|gcd|lcm|max|min)(?![a-z])|(?<![A-Za-z])(?:gcd|lcm|sum|max|min)\b"
    r"|[\d)}!%]\s*(?:[-+*/]|\\times|\\cdot|\\div)\s*[-+]?\s*(?:[\d.($]|\\[dt]?frac|\\left)"
)


@dataclass(frozen=True)
class Verdict:
    """Whether the answer is right, and why."""

    right: bool
    reason: str


def compare(gold: Reading, answer: Reading, rel_tol: float | None, timeout: float) -> Verdict:
    """Judge an answer.

    Raises ``OverLimitError``, and ``DeadlineError`` or ``UnreadableError`` from computer algebra.
    """
    if squeezed(gold.text) == squeezed(answer.text):
        return Verdict(True, "the same text")
    if gold.variable and answer.variable and squeezed(gold.variable) != squeezed(answer.variable):
        return _by_algebra(gold, answer, rel_tol, timeout)
    one, other = gold.shape, answer.shape
    if isinstance(one, Number) and isinstance(other, Number):
        return _numbers(one, other, rel_tol)
    if isinstance(one, Words) or isinstance(other, Words):
        return _words(one, other)
    if isinstance(one, Group) and isinstance(other, Group) and not _may_be_relation(one, other):
        return _groups(one, other, rel_tol, timeout)
    if isinstance(other, Group) and isinstance(one, Number):
        return Verdict(False, "several answers where one was asked")
    if isinstance(one, Group) and isinstance(other, Number):
        return Verdict(False, "one answer where several were asked")
    if isinstance(one, Number) and isinstance(other, Formula) and _TO_DO.search(other.text):
        return Verdict(False, "not evaluated")
    return _by_algebra(gold, answer, rel_tol, timeout)


def _numbers(gold: Number, answer: Number, rel_tol: float | None) -> Verdict:
    if not gold.agrees(answer):
        return Verdict(False, "the units contradict each other")
    if gold.value == answer.value:
        return Verdict(True, "the same number")
    if rel_tol and abs(gold.value - answer.value) <= Fraction(rel_tol) * abs(gold.value):
        return Verdict(True, f"within a relative tolerance of {rel_tol:g}")
    return Verdict(False, "a different number")


def _words(gold: Shape, answer: Shape) -> Verdict:
    if isinstance(gold, Words) and isinstance(answer, Words):
        if gold.text == answer.text:
            return Verdict(True, "the same words")
        if gold.choice == answer.text or answer.choice == gold.text:
            return Verdict(True, "the same choice")
        return Verdict(False, "different words")
    return Verdict(False, "words where mathematics was asked" if isinstance(answer, Words) else "no such words")


def _groups(gold: Group, answer: Group, rel_tol: float | None, timeout: float) -> Verdict:
    if gold.kind != answer.kind:
        return Verdict(False, f"a {_name(answer)} where a {_name(gold)} was asked")

    def same(one: Reading, other: Reading) -> bool:
        return compare(one, other, rel_tol, timeout).right

    if gold.kind in ("set", "union"):
        right = _all_matched(gold.items, answer.items, same) and _all_matched(
            answer.items, gold.items, lambda one, other: same(other, one)
        )
        return Verdict(right, "the same elements" if right else "different elements")
    if len(gold.items) != len(answer.items):
        return Verdict(False, f"{len(answer.items)} elements where {len(gold.items)} were asked")
    wrong = next((n for n, pair in enumerate(zip(gold.items, answer.items, strict=True), 1) if not same(*pair)), None)
    return Verdict(wrong is None, f"element {wrong} is different" if wrong else "the same elements")


def _all_matched(
    items: tuple[Reading, ...], others: tuple[Reading, ...], same: Callable[[Reading, Reading], bool]
) -> bool:
    if len(items) * len(others) > 2500:
        raise OverLimitError("the set is too large")
    return all(any(same(item, other) for other in others) for item in items)


def _by_algebra(gold: Reading, answer: Reading, rel_tol: float | None, timeout: float) -> Verdict:
    one, other = _formula(gold, keep=answer), _formula(answer, keep=gold)
    if not same_unit(one.unit, other.unit):
        return Verdict(False, "the units contradict each other")
    if squeezed(one.text) == squeezed(other.text):
        return Verdict(True, "the same text")
    right = same_formula(one.text, other.text, rel_tol, timeout)
    return Verdict(right, "equal by algebra" if right else "not equal by algebra")


def _formula(reading: Reading, keep: Reading) -> Formula:
    """What algebra gets: the right-hand side of ``x = ...`` if the other side is no equation, else everything."""
    shape = reading.shape
    relation = re.search(r"=|<|>|\\(?:in|le|ge|lt|gt|ne)(?![a-z])", keep.text) is not None
    if isinstance(shape, Number) and not (reading.variable and relation):
        return Formula(_latex(shape.value), shape.unit)
    if reading.variable and not relation:
        return shape if isinstance(shape, Formula) else Formula(*split_unit(reading.right_side))
    return Formula(*split_unit(reading.text))


def _latex(value: Fraction) -> str:
    """An exact value as algebra cannot misread it: not ``5 000``, ``1e3`` or ``2 1/3``."""
    return str(value) if value.denominator == 1 else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _may_be_relation(gold: Group, answer: Group) -> bool:
    """Whether set notation may equal a list of inequalities: only algebra can tell."""
    return any("<" in item.text or ">" in item.text or "\\le" in item.text for item in gold.items + answer.items)


def _name(group: Group) -> str:
    return {"()": "tuple or open interval"}.get(group.kind, group.kind)
