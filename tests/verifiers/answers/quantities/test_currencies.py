"""Currencies: an amount equals itself in another spelling of its currency, and never one of another currency."""

from __future__ import annotations

import pytest

from grpo_env.core import Completion, Example
from grpo_env.registry import find
from grpo_env.verifiers.answers.quantities.currencies import UNITS
from grpo_env.verifiers.answers.quantities.number_words import in_digits


def value(gold: str, answer: str) -> float | None:
    return find("accuracy")()(Example("x", answer=gold), Completion(f"<answer>{answer}</answer>")).value


def amount(name: str) -> str:
    return f"40 {name}" if name[0].isalpha() else f"{name}40"


def test_an_amount_is_right_in_its_currency_and_no_other() -> None:
    names = [name for name in UNITS if name not in ("¢", "us$", "rs")]
    for gold in names:
        for answer in names:
            assert value(amount(gold), amount(answer)) == (UNITS[gold] == UNITS[answer]), (gold, answer)


def test_names_of_currencies_are_no_numbers() -> None:
    assert [name for name in UNITS if in_digits(name) is not None] == []


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("$18", "18", 1),
        ("18", "$18", 1),
        ("$18", "US$18", 1),
        ("$18", "18 dollars", 1),
        ("$18", "18 USD", 1),
        ("$18", "€18", 0),
        ("$18", "£18", 0),
        ("75 cents", "75 ¢", 1),
        ("75 cents", "0.75", 0),
        ("75 cents", "$75", 0),
        ("¥10,000", "10,000 yuan", 0),
        ("€19.99", "19.99 EUR", 1),
        ("€19.99", "1999 EUR", 0),
        ("$60,000", "60 million", 0),
        ("$1.5 million", "1,500,000 dollars", 1),
        ("$1.5 million", "1.5 dollars", 0),
        ("1080p", "£10.80", 0),
    ],
)
def test_amounts(gold: str, answer: str, right: int) -> None:
    assert value(gold, answer) == right
