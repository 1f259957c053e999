"""Which options an answer names, and what it offers beside them."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.kinds.choice import LETTERS, named_options, names_option


@pytest.mark.parametrize(
    ("answer", "letters"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("b)", "B"),
        ("B) 42", "B"),
        ("B. A large iron pot", "B"),
        ("The correct option is B", "B"),
        ("B, because A and C float", "B"),
        ("(B) rather than (C)", "B"),
        ("B (the second one)", "B"),
        ("B, C", "BC"),
        ("B and C", "BC"),
        ("B) 9, C) 12", "BC"),
        ("B, perhaps C", "BC"),
        ("B. Wait, C", "BC"),
        ("A cat", ""),
        ("42", ""),
        ("iron", ""),
        ("", ""),
        ("B is wrong", ""),
    ],
)
def test_named_options(answer: str, letters: str) -> None:
    named = named_options(answer, LETTERS)
    assert (named.letters, named.more) == (frozenset(letters), False)


@pytest.mark.parametrize(
    "answer", ["B or 42", "B, perhaps 42", "B / unsure", "B (or none)", "B or else iron", "B or C"]
)
def test_an_answer_beside_the_options(answer: str) -> None:
    assert named_options(answer, LETTERS).more


@pytest.mark.parametrize(
    "text",
    ["B", "(B)", "[B]", "B.", "B) 42", "(B) 42", "B, because it floats", "option B", "the correct answer is B", "**B**",
     r"\text{B}", r"$\mathrm{(B)}$", "B: iron", "most likely B", "B - iron"],
)  # fmt: skip
def test_a_letter_on_its_own(text: str) -> None:
    assert names_option(text)


@pytest.mark.parametrize(
    "text", ["Because it floats", "b", "42", "42 (B)", "iron", "ABC", "A1", "the iron", "A being", ""]
)
def test_no_letter_on_its_own(text: str) -> None:
    assert not names_option(text)
