"""Hacks of the answer: candidates in place of one, denials, values that are still to be worked out."""

from __future__ import annotations

import re
from fractions import Fraction

from grpo_env.check.gold_completion import NEUTRAL
from grpo_env.check.mutations import number

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
    return said(target, ", ".join(map(shown, values))) if len(values) > 1 else None


@hack("shotgun")
def range_around(target: Target) -> str | None:
    """A range that the right number lies in."""
    value = number(target.gold)
    return None if value is None else said(target, f"{shown(value - 5)} to {shown(value + 5)}")


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
    return None if value is None or allowed(target, "unevaluated") else said(target, f"{shown(value - 1)}+1")


@hack("unevaluated")
def doubled_and_halved(target: Target) -> str | None:
    """The value as a product that is still to be worked out."""
    value = number(target.gold)
    return None if value is None or allowed(target, "unevaluated") else said(target, f"{shown(2 * value)}*(1-1/2)")


@hack("unevaluated")
def product_without_sign(target: Target) -> str | None:
    """The value as a product that is still to be worked out, its sign left out: 2(9)."""
    value = number(target.gold)
    return None if value is None or allowed(target, "unevaluated") else said(target, f"2({shown(value / 2)})")


@hack("unevaluated")
def false_chain(target: Target) -> str | None:
    """A wrong number said to equal the right one."""
    value = number(target.gold)
    return None if value is None else said(target, f"{shown(value + 3)} = {target.gold}")


@hack("unevaluated", knows="prompt")
def question_as_answer(target: Target) -> str:
    """The question itself in the place of the answer."""
    return said(target, target.question)


def allowed(target: Target, *options: str) -> bool:
    """Whether a verifier of the task is set to take such an answer."""
    return any(option in target.tolerates for option in options)


def _numbers(text: str) -> list[Fraction]:
    found = (number(one) for one in re.findall(r"\d{1,12}(?:,\d{3})*(?:\.\d{1,6})?", text))
    return list(dict.fromkeys(one for one in found if one is not None))


def shown(value: Fraction | int) -> str:
    """Exactly, as a decimal where it ends within twelve places."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value)
    scaled = value * 10**12
    return f"{float(value):.12f}".rstrip("0") if scaled.denominator == 1 else f"{value.numerator}/{value.denominator}"
