"""The further readings, each with what it accepts and what is near and wrong."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grpo_env.core import Completion, Example
from grpo_env.registry import find
from grpo_env.verifiers.answers.rules import inner_text, only_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Jimmy tiene $18", 18),
        ("7 dozen", 7),
        ("She has 1,250 eggs left", 1250),
        ("It costs $3.50", "7/2"),
        ("So, 4", 4),
        ("The price is 1/2 dollar", "1/2"),
    ],
)
def test_a_statement_with_one_number_is_that_number(text: str, value: int | str) -> None:
    number = only_number(text)
    assert number is not None
    assert number.value == Fraction(value)


@pytest.mark.parametrize(
    "text",
    ["18 or 19", "She has 18 eggs and 2 hens", "maybe 18", "not 18", "more than 18", "18 more eggs", "between 18",
     "x = 18", "18 + y", "about 18?", "18th", "twice 18", "two of 18", "no eggs", "18x", "3^18", "(18"],
)  # fmt: skip
def test_what_is_no_statement_with_one_number(text: str) -> None:
    assert only_number(text) is None


def test_the_text_inside_of_a_command() -> None:
    assert inner_text(r"\text{18}") == "18"
    assert inner_text(r"$\mathbf{B}$") == "B"
    assert inner_text(r"\text{a} + b") is None
    assert inner_text("18") is None


@pytest.mark.parametrize(
    ("gold", "answer", "rule"),
    [
        ("18", "Jimmy tiene $18.", "one number"),
        ("18", "Jimmy tiene $19.", ""),
        ("18", "Jimmy tiene $18 y 2 gatos.", ""),
        (r"\emptyset", "no solution", "no solution"),
        (r"\emptyset", r"\{0\}", ""),
        ("A, B", "AB", "letters"),
        ("A, B", "AC", ""),
        ("A, B", "ABB", ""),
        ("y=C_1e^x+C_2e^{-x}", "y=Ae^{-x}+Be^x", "structure"),
        ("y=C_1e^x+C_2e^{-x}", "y=Ae^{-x}+Be^{2x}", ""),
    ],
)
def test_the_rule_that_decides(gold: str, answer: str, rule: str) -> None:
    score = find("accuracy")()(Example("x", answer=gold), Completion(f"<answer>{answer}</answer>"))
    assert (score.value, score.rule) == (float(bool(rule)), rule), score
