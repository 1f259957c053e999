"""Yes, no, true and false, with the reason behind them."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.kinds.truth import is_truth, names_truth, same


@pytest.mark.parametrize(
    ("gold", "answer", "with_reason"),
    [
        ("yes", "yes", False),
        ("yes", "Yes.", False),
        ("no", "No!", False),
        ("True", "true", False),
        ("True", "Yes.", False),  # TheoremQA
        ("False", "No.", False),
        ("no", "No, it sinks.", True),
        ("no", "No. A stone sinks in water.", True),
        ("yes", "Yes - the coin is still heads up.", True),
        ("yes", "Yes because it was flipped twice.", True),
    ],
)
def test_the_same(gold: str, answer: str, with_reason: bool) -> None:
    assert is_truth(gold)
    assert same(gold, answer, ignore_case=True) == (True, with_reason)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("yes", "no"),
        ("yes", "Yes, or no."),
        ("yes", "Yes, but it is not certain."),
        ("yes", "Yes, it cannot sink."),
        ("no", "No, yes."),
        ("no", "No, that is true."),
        ("no", "No idea."),
        ("no", "Not sure"),
        ("yes", "Yes, no, maybe"),
        ("no", "no, yes, true, false"),
        ("yes", "I think yes"),
        ("true", "It is true"),
        ("yes", "yesterday"),
    ],
)
def test_different(gold: str, answer: str) -> None:
    assert not same(gold, answer, ignore_case=True)[0]


def test_case_may_count() -> None:
    assert same("True", "True", ignore_case=False)[0]
    assert not same("True", "true", ignore_case=False)[0]


def test_which_texts_begin_with_one() -> None:
    for text in ("Yes", "no, it sinks", "**True**", r"\text{false}"):
        assert names_truth(text)
    for text in ("It is true", "north", "", "maybe yes"):
        assert not names_truth(text)
