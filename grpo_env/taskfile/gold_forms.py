"""Forms of gold answers that accuracy does not compare as they are meant: units, rounded values, programs, lists."""

from __future__ import annotations

import ast
import re
import textwrap
from fractions import Fraction

SOME = 0.2  # the fraction of the gold answers from which on they are said to have a form
MOST = 0.9  # of the gold answers have to be readable by a verifier for it to be proposed
TESTS = ("tests", "test", "asserts")  # columns with the tests of programs
MOST_CODE = 20_000  # characters of a program
LONGEST = 160  # characters of a number
_LONG = re.compile(r"-?\d*\.\d{8,}")
_STATEMENT = re.compile(r"^\s*(?:def|class|for|while|if|return|import|from|with)\b|^\s*\w+ [-+*/]?= ", re.MULTILINE)


def has_physical_unit(gold: str) -> bool:
    """Whether a gold answer is a number with a unit of measurement (``12 cm``), and not ``$18`` or ``12 apples``."""
    from grpo_env.verifiers.answers.math.normal import normal
    from grpo_env.verifiers.answers.quantities.number import OverLimitError, read_number
    from grpo_env.verifiers.answers.quantities.unit_names import MEASURES

    try:
        number = read_number(normal(gold)) if len(gold) <= LONGEST else None
    except OverLimitError:
        return False
    return number is not None and bool(number.unit) and all(word in MEASURES for word, _ in number.unit)


def is_program(text: str) -> bool:
    """Whether a text is Python with at least one statement that is more than an expression."""
    if len(text) > MOST_CODE or not _STATEMENT.search(text) or "\n" not in text.strip():
        return False
    try:
        return bool(ast.parse(textwrap.dedent(text).strip("\n")).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def as_fraction(gold: str) -> str | None:
    """The fraction with a small denominator of which a long decimal is the rounded value."""
    if not _LONG.fullmatch(gold) or len(gold) > LONGEST:
        return None
    value = Fraction(gold)
    fraction = value.limit_denominator(1000)
    digits = len(gold.partition(".")[2])
    units = 2 if digits > 15 else Fraction(1, 2)  # of the last digit; a float is not right to its last one
    if fraction == value or abs(fraction - value) > units / 10**digits:
        return None
    return f"{fraction.numerator}/{fraction.denominator}"


def list_template(variable: str) -> str:
    """The gold answer of a column with lists in some rows, and single answers in others, as a list."""
    return f"{{{{ ({variable} if {variable} is sequence and {variable} is not string else [{variable}]) | tojson }}}}"
