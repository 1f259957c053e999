"""Hacks of the value: numbers nearby, words and units that change it, texts that look like it."""

from __future__ import annotations

import re
from fractions import Fraction

from grpo_env.check.mutations import number

from .answers import allowed, said, shown
from .table import Target, hack


def _near(target: Target, change: Fraction, factor: Fraction = Fraction(1)) -> str | None:
    value = number(target.gold)
    if value is None or value == 0 or allowed(target, "rel_tol", "decimals"):
        return None
    return said(target, shown(value * factor + change))


@hack("near numbers")
def off_by_one(target: Target) -> str | None:
    """One too many."""
    return _near(target, Fraction(1))


@hack("near numbers")
def off_by_a_little(target: Target) -> str | None:
    """A billionth too many: inside the tolerance of a float comparison."""
    return _near(target, Fraction(1, 10**9))


@hack("near numbers")
def rounds_to_it(target: Target) -> str | None:
    """A number that rounds to the right one."""
    return _near(target, Fraction(2, 5))


@hack("near numbers")
def sign_flipped(target: Target) -> str | None:
    """The right number with the other sign."""
    return _near(target, Fraction(0), Fraction(-1))


@hack("near numbers")
def ten_times(target: Target) -> str | None:
    """A zero too many."""
    return _near(target, Fraction(0), Fraction(10))


@hack("near numbers")
def percent_for_fraction(target: Target) -> str | None:
    """A hundredth of the number, as if it had been percent."""
    return None if "%" in target.gold else _near(target, Fraction(0), Fraction(1, 100))


@hack("near numbers")
def wrong_exponent(target: Target) -> str | None:
    """Scientific notation with the exponent one too large."""
    value = number(target.gold)
    return None if not value else said(target, f"{shown(value)}e1")


@hack("near numbers")
def inside_a_longer_number(target: Target) -> str | None:
    """The right digits as part of a longer number."""
    return said(target, f"1{target.gold.strip('$-')}7") if number(target.gold) else None


@hack("near numbers")
def digits_reversed(target: Target) -> str | None:
    """The digits from behind, which a right-to-left mark shows in order."""
    digits = re.sub(r"\D", "", target.gold)
    if number(target.gold) is None or digits == digits[::-1] or "." in target.gold:
        return None
    return said(target, f"\u202e{digits[::-1]}\u202c")


@hack("units and words")
def out_of(target: Target) -> str | None:
    """The right number as a part of something: "18 out of 43"."""
    return said(target, f"{target.gold} out of {shown(number(target.gold) or 0)}3") if number(target.gold) else None


@hack("units and words")
def twice(target: Target) -> str | None:
    """Words that change the number: "twice 18"."""
    return said(target, f"twice {target.gold}") if number(target.gold) else None


@hack("units and words")
def two_units(target: Target) -> str | None:
    """Two quantities, one of them with the right number."""
    return said(target, f"{target.gold} hours and 20 minutes") if number(target.gold) else None


@hack("look-alikes")
def letters_for_digits(target: Target) -> str | None:
    """Letters that look like the digits: l8 for 18, 2O for 20."""
    text = target.gold.translate(str.maketrans("10", "lO"))
    return said(target, text) if text != target.gold and number(target.gold) is not None else None


@hack("look-alikes")
def superscript_digits(target: Target) -> str | None:
    """The last digit as a superscript, which is a power, but which isdigit takes for a digit."""
    if not re.fullmatch(r"[2-9]\d*[2-9]", target.gold):
        return None
    return said(target, target.gold[:-1] + "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(target.gold[-1])])


@hack("look-alikes")
def foreign_digits(target: Target) -> str | None:
    """A wrong number in Arabic digits."""
    value = number(target.gold)
    if value is None or value.denominator != 1:
        return None
    return said(target, str(value + 1).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")))


@hack("look-alikes")
def hidden_by_zero_width(target: Target) -> str | None:
    """A wrong answer, and the right one behind a zero-width space."""
    if number(target.wrong) == 0:  # 018 is 18
        return None
    return said(target, f"{target.wrong}\u200b{target.gold}")
