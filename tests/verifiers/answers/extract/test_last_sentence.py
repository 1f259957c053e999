"""What a last sentence names is one text, whatever the gold answer is."""

from __future__ import annotations

import pytest

from grpo_env.core import Completion, Example
from grpo_env.verifiers.accuracy import Accuracy
from grpo_env.verifiers.answers.extract.last_sentence import named


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("The team that won is Lyon.", "Lyon"),
        ("So Lyon is older.", "Lyon"),
        ("The lion is the animal that hunts in groups.", "The lion"),
        ("The most recent place of Ben is the hall.", "the hall"),
        ("So Lyon is the Boston.", "the Boston"),
        ("Lyon is the boston.", "Lyon"),
    ],
)
def test_a_sentence_names_its_complement_or_what_it_describes(sentence: str, name: str) -> None:
    assert (named(sentence) or "").rstrip(".") == name


@pytest.mark.parametrize(
    "text",
    [
        "So Lyon is Boston.",
        "So Lyon is the Boston.",
        "Lyon is the Boston.",
        "So lyon is the boston.",
        "So Lyon has boston.",
    ],
)
def test_no_sentence_is_right_for_two_gold_answers(text: str) -> None:
    scores = [Accuracy()(Example("", answer=gold), Completion(text)).value for gold in ("Lyon", "Boston")]
    assert sum(score or 0.0 for score in scores) <= 1.0
