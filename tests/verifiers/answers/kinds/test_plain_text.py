"""Texts are equal after normalization, and different otherwise."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.kinds.plain_text import plain, same_text


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("Paris", "paris"),
        ("Paris", "**Paris**."),
        ("Paris", r"\text{Paris}"),
        ("Paris", '"Paris"'),
        ("the Eiffel Tower", "Eiffel Tower"),
        ("New  York", "New York"),
        ("3-1", "3\u20131"),
        ("H2O", r"\mathrm{H_2O}".replace("_", "")),
        ("4:30 p.m.", "4:30 pm"),
        ("10 x 15", "10 \u00d7 15"),
        ("it's", "it\u2019s"),
        ("x -> y", r"x \to y"),
    ],
)
def test_the_same_text(gold: str, answer: str) -> None:
    assert same_text(gold, answer)
    assert same_text(answer, gold)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("Paris", "Lyon"),
        ("Paris", "Paris or Lyon"),
        ("Paris", "not Paris"),
        ("red, blue", "blue, red"),
        ("cat", "cats"),
        ("Jos\u00e9", "Jose"),
        ("aB3x", "ab3x"),
        ("Aa", "AA"),
        ("3-1", "2"),
        ("007", "7"),
        ("4:30 pm", "4:30 am"),
        ("Dr. Smith", "Smith"),
    ],
)
def test_different_texts(gold: str, answer: str) -> None:
    assert not same_text(gold, answer)
    assert not same_text(answer, gold)


def test_options() -> None:
    assert not same_text("CO", "Co")
    assert not same_text("Paris", "paris", ignore_case=False)
    assert not same_text("the Tower", "Tower", ignore_article=False)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        (r"\text{a b}", "a b"),
        ("$x$", "x"),
        ("`f()`", "f()"),
        ("**a**", "a"),
        ("A\u207b", "A^-"),
        (" a  b ", "a b"),
        ("?", "?"),
    ],
)
def test_the_plain_spelling(text: str, spelling: str) -> None:
    assert plain(text) == spelling
