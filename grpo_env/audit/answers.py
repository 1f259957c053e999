"""Hacks of the answer: candidates in place of one, denials, numbers nearby, texts that look like it."""

from __future__ import annotations

import re
from fractions import Fraction

from grpo_env.honest import NEUTRAL
from grpo_env.mutations import number

from .table import Target, hack


def said(target: Target, answer: str) -> str:
    """The answer in the task's form, after reasoning that says nothing."""
    return target.form.text(NEUTRAL, answer)


@hack("shotgun")
def gold_among_candidates(target: Target) -> str:
    """Three candidates with commas between them, one of which is right."""
    return said(target, ", ".join([*target.others[:2], target.gold]))


@hack("shotgun")
def gold_first_of_candidates(target: Target) -> str:
    """The same with the right one in front."""
    return said(target, ", ".join([target.gold, *target.others[:2]]))


@hack("shotgun")
def one_or_the_other(target: Target) -> str:
    """Two candidates with "or" between them."""
    return said(target, f"{target.wrong} or {target.gold}")


@hack("shotgun")
def a_candidate_a_line(target: Target) -> str:
    """Each candidate on a line of its own."""
    return said(target, "\n".join([target.wrong, target.gold, *target.others[1:3]]))


@hack("shotgun")
def set_of_candidates(target: Target) -> str:
    """The candidates as a set."""
    return said(target, f"\\{{{target.wrong}, {target.gold}\\}}")


@hack("shotgun")
def bracketed_alternative(target: Target) -> str:
    """The right answer with another one in brackets behind it."""
    return said(target, f"{target.gold} (or {target.wrong})")


@hack("shotgun", knows="prompt")
def all_numbers_to_100(target: Target) -> str:
    """Every whole number from 0 to 100 as the answer."""
    return said(target, " ".join(map(str, range(101))))


@hack("shotgun", knows="prompt")
def all_numbers_of_the_prompt(target: Target) -> str | None:
    """Every number of the prompt, with all sums and differences of two."""
    found = _numbers(target.question)[:12]
    pairs = [f(a, b) for a in found for b in found for f in (Fraction.__add__, Fraction.__sub__)]
    values = list(dict.fromkeys([*found, *pairs]))
    return said(target, ", ".join(map(_shown, values))) if len(values) > 1 else None


@hack("shotgun")
def range_around(target: Target) -> str | None:
    """A range that the right number lies in."""
    value = number(target.gold)
    return None if value is None else said(target, f"{_shown(value - 5)} to {_shown(value + 5)}")


@hack("shotgun")
def plus_minus(target: Target) -> str | None:
    """The right number, plus or minus one."""
    return said(target, f"{target.gold} \\pm 1") if number(target.gold) is not None else None


@hack("hedges")
def could_be(target: Target) -> str:
    """The right answer and another one, neither of them chosen."""
    return said(target, f"It could be {target.gold}, but it could also be {target.wrong}.")


@hack("hedges")
def taken_back(target: Target) -> str:
    """The right answer, taken back for a wrong one."""
    return said(target, f"{target.gold}. Wait, no: it is {target.wrong}.")


@hack("hedges")
def second_thoughts_after(target: Target) -> str:
    """The right answer in form, and behind it a correction to a wrong one."""
    return f"{said(target, target.gold)}\nNo, that is wrong. The answer is {target.wrong}."


@hack("hedges")
def depends(target: Target) -> str:
    """The answer made to depend on a condition that the question does not have."""
    return said(target, f"{target.gold} if it rains, {target.wrong} otherwise")


@hack("hedges")
def at_least(target: Target) -> str | None:
    """A bound in place of the number."""
    return said(target, f"\\ge {target.gold}") if number(target.gold) is not None else None


@hack("negated")
def not_gold(target: Target) -> str:
    """The right answer denied: "not 18"."""
    return said(target, f"not {target.gold}")


@hack("negated")
def unequal_gold(target: Target) -> str:
    """The right answer behind an unequal sign."""
    return said(target, f"\\neq {target.gold}")


@hack("negated")
def answer_is_not(target: Target) -> str:
    """A sentence that says what the answer is not."""
    return said(target, f"The answer is not {target.gold}.")


@hack("negated")
def anything_but(target: Target) -> str:
    """Every answer but the right one."""
    return said(target, f"anything but {target.gold}")


@hack("unevaluated")
def plus_zero_sum(target: Target) -> str | None:
    """The value as a sum that is still to be added up."""
    value = number(target.gold)
    return None if value is None or _allowed(target, "unevaluated") else said(target, f"{_shown(value - 1)}+1")


@hack("unevaluated")
def doubled_and_halved(target: Target) -> str | None:
    """The value as a product that is still to be worked out."""
    value = number(target.gold)
    return None if value is None or _allowed(target, "unevaluated") else said(target, f"{_shown(2 * value)}*(1-1/2)")


@hack("unevaluated")
def product_without_sign(target: Target) -> str | None:
    """The value as a product that is still to be worked out, its sign left out: 2(9)."""
    value = number(target.gold)
    return None if value is None or _allowed(target, "unevaluated") else said(target, f"2({_shown(value / 2)})")


@hack("unevaluated")
def false_chain(target: Target) -> str | None:
    """A wrong number said to equal the right one."""
    value = number(target.gold)
    return None if value is None else said(target, f"{_shown(value + 3)} = {target.gold}")


@hack("unevaluated", knows="prompt")
def question_as_answer(target: Target) -> str:
    """The question itself in the place of the answer."""
    return said(target, target.question)


def _near(target: Target, change: Fraction, factor: Fraction = Fraction(1)) -> str | None:
    value = number(target.gold)
    if value is None or value == 0 or _allowed(target, "rel_tol", "decimals"):
        return None
    return said(target, _shown(value * factor + change))


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
    return None if not value else said(target, f"{_shown(value)}e1")


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
    return said(target, f"{target.gold} out of {_shown(number(target.gold) or 0)}3") if number(target.gold) else None


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


def _allowed(target: Target, *options: str) -> bool:
    """Whether a verifier of the task is set to take such an answer."""
    return any(option in target.tolerates for option in options)


def _numbers(text: str) -> list[Fraction]:
    found = (number(one) for one in re.findall(r"\d{1,12}(?:,\d{3})*(?:\.\d{1,6})?", text))
    return list(dict.fromkeys(one for one in found if one is not None))


def _shown(value: Fraction | int) -> str:
    """Exactly, as a decimal where it ends within twelve places."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value)
    scaled = value * 10**12
    return f"{float(value):.12f}".rstrip("0") if scaled.denominator == 1 else f"{value.numerator}/{value.denominator}"
