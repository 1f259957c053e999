"""Whether two numbers are equal, with their units and as percentages: 50 % is 0.5, and 50 with the sign left out."""

from __future__ import annotations

from ..quantities.number import Number
from ..quantities.units import PERCENT, same_unit
from .verdict import Rules, Verdict


def same_number(gold: Number, answer: Number, rules: Rules) -> Verdict:
    if gold.unit or answer.unit:
        left_out = not (gold.unit and answer.unit)
        if not same_unit(gold.unit, answer.unit) or (left_out and not (gold.bare and answer.bare)):
            return Verdict(False, "a different unit")
        if rules.percent == "equal" and (PERCENT in gold.unit) != (PERCENT in answer.unit):
            return _percentage(gold, answer, rules)
    if gold.equals(answer):
        return Verdict(True, "the same number")
    reason = rules.close(gold.value, answer.value)
    return Verdict(True, reason) if reason else Verdict(False, "a different number")


def _percentage(gold: Number, answer: Number, rules: Rules) -> Verdict:
    """The verdict on a percentage and a number: equal values, or the sign of a percentage from 1 % on left out."""
    one, other = (number.value / 100 if PERCENT in number.unit else number.value for number in (gold, answer))
    if one == other or rules.close(one, other):
        return Verdict(True, "the same number, one as a percentage")
    if min(abs(gold.value), abs(answer.value)) >= 1:
        if gold.equals(answer):
            return Verdict(True, "the same number")
        if reason := rules.close(gold.value, answer.value):
            return Verdict(True, reason)
    return Verdict(False, "a different number")
