"""The numbers of a report against enumeration, hand arithmetic and the standard library."""

import statistics
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.results.report.groups import Member, group_kind, is_misranked, majority, steps_differ
from grpo_env.results.report.measures import (
    correlation,
    distribution,
    trend,
    variance_fractions,
)
from grpo_env.results.report.shown_completions import SAMPLES, Samples


def floats(*values):
    return np.array(values, dtype=float)


# maj@k


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([("1", 1), (" 1", 1), ("2", 0)], 1),
        ([("1", 1), ("2", 0), ("2", 0)], 0),
        ([("1", 1), ("2", 0)], 0.5),
        ([("1", 1), ("1", 0), ("2", 0)], 0.5),  # the same text, judged differently
        ([("1", 1), (None, 0), (None, 0), (" ", 0)], 1),
        ([(None, 0), (None, 0)], 0),
    ],
)
def test_the_most_frequent_answer_is_as_correct_as_its_verdicts(answers, expected):
    assert majority([Member(metric, metric, answer) for answer, metric in answers]) == expected


# Variance


def test_variance_fractions_by_hand():
    # total 0 1 2 3, mean 1.5, sum of squares 5; the part 0 0 2 2 has with it -1.5*0 - 0.5*0 + 0.5*2 + 1.5*2 = 4.
    total = floats(0, 1, 2, 3, nan)
    fractions = variance_fractions({"a": floats(0, 0, 2, 2, 7), "b": floats(0, 1, 0, 1, nan)}, total)
    assert fractions == pytest.approx({"a": 0.8, "b": 0.2})
    assert variance_fractions({"a": floats(1, 1)}, floats(0.3, 0.1 + 0.2)) == {}
    assert variance_fractions({"a": floats(nan)}, floats(nan)) == {}


@given(st.lists(st.tuples(*[st.floats(-10, 10).map(lambda x: round(x, 3))] * 3), min_size=2, max_size=20))
def test_variance_fractions_of_a_sum_add_up_to_one(rows):
    parts = {name: floats(*values) for name, values in zip("abc", zip(*rows, strict=True), strict=True)}
    fractions = variance_fractions(parts, sum(parts.values()))
    assert not fractions or sum(fractions.values()) == pytest.approx(1, abs=1e-6)


def test_correlation_is_pearsons():
    x, y = [1.0, 2.0, 3.0, 5.0], [2.0, 1.0, 4.0, 3.0]
    assert correlation(floats(*x, nan), floats(*y, 1)) == pytest.approx(statistics.correlation(x, y))
    assert correlation(floats(1, 2), floats(1, 2)) is None
    assert correlation(floats(1, 2, 3), floats(1, 1, 1)) is None


# Bins


def test_few_values_are_counted_individually_and_many_in_ranges():
    assert distribution(floats(0, 1, 1, nan, 0.1 + 0.2, 0.3)) == (("0", "0.3", "1"), (1, 2, 2))
    assert distribution(np.arange(100.0), bins=4).counts == (25, 25, 25, 25)


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 100, ("0 to 25", "25 to 50", "50 to 75", "75 to 100")),
        (-1, 0, ("-1.00 to -0.75", "-0.75 to -0.50", "-0.50 to -0.25", "-0.25 to 0.00")),
        (-0.0014, 2.0, ("0.00 to 0.50", "0.50 to 1.00", "1.00 to 1.50", "1.50 to 2.00")),
        (1000.2, 1440.3, ("1000 to 1110", "1110 to 1220", "1220 to 1330", "1330 to 1440")),
        (1.1, 1.14, ("1.100 to 1.110", "1.110 to 1.120", "1.120 to 1.130", "1.130 to 1.140")),
    ],
)
def test_ranges_are_named_with_the_digits_that_tell_them_apart(low, high, labels):
    assert distribution(np.linspace(low, high, 50), bins=4).labels == labels


def test_a_trend_is_the_mean_in_quantile_bins():
    result = trend(floats(*range(10), nan), floats(*[0] * 5, *[1] * 5, 9), bins=2)
    assert result[:2] == ((2, 7), (0, 1))
    assert trend(floats(1, 2, 3), floats(0, 1, 1), bins=2)[:2] == ((1, 2.5), (0, 1))  # an edge begins the next bin
    assert trend(floats(3, 3), floats(0, 1))[:2] == ((3,), (0.5,))
    assert trend(floats(nan), floats(1))[:2] == ((), ())


# Groups


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([Member(1, 1), Member(0, 0)], "mixed"),
        ([Member(1, 1), Member(1, 1)], "all correct"),
        ([Member(0.2, 0), Member(0.2, 0)], "all wrong"),
        ([Member(1, 1), Member(1, 0)], "masked signal"),  # the metric differs
        (
            [Member(1, 0, None, {"a": 1, "b": 0}), Member(1, 0, None, {"a": 0, "b": 1})],
            "masked signal",
        ),  # parts cancel out
        ([Member(1, 1), Member(None, None)], "masked signal"),  # a single reward has nothing to be compared with
        ([Member(1, 1), Member(1, 1), Member(None, None)], "all correct"),
        ([Member(1, None), Member(1, None)], "masked signal"),
        ([Member(1, 1)], "single"),
    ],
)
def test_group_kinds(members, expected):
    assert group_kind(members) == expected


def test_misranked_groups_reward_a_wrong_completion_more_than_a_correct_one():
    assert is_misranked([Member(0.5, 1), Member(0.7, 0)])
    assert not is_misranked([Member(0.7, 1), Member(0.7, 0)])
    assert not is_misranked([Member(0.7, 0), Member(0.5, 0)])


def test_steps_that_differ_within_a_group():
    assert steps_differ([Member(0, 0, steps=(1, 0)), Member(0, 0, steps=(1,))])
    assert not steps_differ([Member(0, 0, steps=(1, 1)), Member(None, None, steps=(0,))])


# Samples


@given(st.lists(st.integers(0, 5), min_size=1))
def test_the_highest_rewards_are_those_of_sorting(totals):
    samples = Samples()
    for index, total in enumerate(totals):
        samples.offer({"total": total, "index": index}, total, None)
        samples.end_group()
    shown = [row["index"] for row in samples.by_heading(mean=0)["Highest rewards"]]
    assert shown == sorted(range(len(totals)), key=lambda index: -totals[index])[:SAMPLES]


def test_samples_of_groups_are_ranked_by_their_distance_from_the_mean_and_others_by_reward():
    samples = Samples()
    for totals in [(2.0, 2.0), (0.3, 0.1 + 0.2), (0.0, 1.0), (0.0, 0.0, 0.0, 1.0), (5.0,)]:
        for total in totals:
            samples.offer({"total": total, "of": totals}, total, None)
        samples.end_group()
    sections = samples.by_heading(mean=1.0)
    assert [row["of"] for row in sections["Furthest above the mean of the group"]] == [(0, 0, 0, 1), (0, 1)]  # .75, .5
    assert [row["of"] for row in sections["Furthest below the mean of the group"]] == [(0, 1), (0, 0, 0, 1)]  # .5, .25
    assert "Highest rewards" not in sections
    alone = Samples()
    for total in (1.0, 3.0, 2.0):
        alone.offer({"total": total}, total, None)
        alone.end_group()
    assert [row["total"] for row in alone.by_heading(mean=2.0)["Highest rewards"]] == [3, 2, 1]


def test_samples_are_of_different_prompts():
    samples = Samples()
    for prompt in range(3):
        for completion in range(4):
            total = float(prompt + completion)
            samples.offer({"prompt": prompt, "total": total}, total, float(completion == 0))
        samples.end_group()
    sections = samples.by_heading(mean=2.5)
    assert [row["total"] for row in sections["Furthest above the mean of the group"]] == [3, 4, 5]
    assert [row["total"] for row in sections["Furthest below the mean of the group"]] == [0, 1, 2]
    assert [row["total"] for row in sections["Correct, low reward"]] == [0, 1, 2]
    assert [row["total"] for row in sections["Wrong, high reward"]] == [5, 4, 3]
    assert [row["total"] for row in samples.by_heading(mean=1)["Correct, low reward"]] == [0]
    assert [row["total"] for row in samples.by_heading(mean=4)["Wrong, high reward"]] == [5]
