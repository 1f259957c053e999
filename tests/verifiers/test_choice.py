"""The table of letters and integers, and properties of every text."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers.choice import Choice, IntegerAnswer

from .tables import check_all, read

FRAGMENTS = [*"ABCb().,-1²\n", " ", "or", "cat", "\\boxed{", "}", "\\text{", "\u0131"]


def test_rows() -> None:
    check_all(read("choices").items(), check_row)


def check_row(row: dict[str, Any]) -> None:
    score = find(row["verifier"])(**row["options"])(Example("x", answer=row["gold"]), Completion(row["completion"]))
    assert score.value == row["value"], f"{row['why']}: {score}"
    assert score.status == row.get("status", "scored"), f"{row['why']}: {score}"
    assert score.explanation


@given(parts=st.lists(st.sampled_from(FRAGMENTS), max_size=12), gold=st.sampled_from("ABC"))
@settings(deadline=None)
def test_at_most_one_letter_is_correct(parts: list[str], gold: str) -> None:
    completion = Completion(f"<answer>{''.join(parts)}</answer>")
    values = [Choice(letters="ABC")(Example("x", answer=letter), completion).value for letter in "ABC"]
    assert sorted(filter(None, values)) in ([], [1.0])
    assert IntegerAnswer()(Example("x"), completion).value in (0, 1)


@given(letter=st.sampled_from("ABCD"), gold=st.sampled_from("ABCD"), text=st.text(max_size=30))
@settings(deadline=None)
def test_a_labeled_option_counts_as_its_letter_whatever_its_text(letter: str, gold: str, text: str) -> None:
    if set("ABCDabcd()<>\\") & set(unicodedata.normalize("NFKC", text)):
        return
    score = Choice()(Example("x", answer=gold), Completion(f"<answer>({letter}) {text}</answer>"))
    assert score.value == (letter == gold)


@given(number=st.integers(-(10**30), 10**30), form=st.sampled_from(["{}", "{:,}", "{:+}", " {}\r\n", "{}."]))
def test_every_integer_is_accepted(number: int, form: str) -> None:
    completion = Completion(f"<answer>{form.format(number)}</answer>")
    assert IntegerAnswer()(Example("x"), completion).value == 1


@given(number=st.decimals(-1000, 1000, places=2))
def test_decimals_are_no_integers(number: object) -> None:
    assert IntegerAnswer()(Example("x"), Completion(f"<answer>{number}</answer>")).value == 0


def test_a_bad_gold_answer_is_a_problem_of_the_example() -> None:
    assert Choice().problem(Example("x", answer="(C)")) is None
    assert "'42' is not one of A, B, C, D" in str(Choice().problem(Example("x", answer="42")))
    assert "is not one of" in str(Choice().problem(Example("x")))


@pytest.mark.parametrize("letters", ["", "A", "AA", "Aa", "A B", "A-D", "[]"])
def test_invalid_letters_are_refused(letters: str) -> None:
    with pytest.raises(UsageError, match="letters must be two or more"):
        Choice(letters=letters)


@pytest.mark.parametrize(
    "unit", ["A", "C) ", "(C", "1", "1,", "-", "²", "\\boxed{C}", "The answer is C. ", "\n", "option "]
)
@pytest.mark.parametrize("tag", ["<answer>{}</answer>", "{}"])
def test_long_texts_take_linear_time(unit: str, tag: str, long_text: Callable[[str], str]) -> None:
    completion = Completion(tag.format(long_text(unit)))
    for verifier in (Choice(), IntegerAnswer(Format(reasoning=None))):
        assert verifier(Example("x", answer="B"), completion).value == 0
