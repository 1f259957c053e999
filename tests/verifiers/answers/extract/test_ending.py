"""Where a base model goes on with a question of its own: what follows is no part of its answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grpo_env.verifiers.answers.extract.ending import before_new_question


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The answer is 18.\n\nQuestion: What is 2+2?\nThe answer is 4.", "The answer is 18."),
        ("18\nQ: What is 2+2?\nA: 4", "18"),
        ("18\n**Question 2:** What is 2+2?", "18"),
        ("18\nProblem 3: What is 2+2?", "18"),
        ("18\nUser: thanks", "18"),
        ("18\nHuman: thanks", "18"),
        ("18\n### Instruction\nAdd 2 and 2.", "18"),
        ("18<|im_start|>user\nthanks", "18"),
        ("18<start_of_turn>user\nthanks", "18"),
        ("18 [INST] thanks [/INST]", "18"),
        ("18\nQ", "18"),
        ("18\nQuestion:", "18"),
        ("18<|endoftext|>", "18"),
        ("18</s>\n\n  Q:\n<|pad|> <|pad|><eoa>\n", "18"),
        ("18", None),
        ("The question: is it 18?", None),
        ("Question: What is 9*2?\n18", None),
        ("18 eggs. Questions: none", None),
        ("18\nQuality: good", None),
        ("18\nUsers: 5", None),
        ("## Problem\nWe add.\n18", None),
    ],
)
def test_the_text_before_a_new_question(text: str, kept: str | None) -> None:
    assert before_new_question(text).strip() == (text if kept is None else kept)


@pytest.mark.parametrize("unit", ["\n", "\n Q", "\nQ ", "</s>", "<|pad|>"])
@pytest.mark.parametrize("end", ["Q>", " Q:", "x>", "</s>"])
def test_long_texts_take_linear_time(unit: str, end: str, long_text: Callable[[str], str]) -> None:
    text = long_text(unit) + end
    assert text.startswith(before_new_question(text))
