"""Labelled steps and the numbers around step scores. Equations have a table of their own."""

from __future__ import annotations

from typing import Any

import pytest

from grpo_env.core import Completion, Example, Format
from grpo_env.verifiers.process import EquationSteps, LabelledSteps

TEXT = "<think>\nfirst\n\n  second \n</think>\n<answer>\n5\n</answer>"


def labelled(labels: Any, text: str = TEXT, **options: Any) -> Any:
    return LabelledSteps("labels", **options)(Example("x", info={"labels": labels}), Completion(text))


def test_labels_go_to_lines() -> None:
    score = labelled([1, -0.5])
    assert score.value == 0.25
    assert [(TEXT[step.start : step.end], step.value) for step in score.steps] == [("first", 1.0), ("second", -0.5)]


def test_labels_of_a_text_without_reasoning_block() -> None:
    assert len(labelled([1, 0, 1], "a\nb\nc").steps) == 3
    assert len(labelled([1] * 7, "<think>\na\n</think>\nb\nc\nd\ne", format=Format(reasoning=None)).steps) == 7


@pytest.mark.parametrize("labels", [[1], [1, 1, 1], [], None, "11", [1, "0"], [1, float("nan")]])
def test_labels_that_do_not_fit_leave_the_completion_unscored(labels: Any) -> None:
    score = labelled(labels)
    assert (score.value, score.status, score.steps) == (None, "not_applicable", ())
    assert score.explanation


def test_problems_are_found_before_scoring() -> None:
    assert LabelledSteps("labels").problem(Example("x", info={"labels": [1, 2]})) is None
    assert "'labels'" in str(LabelledSteps("labels").problem(Example("x")))
    assert EquationSteps().problem(Example("x")) is None
    assert "'equations'" in str(EquationSteps(expected="equations").problem(Example("x")))


def test_a_missing_column_of_expected_equations_is_unscored() -> None:
    assert EquationSteps(expected="equations")(Example("x"), Completion("1+1=2")).status == "not_applicable"


def test_too_many_steps() -> None:
    assert EquationSteps()(Example("x"), Completion("1+1=2\n" * 2000)).status == "over_limit"
