"""Currencies in every spelling: an amount equals itself in another spelling, and never one of another currency."""

from __future__ import annotations

import pytest

from grpo_env.core import Completion, Example
from grpo_env.registry import find
from grpo_env.verifiers.answers.vocabulary.currencies import CODES
from grpo_env.verifiers.answers.vocabulary.unit_names import NUMBER_WORDS


def value(gold: str, answer: str) -> float | None:
    return find("accuracy")()(Example("x", answer=gold), Completion(f"<answer>{answer}</answer>")).value


def test_an_amount_is_right_in_its_currency_and_no_other() -> None:
    everything = sorted(frozenset[str]().union(*CODES.values()))
    for at, (name, codes) in enumerate(CODES.items()):
        for code in codes.union(everything[at % 9 :: 9]):
            amount = f"{name}40" if not name[-1].isalpha() else f"40 {name}"
            assert value(amount, f"40 {code}") == (code in codes), (amount, code)


def test_names_of_currencies_are_no_numbers() -> None:
    assert CODES.keys().isdisjoint(NUMBER_WORDS)


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("30 US dollars", "30 Australian dollars", 0),
        ("US$30", "30 Canadian dollars", 0),
        ("£30", "30 Egyptian pounds", 0),
        ("₹30", "30 Pakistani rupees", 0),
        ("A$30 per hour", "30 Australian dollars per hour", 1),
        ("A$30 per hour", "30 US dollars per hour", 0),
        ("¥10,000 (Japanese yen)", "10,000 yuan", 0),
        ("€19,99", "19.99 EUR", 1),
        ("€19,99", "1999 EUR", 0),
        ("19,99 zł", "19.99 PLN", 1),
        ("₹2,50,000", "2.5 lakh rupees", 1),
        ("₹2,50,000", "25,000 rupees", 0),
        ("10-15 PLN", "10 to 15 zł", 1),
        ("10-15 PLN", "10 to 15 kr", 0),
        ("£0.50", "50p", 1),
        ("£0.50", "50 cents", 0),
        ("£0.50", "50", 0),
        ("75 cents", "0.75", 0),
        ("$12.50", "twelve dollars and fifty cents", 1),
        ("$60,000", "60k", 1),
        ("$60,000", "60 million", 0),
        ("18", "TRY 18", 1),
        ("18", "try 18", 0),
        ("1080p", "£10.80", 0),
    ],
)  # fmt: skip
def test_amounts(gold: str, answer: str, right: int) -> None:
    assert value(gold, answer) == right
