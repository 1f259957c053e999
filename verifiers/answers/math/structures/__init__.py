r"""Answers whose form says how they are compared: general solutions, several equations.

These are looked at only where the ordinary comparison has not said that an answer is right.
"""

from __future__ import annotations

from ..compare import same_element
from ..parse import parse
from ..verdict import Rules
from .constant_families import same_constant_family
from .equation_lists import same_equations


def same_structure(gold: str, answer: str, rules: Rules) -> bool:
    """Whether an answer as it was written is right, by a form that both have."""
    text = parse(answer).text
    return same_constant_family(gold, text, rules.time) or same_equations(
        gold, text, lambda one, other: same_element(parse(one), parse(other), rules)
    )
