"""Votes: the table ``cases/agreement.jsonl``, brute-force oracles, and groups made to take long."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Group, Score, score_groups
from grpo_env.taskfile.task import make_verifier
from grpo_env.verifiers.agreement import MAX_COMPARED, Majority

from .tables import check_all, read


def scores(verifier: Any, texts: list[str]) -> list[Score]:
    (group,) = score_groups(verifier, [Group(Example("x"), list(map(Completion, texts)))])
    assert all(score.explanation for score in group)
    return group


def values(verifier: Any, texts: list[str]) -> list[float | None]:
    return [score.value for score in scores(verifier, texts)]


def test_table() -> None:
    check_all(read("agreement").items(), check_row)


def check_row(row: dict[str, Any]) -> None:
    group = scores(make_verifier(row["verifier"], row["options"], "table"), row["group"])
    expected = [value if value is None else pytest.approx(value) for value in row["values"]]
    assert [score.value for score in group] == expected, list(map(str, group))
    if "statuses" in row:
        assert [score.status for score in group] == row["statuses"]


SPELLINGS = {
    Fraction(1, 2): ["1/2", "0.5", r"\boxed{\frac12}", "<answer>0.50</answer>"],
    Fraction(18): ["18", r"\boxed{18.0}", "#### 18", "The answer is $18."],
    Fraction(1000): ["1,000", "1000", r"\boxed{10^3}"],
    None: ["<think>18", "<answer></answer>", r"not \boxed{18}"],
}
VOTES = st.sampled_from(list(SPELLINGS)).flatmap(lambda value: st.sampled_from([(value, t) for t in SPELLINGS[value]]))


@given(votes=st.lists(VOTES, min_size=2, max_size=9))
@settings(max_examples=60)
def test_the_majority_is_the_most_common_value(votes: list[tuple[Fraction | None, str]]) -> None:
    counts = Counter(value for value, _ in votes if value is not None).most_common()
    won = bool(counts) and counts[0][1] > 1 and (len(counts) == 1 or counts[0][1] > counts[1][1])
    expected = [float(won and value is not None and value == counts[0][0]) for value, _ in votes]
    assert values(Majority(), [text for _, text in votes]) == expected


def test_scores_show_the_winning_answer() -> None:
    first, _, third, fourth = scores(Majority(), ["18", "18", "17", "<think>"])
    assert (first.answer, first.gold, first.explanation) == ("18", "18", "2 of 3 votes are for 18")
    assert (third.answer, third.gold) == ("17", "18")
    assert (fourth.status, fourth.gold) == ("no_answer", "18")
    assert "tie with 2 votes" in scores(Majority(), ["1", "1", "2", "2"])[0].explanation


def test_an_answer_equal_to_two_different_ones() -> None:
    """Units may be left out, but cm is not m: the answer without a unit has the most votes, and all three equal it."""
    assert values(Majority(), ["12 cm", "12 m", "12", "13"]) == [1.0, 1.0, 1.0, 0.0]


def test_a_vote_ignores_the_gold_answer() -> None:
    group = Group(Example("x", answer="17"), [Completion("18"), Completion("18"), Completion("17")])
    assert [score.value for score in score_groups(Majority(), [group])[0]] == [1.0, 1.0, 0.0]
    assert Majority().problem(Example("x")) is None


def test_answers_beyond_those_compared_count_by_their_text() -> None:
    texts = [str(number) for number in range(100, 100 + MAX_COMPARED)] * 2 + ["7", "7.0", "8", "8", "8"]
    assert values(Majority(), texts) == [0.0] * (len(texts) - 3) + [1.0] * 3


def test_the_order_does_not_decide_which_answers_are_compared() -> None:
    texts = [str(number) for number in range(800, 800 + MAX_COMPARED)] + ["7", "7.0", "7"]
    assert values(Majority(), texts) == [0.0] * MAX_COMPARED + [1.0] * 3
    assert values(Majority(), texts[::-1]) == [1.0] * 3 + [0.0] * MAX_COMPARED


def test_a_group_of_slow_formulas_is_scored() -> None:
    """What algebra cannot compare in time counts as different; a group may reach few deadlines."""
    texts = [rf"\boxed{{\sin(x)^{{{n}}}\cdot\cos(x^{n})^{{17}}+{n}}}" for n in range(20, 32)]
    texts += [rf"\boxed{{{n}^{{9^{{9}}}}}}" for n in range(2, 8)] + ["1", "1"]
    assert values(Majority(timeout=0.2), texts)[-2:] == [1.0, 1.0]


def test_a_group_of_very_long_texts_is_scored() -> None:
    texts = ["1+1=" * 250_000, "9" * 1_000_000, r"\boxed{" * 140_000, "the answer is " * 70_000, "word " * 200_000]
    assert None not in values(Majority(), texts)
