"""Which stated texts may be the letter of an option."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.extract.options import names_option


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
