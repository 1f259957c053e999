r"""Is this answer worth the same as that gold? Exact where possible, computer algebra for the rest.

What counts as the same:

    numbers        the same exact value, however written: ``0.5``, ``\frac12``, ``50/100``, ``5\times10^{-1}``,
                   ``0.\overline{3}`` and ``1/3``; no tolerance unless ``rel_tol`` or ``decimals`` is set
    units          may be left out, may not contradict (12 cm is not 12 m, 5 % is 5 but not 0.05); never converted
    bases          ``101_2`` is 5; the base may be left out (``101``); ``52_8`` is not ``52_9``
    lists, sets    ``2, 3``, ``3 and 2``, ``\{2,3\}``, ``\pm`` pairs: in any order, repetitions ignored
    tuples         ``(1,2)``, ``[1,2]``, intervals: in order, with the same brackets; never equal to a set
    real sets      ``(-\infty,2)``, ``x<2``, ``\{x\mid x<2\}``; ``[1,2]\cup[2,3]``, ``[1,3]``; ``]1,2[``, ``(1,2)``
    matrices       element by element
    ``x=5``        equals ``5``, ``x=5`` and ``x=2+3=5``, not ``y=5``; every side of ``73=72`` has to be the gold
    times, ratios  ``3:30 pm`` and ``15:30``, not ``3:30``; ``2:3``, ``4:6`` and ``2/3``
    words          outer punctuation ignored, upper and lower case as well; a choice letter may stand before its text
    formulas       equal values for all values of their variables; equations up to a constant factor

The comparison is symmetric. What only an answer can do wrong, ``2+2`` for 4 or ``4 or 5``, is in ``doubts``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf
from typing import Literal, TypeAlias

from .algebra import UnreadableError, same_formula, spent
from .exact import Number, OverLimitError
from .intervals import INFINITIES, real_set
from .normal import squeezed
from .parsed import Clock, Formula, Group, Reading, Words
from .units import same_unit, split_unit
from .wording import same_words

MAX_PAIRS = 2500  # of elements of two sets
PERCENT = ("%", 1)

_RELATION = re.compile(r"[=<>]|\\(?:in|le|ge|ne)(?![a-z])")

Reason: TypeAlias = Literal[
    # right
    "the same text",
    "the same number",
    "the same number, one as a percentage",
    "equal within rel_tol",
    "equal when rounded to decimals",
    "the same time",
    "the same words",
    "the same choice",
    "the same elements",
    "equal by algebra",
    # wrong
    "a different number",
    "a contradicting unit",
    "another time",
    "different words",
    "words where mathematics was asked",
    "mathematics where words were asked",
    "another kind of answer",
    "another number of elements",
    "different elements",
    "several answers where one was asked",
    "one answer where several were asked",
    "another name",
    "not equal by algebra",
    "not evaluated",
    "several different answers",
    "denied",
    "a hedge",
    "a range",
]


@dataclass(frozen=True)
class Rules:
    """What a task may set about comparing; see ``Accuracy``. ``deadline`` is a time of ``algebra.spent``."""

    rel_tol: float | None = None
    decimals: int | None = None
    percent: bool = False
    ignore_case: bool = True
    timeout: float = 1.0
    deadline: float = inf

    @property
    def exact(self) -> bool:
        """Whether numbers have to be equal."""
        return self.rel_tol is None and self.decimals is None

    def close(self, one: Fraction, other: Fraction) -> Reason | None:
        """Why two different numbers count as equal, or ``None``."""
        if self.rel_tol and abs(one - other) <= Fraction(str(self.rel_tol)) * max(abs(one), abs(other)):
            return "equal within rel_tol"
        if self.decimals is not None and not _roundings(one, self.decimals).isdisjoint(
            _roundings(other, self.decimals)
        ):
            return "equal when rounded to decimals"
        return None


@dataclass(frozen=True)
class Verdict:
    """Whether the answer is right, and why."""

    right: bool
    reason: Reason


def compare(gold: Reading, answer: Reading, rules: Rules) -> Verdict:
    """Judge an answer. Swapping gold and answer changes nothing.

    Raises ``OverLimitError``, and ``DeadlineError`` or ``UnreadableError`` from computer algebra.
    """
    one, other = gold.shape, answer.shape
    if isinstance(one, Number) and isinstance(other, Number) and not (gold.variable and answer.variable):
        return _numbers(one, other, rules)
    if type(one) is type(other) and squeezed(gold.text) == squeezed(answer.text):
        return Verdict(True, "the same text")
    if gold.variable and answer.variable and squeezed(gold.variable) != squeezed(answer.variable):
        if isinstance(one, Formula | Words) and isinstance(other, Formula | Words):
            return _by_algebra(gold, answer, rules)
        return Verdict(False, "another name")
    if isinstance(one, Number) and isinstance(other, Number):
        return _numbers(one, other, rules)
    for chain, rest in ((one, answer), (other, gold)):
        if isinstance(chain, Group) and chain.kind == "chain":
            verdicts = [compare(item, rest, rules) for item in chain.items]
            return next((verdict for verdict in verdicts if not verdict.right), verdicts[-1])
    if isinstance(one, Clock) or isinstance(other, Clock):
        return _times(gold, answer, rules)
    if isinstance(one, Group) and isinstance(other, Group):
        return _groups(one, other, rules)
    if isinstance(one, Group) and (one.kind == "set" or isinstance(other, Number)):
        return Verdict(False, "one answer where several were asked")
    if isinstance(other, Group) and (other.kind == "set" or isinstance(one, Number)):
        return Verdict(False, "several answers where one was asked")
    if isinstance(one, Words) or isinstance(other, Words):
        return _words(gold, answer, rules)
    if any(isinstance(shape, Formula) and shape.text in INFINITIES for shape in (one, other)):
        return Verdict(False, "a different number")
    return _by_algebra(gold, answer, rules)


def _numbers(gold: Number, answer: Number, rules: Rules) -> Verdict:
    if not same_unit(gold.unit, answer.unit):
        return Verdict(False, "a contradicting unit")
    if gold.equals(answer):
        return Verdict(True, "the same number")
    if reason := rules.close(gold.value, answer.value):
        return Verdict(True, reason)
    if rules.percent and (PERCENT in gold.unit) != (PERCENT in answer.unit):
        one, other = (n.value / 100 if PERCENT in n.unit else n.value for n in (gold, answer))
        if one == other or rules.close(one, other):
            return Verdict(True, "the same number, one as a percentage")
    return Verdict(False, "a different number")


def _roundings(value: Fraction, decimals: int) -> set[int]:
    """A value in units of the last decimal, rounded to the nearest; of a tie away from zero, and to even."""
    scaled = value * 10**decimals
    away = floor(abs(scaled) + Fraction(1, 2))
    return {away if scaled >= 0 else -away, round(scaled)}


def _times(gold: Reading, answer: Reading, rules: Rules) -> Verdict:
    one, other = gold.shape, answer.shape
    if isinstance(one, Clock) and isinstance(other, Clock):
        same = (one.seconds, one.sure) == (other.seconds, other.sure)
        return Verdict(same, "the same time" if same else "another time")
    clock, rest = (one, answer) if isinstance(one, Clock) else (other, gold)
    if isinstance(clock, Clock) and clock.ratio is not None:
        return compare(Reading("", clock.ratio), rest, rules)
    return Verdict(False, "another kind of answer")


def _words(gold: Reading, answer: Reading, rules: Rules) -> Verdict:
    one, other = gold.shape, answer.shape
    if isinstance(one, Words) and isinstance(other, Words):
        reason = same_words(one, other, rules.ignore_case)
        return Verdict(reason != "different words", reason)
    for words, rest in ((one, other), (other, one)):
        if isinstance(words, Words) and len(words.text) == 1 and isinstance(rest, Formula):
            return _by_algebra(gold, answer, rules)  # the letter is a variable
    asked = isinstance(one, Words)
    return Verdict(False, "mathematics where words were asked" if asked else "words where mathematics was asked")


def _groups(gold: Group, answer: Group, rules: Rules) -> Verdict:
    if "union" in (gold.kind, answer.kind):
        one, other = real_set(gold), real_set(answer)
        if one and other and (one == other or rules.exact):
            return Verdict(one == other, "the same elements" if one == other else "different elements")
    if gold.kind != answer.kind:
        return Verdict(False, "another kind of answer")
    if gold.kind in ("set", "union"):
        if len(gold.items) * len(answer.items) > MAX_PAIRS:
            raise OverLimitError("the set is too large")
        right = all(any(_same_element(one, other, rules) for other in answer.items) for one in gold.items) and all(
            any(_same_element(one, other, rules) for one in gold.items) for other in answer.items
        )
        return Verdict(right, "the same elements" if right else "different elements")
    if len(gold.items) != len(answer.items):
        return Verdict(False, "another number of elements")
    right = all(_same_element(*pair, rules) for pair in zip(gold.items, answer.items, strict=True))
    return Verdict(right, "the same elements" if right else "different elements")


def _same_element(one: Reading, other: Reading, rules: Rules) -> bool:
    """Whether two elements are equal. What cannot be read equals nothing, in whichever order elements are looked at."""
    try:
        return compare(one, other, rules).right
    except UnreadableError:
        return False


def _by_algebra(gold: Reading, answer: Reading, rules: Rules) -> Verdict:
    one, other = _formula(gold, keep=answer), _formula(answer, keep=gold)
    if not same_unit(one.unit, other.unit):
        return Verdict(False, "a contradicting unit")
    if squeezed(one.text) == squeezed(other.text):
        return Verdict(True, "the same text")
    seconds = min(rules.timeout, rules.deadline - spent())
    right = same_formula(one.text, other.text, rules.rel_tol, seconds, rules.decimals)
    return Verdict(right, "equal by algebra" if right else "not equal by algebra")


def _formula(reading: Reading, keep: Reading) -> Formula:
    """What algebra gets: the right-hand side of ``x = ...`` if the other side is no equation, else everything."""
    shape = reading.shape
    relation = _RELATION.search(keep.text) is not None
    if isinstance(shape, Number) and not (reading.variable and relation):
        return Formula(_latex(shape.value), shape.unit)
    if isinstance(shape, Formula) and not (reading.variable and relation):
        return shape
    if reading.variable and not relation:
        return Formula(*split_unit(reading.right_side))
    return Formula(*split_unit(reading.text))


def _latex(value: Fraction) -> str:
    """An exact value as algebra cannot misread it: not ``5 000``, ``1e3`` or ``2 1/3``."""
    return str(value) if value.denominator == 1 else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
