"""The twelve reward functions of examples/rewards.py, each compared with the verifier that pays for the same thing.

Values of both are computed by hand, from what the tutorials and the catalogue say. Where they differ, the docstring
of the function must say so.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from grpo_env.core import Completion
from grpo_env.taskfile.task import load_task

TASK = Path(__file__).parent.parent / "examples/rewards.yaml"

FORM = "<think>\n3*4=12\n</think>\n<answer>\n12\n</answer>"
TWO_LINES = "<think>\n3*4=12\nso 12\n</think>\n<answer>\n12\n</answer>\n"
WORDS = "we count all of the eggs in a row and then we take away those that she eats for breakfast"  # 20 words

# part of the task, its completion, gold answer, value of the function, value of the verifier times the weight
ROWS = [
    ("correctness", "accuracy", 2, FORM, "12", 2.0, 2.0),
    ("correctness", "accuracy", 2, FORM, "13", 0.0, 0.0),
    ("correctness", "accuracy", 2, "<answer>$12.0</answer>", "12", 0.0, 2.0),
    ("correctness", "accuracy", 2, "<answer>1,000</answer>", "1000", 0.0, 2.0),
    ("correctness", "accuracy", 2, "12", "12", 2.0, 2.0),
    ("whole_number", "whole_number", 0.5, FORM, "12", 0.5, 0.5),
    ("whole_number", "whole_number", 0.5, "<answer>twelve</answer>", "12", 0.0, 0.0),
    ("whole_number", "whole_number", 0.5, "<answer>-5</answer>", "12", 0.0, 0.5),
    ("whole_number", "whole_number", 0.5, "<answer>1,000</answer>", "12", 0.0, 0.5),
    ("whole_number", "whole_number", 0.5, "<answer>5²</answer>", "12", 0.5, 0.0),
    ("strict_format", "strict_format", 0.5, FORM + "\n", "12", 0.5, 0.5),
    ("strict_format", "strict_format", 0.5, FORM + "\nBye.", "12", 0.0, 0.0),
    ("strict_format", "strict_format", 0.5, FORM, "12", 0.0, 0.5),
    ("strict_format", "strict_format", 0.5, TWO_LINES, "12", 0.0, 0.5),
    ("soft_format", "soft_format", 0.5, "<think>3*4=12</think> <answer>12</answer>", "12", 0.5, 0.5),
    ("soft_format", "soft_format", 0.5, "12", "12", 0.0, 0.0),
    ("soft_format", "soft_format", 0.5, "<think></think><answer></answer>", "12", 0.5, 0.0),
    ("soft_format", "soft_format", 0.5, TWO_LINES, "12", 0.0, 0.5),
    ("soft_format", "soft_format", 0.5, "<think>3*4=12</think> So 12.", "12", 0.0, 0.5 * 0.4),
    ("xml_count", "xml_count", 0.5, FORM + "\n", "12", 0.5, 0.5),
    # The whole text is 45 characters, less one line end for the fourth tag: .125 - .045 + .125 + .001
    ("xml_count", "xml_count", 0.5, FORM, "12", 0.5 - 0.045 + 0.001, 0.5),
    # Four characters after "</answer>\n", five after "</answer>", of which one is free: 2 x .004
    ("xml_count", "xml_count", 0.5, FORM + "\nBye.", "12", 0.5 - 0.008, 0.5 - 0.004),
    ("xml_count", "xml_count", 0.5, "a\n<answer>\n" + "b" * 300, "12", 0.125 - 0.311, 0.125),
    ("boxed_letter", "letter", 2, r"<answer>\boxed{C}</answer>", "C", 2.0, 2.0),
    ("boxed_letter", "letter", 2, r"<answer>\boxed{D}</answer>", "C", 0.0, 0.0),
    ("boxed_letter", "letter", 2, r"So it is \boxed{C}.", "C", 0.0, 0.0),
    ("boxed_letter", "letter", 2, "<answer>C</answer>", "C", 0.0, 0.0),
    ("boxed_letter", "letter", 2, r"<answer>\boxed{C} or \boxed{D}</answer>", "C", 2.0, 0.0),
    ("boxed_letter", "letter", 2, r"<answer>\boxed{C}</answer>", "12", None, None),
    ("reasoning_length", "reasoning_length", 1, f"<think>{WORDS}</think>", "12", 0.25, 0.25),
    ("reasoning_length", "reasoning_length", 1, f"<think>{WORDS} {WORDS} {WORDS}</think>", "12", 0.5, 0.5),
    ("reasoning_length", "reasoning_length", 1, WORDS, "12", 0.0, 0.0),
    ("reasoning_length", "reasoning_length", 1, f"<think>{'我们先数鸡蛋。' * 9}</think>", "12", 0.0, 0.5),
    ("reasoning_length", "reasoning_length", 1, f"<think>{'- ' * 100}</think>", "12", 0.75, 0.0),
    ("keywords", "keywords", 1, "<think>The sum of each row is 9.</think>", "12", 0.2, 0.2),
    ("keywords", "keywords", 1, "<think>In summer it rains.</think>", "12", 0.1, 0.0),
    ("keywords", "keywords", 1, "<think>row column sum unique digit clue</think>", "12", 0.5, 0.0),
    ("tag_count", "tag_count", 1, FORM, "12", 1.0, 1.0),
    ("tag_count", "tag_count", 1, "<think>\n3*4=12\n</think>\n<answer>\n12", "12", 0.75, 0.75),
    ("tag_count", "tag_count", 1, "<think>3*4=12</think><answer>12</answer>", "12", 0.0, 1.0),
    ("tag_count", "tag_count", 1, FORM.replace("\n", "\r\n"), "12", 0.25, 1.0),
    ("tag_count", "tag_count", 1, "<think>\n\n</think>\n\n<answer>\n\n</answer>", "12", 1.0, 0.0),
    ("reasoning_steps", "reasoning_steps", 1, "First, we add 2. Next, we add 3. Finally, we add 4.", "12", 1.0, 1.0),
    ("reasoning_steps", "reasoning_steps", 1, "Step 1: add 2\nStep 2: add 3", "12", 2 / 3, 2 / 3),
    ("reasoning_steps", "reasoning_steps", 1, "First,Second,Next,", "12", 1.0, 0.0),
    ("reasoning_steps", "reasoning_steps", 1, "1. add two\n2. add three\n3. add four", "12", 1 / 3, 1.0),
    ("reasoning_steps", "reasoning_steps", 1, "then we add 2. Next we add 3", "12", 0.0, 2 / 3),
    ("repetition", "repetition", 1, "we count the eggs", "12", 0.0, 0.0),
    ("repetition", "repetition", 1, "wait no wait no wait no", "12", -0.5, -0.5),
    ("repetition", "repetition", 1, "等等等等等", "12", 0.0, -2 / 3),
]


@pytest.fixture(scope="module")
def task():
    return load_task(TASK)


@pytest.mark.parametrize(("name", "verifier", "weight", "text", "gold", "theirs", "ours"), ROWS)
def test_a_tutorials_function_and_our_verifier(task, name, verifier, weight, text, gold, theirs, ours):
    score = task.score(text, answer=gold)
    value = score.part(verifier).value
    assert score.part(f"their_{name}").value == (theirs if theirs is None else pytest.approx(theirs))
    assert (value if value is None else weight * value) == (ours if ours is None else pytest.approx(ours))


@pytest.mark.parametrize(
    ("length", "tokens", "gold", "theirs", "ours"),
    [
        (1000, 250, "12", 0.75, 0.75),  # half of 2,000 characters, and of 500 tokens
        (1000, 250, "13", -0.75, -0.75),
        (2000, 500, "12", 0.5, 0.5),
        (3000, 750, "12", 0.75, 0.5),  # beyond the maximum
        (1000, 500, "12", 0.75, 0.5),  # long words and short tokens
        (1000, None, "12", 0.75, None),
    ],
)
def test_the_cosine_of_the_length(task, length, tokens, gold, theirs, ours):
    text = "." * (length - len(FORM)) + FORM
    score = task.score(Completion(text, num_tokens=tokens), answer=gold)
    assert score.part("their_cosine_length").value == pytest.approx(theirs)
    value = score.part("cosine_length").value
    assert value is ours is None or math.isclose(value, ours)


def test_each_function_is_in_the_task_and_the_table(task):
    functions = [verifier.home for verifier in task.verifier.walk() if hasattr(verifier, "home")]
    compared = {name for name, *_ in ROWS} | {"cosine_length"}
    assert {home.rpartition(":")[2] for home in functions} == compared
    assert len(functions) == 12
    assert all(
        "Differs from ``" in type(verifier).__doc__ for verifier in task.verifier.walk() if hasattr(verifier, "home")
    )
