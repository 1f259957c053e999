"""Properties of every text: no exception, symmetric verdicts on numbers, spacing does not matter, linear time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format, Verifier
from grpo_env.registry import find
from grpo_env.verifiers.accuracy import Accuracy
from grpo_env.verifiers.answers.math.compare import compare
from grpo_env.verifiers.answers.math.normal import normal
from grpo_env.verifiers.answers.math.parse import parse
from grpo_env.verifiers.answers.math.verdict import Rules
from grpo_env.verifiers.answers.quantities.number import read_number
from grpo_env.verifiers.answers.quantities.units import same_unit

ALL: list[Verifier] = [
    find("accuracy")(timeout=0.5),
    find("strict_format")(),
    find("strict_format")(newlines="required"),
    find("soft_format")(),
    find("tag_count")(),
    find("reasoning_steps")(),
    find("equation_steps")(),
    find("labelled_steps")(column="labels"),
]
GOLDS = ["5", r"\frac{x}{2}", "(1,2)", "even", r"\{1,2\}", "x<2", "12 cm", "$18"]

WORDS = r"""
<think> </think> <answer> </answer> \boxed{ } { \frac \sqrt \pm \cup \begin{pmatrix} \end{pmatrix} \text{ $ ** ####
1 2 12 0.5 1,000 ½ x y = < + - * / ^ _ ! % ° , ; : . ( ) [ ] \{ \} \in \le <<1+1=2>> answer is A: or and not cm
"""
FRAGMENTS = st.sampled_from([*WORDS.split(), "\n", " ", "\r\n", "\x00", "\ud800", "The answer is ", "Step 1: "])
TEXTS = st.one_of(st.text(max_size=80), st.lists(FRAGMENTS, max_size=25).map("".join))
NUMBERS = st.one_of(
    st.integers(-(10**12), 10**12).map(str),
    st.decimals(-1000, 1000, places=3).map(str),
    st.tuples(st.integers(-99, 99), st.integers(1, 99)).map(lambda pair: f"{pair[0]}/{pair[1]}"),
    st.tuples(st.integers(-99, 99), st.integers(1, 99)).map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
    st.tuples(st.integers(-99, 99), st.integers(-9, 9)).map(lambda pair: f"{pair[0]}e{pair[1]}"),
    st.integers(-99, 99).map(lambda number: f"{number}%"),
    st.integers(0, 99).map(lambda number: f"${number}"),
)


@given(text=TEXTS, gold=st.sampled_from(GOLDS), prefill=st.sampled_from(["", "<think>\n"]))
@settings(deadline=None)
def test_nothing_raises(text: str, gold: str, prefill: str) -> None:
    example, completion = Example("x", answer=gold, info={"labels": [1, 0]}), Completion(text, prefill=prefill)
    for verifier in ALL:
        score = verifier(example, completion)
        assert score.value is None or 0 <= score.value <= 1
        assert all(0 <= step.start <= step.end <= len(text) for step in score.steps)


@given(gold=TEXTS)
@settings(deadline=None)
def test_no_gold_answer_raises(gold: str) -> None:
    example = Example("x", answer=gold)
    verifier = Accuracy(timeout=0.5)
    problem, score = verifier.problem(example), verifier(example, Completion(r"\boxed{5}"))
    assert problem is None or isinstance(problem, str)
    assert score.status != "error"


@given(first=NUMBERS, second=NUMBERS)
def test_numbers_compare_symmetrically(first: str, second: str) -> None:
    correct = compare(parse(first), parse(second), Rules()).correct
    assert correct == compare(parse(second), parse(first), Rules()).correct
    first_number, second_number = read_number(normal(first)), read_number(normal(second))
    assert first_number is not None
    assert second_number is not None
    assert correct == (first_number.value == second_number.value and same_unit(first_number.unit, second_number.unit))


@given(top=st.integers(-(10**6), 10**6), bottom=st.integers(1, 10**6))
def test_fractions_have_their_value(top: int, bottom: int) -> None:
    for text in (f"{top}/{bottom}", rf"\frac{{{top}}}{{{bottom}}}", rf"\dfrac {{{top}}} {{{bottom}}}"):
        number = read_number(normal(text))
        assert number is not None
        assert number.value == Fraction(top, bottom)


@given(value=st.decimals(-(10**9), 10**9, places=4))
def test_decimals_have_their_value(value: object) -> None:
    number = read_number(normal(f"{value:,}"))
    assert number is not None
    assert number.value == Fraction(str(value))


@given(answer=st.sampled_from(["5", "7/2", r"\frac{1}{2}", "(1,2)", r"\{3,1\}", "even", "4"]), data=st.data())
def test_outer_white_space_does_not_matter(answer: str, data: st.DataObject) -> None:
    space = data.draw(st.text(" \n\t\r", max_size=4))
    for gold in ("5", "3.5", "0.5", "(1,2)", "1,3", "even"):
        example = Example("x", answer=gold)
        plain = Accuracy()(example, Completion(f"<answer>{answer}</answer>"))
        spaced = Accuracy()(example, Completion(f"{space}<answer>{space}{answer}{space}</answer>{space}"))
        assert (plain.value, plain.status) == (spaced.value, spaced.status)


@pytest.mark.parametrize("text", ["is C.", "It is C.", "Likely C.", "This is option C.", "(C) It will fall."])
def test_white_space_behind_a_letter_does_not_matter(text: str) -> None:
    plain, *spaced = [Accuracy()(Example("x", answer="C"), Completion(text + end)) for end in ("", " ", " \n", "\n")]
    assert {(score.value, score.answer) for score in spaced} == {(plain.value, plain.answer)}


@pytest.mark.parametrize(
    "unit",
    ["a", r"\boxed{", r"\boxed{1}", "<think>", "<answer>1</answer>", "the answer is ", "A: 5\n", "#### 5\n", "1+1=",
     "**5**", "1+1=2\n", "Step 1: ", "9", "1,234,", "(", "$", "First, we go. ", "\n", " ", "\\",
     r"\boxed 5", r"\frac1", "<b>", "½"],
)  # fmt: skip
def test_long_texts_take_linear_time(unit: str, long_text: Callable[[str], str]) -> None:
    assert Accuracy(timeout=0.5)(Example("x", answer="5"), Completion(long_text(unit))).status != "error"


def data(name: str) -> list[dict[str, object]]:
    folder = os.environ.get("GRPO_ENV_DATA")
    if not folder or not (Path(folder) / name).exists():
        pytest.skip(f"set GRPO_ENV_DATA to a folder with {name}")
    return [json.loads(line) for line in (Path(folder) / name).read_text().splitlines()]


def test_verdicts_on_gsm8k_solutions_are_those_of_the_data_set() -> None:
    verifier = Accuracy(format=Format(reasoning=None, answer=None))
    for row in data("gsm8k_model_solutions.jsonl"):
        example = Example("x", answer=str(row["ground_truth"]).rpartition("A:")[2])
        for model in ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"):
            solution = row[model]
            assert isinstance(solution, dict)
            assert verifier(example, Completion(solution["solution"])).value == solution["is_correct"], solution


def respaced(text: str) -> str:
    """A LaTeX text with white space between all its tokens, where that has no meaning."""
    parts = re.split(r"(\\(?:text|mbox|begin|end)\s?\{[^{}]*\}|\{,\}|\\[A-Za-z]+\s*|\\.|[\d.,]+|[A-Za-z]+|\s+)", text)
    tokens = [part for part in parts if part.strip()]
    return " ".join(token.strip() for token in tokens)


@pytest.mark.parametrize("name", ["math500.jsonl", "math_groups.jsonl"])
def test_every_math_gold_accepts_itself(name: str) -> None:
    for row in data(name):
        gold = str(row["answer"])
        example = Example("x", answer=gold)
        assert Accuracy().problem(example) is None
        spellings = [gold, respaced(gold), f"${gold}$", f"\\boxed{{{gold}}}", f"  {gold}."]
        spellings += [gold.replace("\\frac", f"\\{prefix}frac") for prefix in "dt"]
        for spelling in spellings:
            assert Accuracy()(example, Completion(rf"so $\boxed{{{spelling}}}$")).value == 1, (gold, spelling)


def test_every_math500_solution_is_a_gold_that_accepts_its_answer() -> None:
    for row in data("math500.jsonl"):
        score = Accuracy()(Example("x", answer=str(row["solution"])), Completion(rf"\boxed{{{row['answer']}}}"))
        assert score.value == 1, (row["solution"], score)


def test_every_gsm8k_solution_is_a_gold_that_accepts_its_number() -> None:
    for row in data("gsm8k_test.jsonl"):
        solution = str(row["answer"])
        example = Example("x", answer=solution)
        assert Accuracy().problem(example) is None
        number = solution.rpartition("####")[2].strip()
        assert Accuracy()(example, Completion(rf"\boxed{{{number}}}")).value == 1
        assert Accuracy()(example, Completion(rf"\boxed{{{number}1}}")).value == 0
