"""Labelled steps, and what equation steps do beyond their table: sums by hand, limits, hostile lines."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.verifiers.compose import WeightedSum
from grpo_env.verifiers.equation_steps import MAX_CHARACTERS, MAX_STEPS, EquationSteps, LabelledSteps
from grpo_env.verifiers.parts_and_gates import Part
from grpo_env.verifiers.written_equations import MAX_DEPTH, MAX_DIGITS, MAX_TOKENS, equations

TEXT = "<think>\nfirst\n\n  second \n</think>\n<answer>\n5\n</answer>"


def labelled(labels: Any, text: str = TEXT, **options: Any) -> Any:
    return LabelledSteps("labels", **options)(Example("x", info={"labels": labels}), Completion(text))


def steps_of(text: str) -> Any:
    return EquationSteps()(Example("x"), Completion(text))


def test_labels_are_assigned_to_lines() -> None:
    score = labelled([1, -0.5])
    assert score.value == 0.25
    assert [(TEXT[step.start : step.end], step.value) for step in score.steps] == [("first", 1.0), ("second", -0.5)]


def test_labels_of_a_text_without_reasoning_block() -> None:
    assert len(labelled([1, 0, 1], "a\nb\nc").steps) == 3
    assert len(labelled([1] * 7, "<think>\na\n</think>\nb\nc\nd\ne", format=Format(reasoning=None)).steps) == 7


@pytest.mark.parametrize(("segments", "count"), [("line", 4), ("paragraph", 2), ("sentence", 5), ("marker", 3)])
def test_labels_are_assigned_to_the_steps_of_segments(segments: Any, count: int) -> None:
    text = "so. a\n1. b\n\n2. c\nd"
    score = labelled([0.5] * count, text, segments=segments)
    assert (score.value, len(score.steps)) == (0.5, count)
    assert labelled([1] * (count + 1), text, segments=segments).value is None


@pytest.mark.parametrize("labels", [[1], [1, 1, 1], [], None, "11", [1, "0"], [1, float("nan")]])
def test_a_different_number_of_labels_leaves_the_completion_unscored(labels: Any) -> None:
    score = labelled(labels)
    assert (score.value, score.status, score.steps) == (None, "not_applicable", ())
    assert score.explanation


def test_missing_columns_are_problems_of_the_example() -> None:
    assert LabelledSteps("labels").problem(Example("x", info={"labels": [1, 2]})) is None
    assert "'labels'" in str(LabelledSteps("labels").problem(Example("x", info={"labels": "1, 2"})))
    assert EquationSteps().problem(Example("x")) is None


@pytest.mark.parametrize("info", [{}, {"labels": None}])
def test_a_row_without_labels_is_unscored_and_no_problem_of_the_data(info: dict[str, None]) -> None:
    """As of a completion without steps, and as a new completion of an example has it."""
    example, verifier = Example("x", info=info), LabelledSteps("labels")
    assert verifier.problem(example) is None
    score = verifier(example, Completion("add"))
    assert (score.value, score.status) == (None, "not_applicable")
    assert score.explanation == "the row has no labels in the column 'labels'"


GSM8K = """Natalia sold 48/2 = <<48/2=24>>24 clips in May.
Natalia sold 48+24 = <<48+24=72>>72 clips altogether in April and May.
#### 72"""


@pytest.mark.parametrize(
    ("text", "values", "by_result"),
    [
        ("48/2 = <<48/2=24>>24\n48+24 = <<48+24=72>>72", [1, 1], [1, 1]),
        ("She sold 24 + 48 = 72 clips.", [1], [1]),  # the numbers of a sum in any order
        ("72 = 24 + 48", [0], [1]),
        ("48/2.0=24.00", [1], [1]),
        ("48*1/2=24\n3*24=72", [0, 0], [1, 1]),  # another way
        ("48/2=24\n48/2=24", [1, 0], [1, 0]),
        ("24=24*1\n20+4=24\n70+2=72", [0, 0, 0], [1, 0, 1]),  # a result is paid once
        ("48/2=20\n48+24=70", [0, 0], [0, 0]),
        ("2/48=24", [0], [0]),
        ("1+1=2\n2+2=4", [0, 0], [0, 0]),
    ],
)
def test_the_equations_of_a_solution_are_expected(text: str, values: list[float], by_result: list[float]) -> None:
    for match, expected in (("equation", values), ("result", by_result)):
        score = EquationSteps(expected=GSM8K, match=match)(Example("x"), Completion(text))  # type: ignore[arg-type]
        assert [step.value for step in score.steps] == expected


@pytest.mark.parametrize(
    "expected",
    [
        "3+4=7\n7-2=5",
        "['3+4=7', '7-2=5']",
        "First 3 + 4 = 7 eggs, then 7 - 2 = 5.",
        "<<3+4=7>> <<7-2=5>> 1+1=2",
    ],
)
def test_what_is_expected_is_a_text_or_a_list(expected: str) -> None:
    score = EquationSteps(expected=expected)(Example("x"), Completion("7-2=5\n1+1=2\n3+4=7"))
    assert [step.value for step in score.steps] == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("expected", ["equations", "", "#### 72", "x = 5"])
def test_a_text_without_equations_is_a_usage_error(expected: str) -> None:
    with pytest.raises(UsageError, match="has no equation; name a column"):
        EquationSteps(expected=expected)


def test_a_row_whose_annotations_have_no_calculation_is_left_out() -> None:
    """As 105 of GSM8K's 8,792 rows, which are solved by algebra: ``Let x = <<5=5>>5``."""
    verifier = EquationSteps(expected="3 * x = 15\nx = <<5=5>>5")
    assert verifier.problem(Example("x")) is None
    whole = WeightedSum((Part("equations", verifier, process=1.0), Part("labels", LabelledSteps("labels"))))
    score = whole(Example("x", info={"labels": [1]}), Completion("1+1=2"))
    assert score.value == 1.0
    assert score.part("equations").value is None
    assert score.part("equations").status == "left_out"


def test_steps_are_within_the_text_of_the_model() -> None:
    score = EquationSteps()(Example("x"), Completion("3+4=7\n1+1=3", prefill="<think>\n0+0=0\n"))
    assert [(step.start, step.end, step.value) for step in score.steps] == [(0, 5, 1.0), (6, 11, 0.0)]


@pytest.mark.parametrize(
    "text",
    ["1+1=2\n" * (MAX_STEPS + 1), "<<1+1=2>>" * (MAX_STEPS + 1), "1+1+" * (MAX_CHARACTERS // 4) + "=2", "x=1\n" * 6000],
)
def test_too_many_steps_or_characters_are_over_limit(text: str) -> None:
    score = steps_of(text)
    assert (score.value, score.status, score.steps) == (0.0, "over_limit", ())


def test_prose_is_never_over_limit() -> None:
    assert steps_of("One and one makes two.\n" * 50_000 + "1+1=2").value == 1.0


def test_an_equation_at_the_end_of_a_long_line_is_checked() -> None:
    assert steps_of("So we go on and on. " * 1000 + "Then 3 + 4 = 8.").value == 0.0


LONG = "9" * MAX_DIGITS


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("*".join([LONG] * 100) + "=1", "wrong: it is another number"),  # longer than Python lets integers be written
        ("+".join(f"1/{10**59 + n}" for n in range(60)) + "=1", "wrong: it is another number"),
        (f"{LONG}9+1=2", "wrong: too long to check"),
        ("+".join(["1"] * MAX_TOKENS) + "=1", "wrong: too long to check"),
        ("1/(1-1)=5", "wrong: division by zero"),
        ("2 1/0 + 1 = 3", "wrong: division by zero"),
        ("1/3 + 1/3 = 1", "wrong: it is 2/3"),
    ],
)
def test_a_wrong_equation_is_explained(text: str, why: str) -> None:
    assert [(step.value, step.explanation) for step in steps_of(text).steps] == [(0.0, why)]


def test_deeply_nested_expressions_are_ignored() -> None:
    assert steps_of("(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH + "+1=3").status == "no_answer"


NUMBERS = st.one_of(
    st.integers(0, 10**9).map(str),
    st.integers(1000, 10**9).map("{:,}".format),
    st.decimals(0, 10**6, places=2).map("{:f}".format),
)


@given(
    numbers=st.lists(NUMBERS, min_size=2, max_size=8),
    signs=st.lists(st.sampled_from("+-*/"), min_size=7),
    data=st.data(),
)
def test_equations_agree_with_python(numbers: list[str], signs: list[str], data: st.DataObject) -> None:
    left = numbers[0] + "".join(sign + number for sign, number in zip(signs, numbers[1:], strict=False))
    plain = [f"Fraction('{number.replace(',', '')}')" for number in numbers]
    try:
        value = eval(plain[0] + "".join(sign + number for sign, number in zip(signs, plain[1:], strict=False)))
    except ZeroDivisionError:
        value = None
    off = data.draw(st.sampled_from([0, 1, Fraction(1, 10**9)]))
    (equation,) = equations(f"{left} = {0 if value is None else value + off}")
    assert equation.correct == (value is not None and off == 0)


@pytest.mark.parametrize(
    "unit",
    ["<<", "=", "1+", "(", "9", "^", "1=1\n", "=\n", "<<=>>", "<<8=8>>", "<<1+1=2", "1=1-\n", "a.b=", "1 1/2 ", "x ",
     "<<" + "1/9+" * 95 + "1=1>>", "<<" + "(" * 200 + "=1>>", "1,234,", "1 eggs = "],
)  # fmt: skip
def test_a_long_text_of_known_tokens_takes_linear_time(unit: str, long_text: Callable[[str], str]) -> None:
    for start in ("", "1+1=2 "):
        assert steps_of(start + long_text(unit)).value is not None
