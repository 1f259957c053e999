r"""Answers whose form says how they are compared: general solutions, several equations.

These are looked at only where the ordinary comparison has not said that an answer is right.
"""

from __future__ import annotations

from ..algebra import UnreadableError
from ..compare import compare
from ..normal import normal
from ..parse import parse
from ..verdict import Rules
from .constant_families import same_constant_family
from .equation_lists import same_equations


def same_structure(gold: str, answer: str, rules: Rules) -> bool:
    """Whether an answer as it was written is right, by a form that both have."""
    text = parse(answer).text
    return same_constant_family(gold, text, rules.time) or same_equations(
        gold, text, lambda one, other: _equal(one, other, rules)
    )


def _equal(one: str, other: str, rules: Rules) -> bool:
    """Whether two parts are equal; one that cannot be read equals only the same text."""
    try:
        return compare(parse(one), parse(other), rules).correct
    except UnreadableError:
        return normal(one) == normal(other)
