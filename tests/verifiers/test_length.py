"""Length in tokens: the papers' formulas by hand (``cases/lengths.jsonl``), and what must hold for every length."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Group, Verifier, score_groups
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import make_verifier
from grpo_env.verifiers.length import CosineLength, LengthRank, Overlong, TargetLength
from grpo_env.verifiers.parts_and_gates import Part

from .tables import check_all, read

RIGHT = {"of": {"accuracy": {}}}
LENGTHS = st.integers(0, 10_000)
TEXTS = st.lists(st.tuples(st.sampled_from(["4", "5", ""]), st.none() | LENGTHS), min_size=1, max_size=8)


def values(verifier: Verifier, group: Any, answer: str | None = "4") -> list[float | None]:
    completions = [Completion(text, num_tokens=tokens) for text, tokens in group]
    (scores,) = score_groups(verifier, [Group(Example("x", answer=answer), completions)])
    assert all(score.explanation for score in scores)
    assert all(score.status == "not_applicable" or answer is None for score in scores if score.value is None)
    return [score.value for score in scores]


def test_table() -> None:
    check_all(read("lengths").items(), check_row)


def check_row(row: dict[str, Any]) -> None:
    verifier = make_verifier(row["verifier"], row["options"], "table")
    assert values(verifier, row["group"], row["answer"]) == [
        value if value is None else pytest.approx(value, abs=1e-12) for value in row["values"]
    ]


@given(first=LENGTHS, second=LENGTHS, maximum=st.integers(1, 10_000), fraction=st.floats(0, 1))
def test_overlong_never_increases_and_stays_within_bounds(
    first: int, second: int, maximum: int, fraction: float
) -> None:
    verifier = Overlong(maximum, buffer=int(fraction * maximum))
    short, long = (value or 0.0 for value in values(verifier, [("", min(first, second)), ("", max(first, second))]))
    assert -1 <= long <= short <= 0
    assert (short == 0) == (min(first, second) <= maximum - int(fraction * maximum))


@given(length=LENGTHS, target=st.integers(1, 10_000))
def test_a_target_is_paid_by_the_distance_from_it(length: int, target: int) -> None:
    same, mirrored = values(TargetLength(target), [("", length), ("", max(0, 2 * target - length))])
    assert same == pytest.approx(mirrored if length <= 2 * target else 0.0)
    assert same == pytest.approx(1 - min(1, abs(target - length) / target))


def test_a_target_in_words_or_characters_ignores_tags() -> None:
    text = "<think>\n一二 and three\n</think>\n<answer>abc</answer>"
    assert values(TargetLength(5, unit="word"), [(text, 99)]) == [1.0]  # two Chinese ones, and, three, abc
    assert values(TargetLength(4, unit="character"), [(" <answer> abcde </answer> ", None)]) == [0.75]
    with pytest.raises(UsageError, match="target must be at least 1, not 0"):
        TargetLength(0)


@given(first=LENGTHS, second=LENGTHS, maximum=st.integers(1, 10_000))
def test_cosine_falls_for_correct_and_rises_for_wrong_completions(first: int, second: int, maximum: int) -> None:
    verifier = make_verifier("cosine_length", {**RIGHT, "max_tokens": maximum}, "test")
    short, long = min(first, second), max(first, second)
    correct = [value or 0.0 for value in values(verifier, [("4", short), ("4", long)])]
    wrong = [value or 0.0 for value in values(verifier, [("5", short), ("5", long)])]
    assert 1 >= correct[0] >= correct[1] >= 0.5
    assert -1 <= wrong[0] <= wrong[1] <= -0.5
    assert correct[0] - 0.75 == pytest.approx(-0.75 - wrong[0])  # the default values are mirror images


@given(group=TEXTS)
def test_ranks_follow_the_paper(group: list[tuple[str, int | None]]) -> None:
    lengths = [tokens for _, tokens in group if tokens is not None]
    spread = max(lengths, default=0) - min(lengths, default=0)
    expected = []
    for text, tokens in group:
        rank = 0.0 if tokens is None or spread == 0 else 0.5 - (tokens - min(lengths)) / spread
        expected.append(None if tokens is None else rank if text == "4" else min(0.0, rank))
    assert values(make_verifier("length_rank", RIGHT, "test"), group) == expected


def test_groups_are_ranked_separately() -> None:
    verifier = make_verifier("length_rank", RIGHT, "test")
    groups = [
        Group(Example("a", answer="4"), [Completion("4", num_tokens=1), Completion("4", num_tokens=2)]),
        Group(Example("b", answer="4"), [Completion("4", num_tokens=1000), Completion("4", num_tokens=2000)]),
    ]
    assert [[score.value for score in scores] for scores in score_groups(verifier, groups)] == [[0.5, -0.5]] * 2


def test_a_score_keeps_the_answer_the_gold_and_the_explanation() -> None:
    score = make_verifier("length_rank", RIGHT, "test")(Example("x", answer="4"), Completion("4", num_tokens=9))
    assert (score.answer, score.gold, score.part("accuracy").value) == ("4", "4", 1.0)
    assert "correct with 9 tokens" in score.explanation


def test_a_bad_gold_answer_is_a_problem_of_the_example() -> None:
    assert "accuracy" in str(make_verifier("cosine_length", RIGHT, "test").problem(Example("x")))


ACCURACY = Part("accuracy", Overlong(1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Overlong(0), "max_tokens must be at least 1"),
        (lambda: Overlong(10, buffer=11), "buffer must be between 0 and max_tokens"),
        (lambda: Overlong(10, buffer=-1), "buffer must be between 0 and max_tokens"),
        (lambda: CosineLength((ACCURACY,), max_tokens=0), "max_tokens must be at least 1"),
        (lambda: LengthRank((Part("accuracy", Overlong(1), 2.0),)), "only parts of a sum have weights"),
        (lambda: make_verifier("cosine_length", {"max_tokens": 5}, "t"), "needs a mapping of verifiers"),
    ],
)
def test_invalid_options_are_usage_errors(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_the_cosine_equals_that_of_the_paper() -> None:
    """CosFn(t, T, low, high) = low + (high - low) * (1 + cos(pi t / T)) / 2, from ``high`` at t = 0 to ``low`` at T."""
    verifier = make_verifier("cosine_length", {**RIGHT, "max_tokens": 7, "correct": [3.0, -2.0]}, "test")
    for tokens in range(8):
        expected = -2.0 + 5.0 * 0.5 * (1 + math.cos(tokens * math.pi / 7))
        assert values(verifier, [("4", tokens)]) == [pytest.approx(expected)]
