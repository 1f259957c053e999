"""Numbers with decimal commas: the setting ``decimal: comma``."""

from __future__ import annotations

import pytest

from grpo_env.core import Completion, Example
from grpo_env.registry import find
from grpo_env.verifiers.answers.comma import with_points


@pytest.mark.parametrize(
    ("text", "with_point"),
    [
        ("33,75", "33.75"),
        ("9.612", "9612"),
        ("1.234.567,8", "1234567.8"),
        ("18", "18"),
        ("-0,5 kg", "-0.5 kg"),
        (r"\frac{1,5}{2}", r"\frac{1.5}{2}"),
        ("2,5; 3,5", "2.5; 3.5"),
        ("(2, 3)", "(2, 3)"),
        ("1.2.3", "1.2.3"),
        ("12.3456", "12.3456"),
        ("x,y", "x,y"),
    ],
)
def test_the_same_text_with_points(text: str, with_point: str) -> None:
    assert with_points(text) == with_point


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("33,75", "33,75", 1),
        ("33,75", "33,750", 1),
        ("9.612", "9612", 1),
        ("9612", "9.612", 1),
        ("1/2", "0,5", 1),
        ("33,75", "3375", 0),
        ("33,75", "33,57", 0),
        ("0,35", "0,35%", 0),
        ("9.612", "9,612", 0),
    ],
)
def test_verdicts(gold: str, answer: str, right: int) -> None:
    verifier = find("accuracy")(decimal="comma")
    assert verifier(Example("x", answer=gold), Completion(f"<answer>{answer}</answer>")).value == right
