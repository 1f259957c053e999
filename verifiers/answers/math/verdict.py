"""What a task may set about comparing, and what comes out: a verdict with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Literal, NamedTuple, TypeAlias

from .algebra import TimeLimit

Notation: TypeAlias = Literal["flexible", "strict"]
Unevaluated: TypeAlias = Literal["wrong", "correct"]
Brackets: TypeAlias = Literal["optional", "required"]
Percent: TypeAlias = Literal["equal", "strict"]

Reason: TypeAlias = Literal[  # of right answers, then of wrong ones
    "the same text", "the same number", "the same number, one as a percentage", "equal within rel_tol",
    "equal when rounded to decimals", "the same words", "the same choice", "the same elements", "the same date",
    "the same value", "equal by algebra",
    "a different number", "a different unit", "a different date", "a different value", "a different text",
    "a different answer", "a different choice",
    "no date that can be read",
    "words where a number or formula was expected", "a number or formula where words were expected",
    "a different kind of answer", "a different number of elements", "different elements",
    "several answers where one was expected", "one answer where several were expected",
    "the value of another variable", "not equal by algebra", "not evaluated",
    "several different answers", "the text denies it", "several answers, or a doubt", "a range",
]  # fmt: skip


@dataclass(slots=True)  # not frozen, since one is made for each verdict
class Rules:
    """What a task may set about comparing, see ``Accuracy``; and the time for the comparisons by these rules."""

    rel_tol: float | None = None
    decimals: int | None = None
    percent: Percent = "equal"
    ignore_case: bool = True
    notation: Notation = "flexible"
    unevaluated: Unevaluated = "wrong"
    brackets: Brackets = "optional"
    is_fixed: bool = False
    """Whether the task names the kind of the gold answers."""
    time: TimeLimit = field(default_factory=TimeLimit)

    @property
    def exact(self) -> bool:
        """Whether numbers have to be equal."""
        return self.rel_tol is None and self.decimals is None

    def close(self, one: Fraction, other: Fraction) -> Reason | None:
        """Why two different numbers count as equal, or ``None``."""
        if self.rel_tol and abs(one - other) <= Fraction(str(self.rel_tol)) * max(abs(one), abs(other)):
            return "equal within rel_tol"
        if self.decimals is None or _roundings(one, self.decimals).isdisjoint(_roundings(other, self.decimals)):
            return None
        return "equal when rounded to decimals"


def _roundings(value: Fraction, decimals: int) -> set[int]:
    """A value rounded to so many decimals, as a multiple of the last one; ties both away from zero and to even."""
    scaled = value * 10**decimals
    away = floor(abs(scaled) + Fraction(1, 2))
    return {away if scaled >= 0 else -away, round(scaled)}


class Verdict(NamedTuple):
    """Whether the answer is correct, and why; ``rule`` names what accepted it."""

    correct: bool
    reason: Reason | str
    rule: str = ""
