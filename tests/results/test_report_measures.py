"""The numbers of a report against enumeration, hand arithmetic and the standard library."""

import statistics
from collections import Counter
from itertools import combinations
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.results.report.groups import Member, kind, misranked, steps_differ
from grpo_env.results.report.measures import (
    correlation,
    distribution,
    equal,
    estimate,
    ks,
    pass_at,
    share_of_slowest,
    trend,
    variance_shares,
)
from grpo_env.results.report.samples import Samples, Top
from grpo_env.results.report.votes import count_votes, majority


def floats(*values):
    return np.array(values, dtype=float)


# pass@k


def test_pass_at_k_is_the_share_of_subsets_with_a_right_one():
    groups = {(5, 2): 3, (4, 0): 1, (4, 4): 1}
    for k in (1, 2, 3):
        values = []
        for (size, right), count in groups.items():
            subsets = list(combinations([True] * right + [False] * (size - right), k))
            values += [sum(map(any, subsets)) / len(subsets)] * count
        assert pass_at(groups, k).value == pytest.approx(statistics.fmean(values))
    assert pass_at(groups, 5).groups == 3
    assert pass_at(groups, 6) is None


def test_the_ks_are_powers_of_two_and_the_largest_group():
    assert ks(1) == [1]
    assert ks(6) == [1, 2, 4, 6]
    assert ks(8) == [1, 2, 4, 8]


# maj@k


def enumerated_majority(answers, right, k):
    """The definition, spelt out: over all subsets, the mean over the most frequent answers of how right they are."""
    worth = {answer: [r for a, r in zip(answers, right, strict=True) if a == answer] for answer in answers}
    chances = []
    for subset in combinations(range(len(answers)), k):
        votes = Counter(answers[at] for at in subset if answers[at])
        top = [answer for answer, count in votes.items() if count == max(votes.values())]
        chances.append(statistics.fmean(statistics.fmean(worth[a]) for a in top) if top else 0.0)
    return statistics.fmean(chances)


@given(st.data())
def test_majority_is_its_definition(data):
    answers = data.draw(st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=7))
    right = [float(answer == "a") for answer in answers]
    k = data.draw(st.integers(1, len(answers)))
    votes = count_votes(answers, right)
    silent = sum(answer is None for answer in answers)
    assert majority(votes, silent, k) == pytest.approx(enumerated_majority(answers, right, k))


def test_majority_by_hand():
    votes = count_votes(["1", " 1", "2"], [1.0, 1.0, 0.0])
    assert votes == ((1, 0.0), (2, 1.0))
    assert majority(votes, 0, 1) == pytest.approx(2 / 3)
    assert majority(votes, 0, 2) == pytest.approx((1 + 0.5 + 0.5) / 3)  # 1 and 1; 1 and 2 are a tie, twice
    assert majority(votes, 0, 3) == 1
    assert majority((), 2, 1) == majority((), 2, 2) == 0
    with pytest.raises(ValueError, match="maj@4 needs at least 4"):
        majority(votes, 0, 4)


# Intervals


def test_all_or_nothing_groups_get_wilsons_interval():
    # Newcombe 1998, table I: 81 of 263 by the score method is 0.2553 to 0.3662.
    found = estimate(floats(*[4] * 81, *[0] * 182), floats(*[4] * 263))
    assert found.value == pytest.approx(81 / 263)
    assert found.interval == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert found.groups == 263


def test_the_bootstrap_takes_groups_as_units():
    # 400 groups of 4 with means 0.25 and 0.75: standard error 0.25 / sqrt(400), whatever their number of completions.
    found = estimate(floats(*[1, 3] * 200), floats(*[4] * 400))
    assert found.value == 0.5
    assert found.interval == pytest.approx((0.5 - 1.96 * 0.0125, 0.5 + 1.96 * 0.0125), abs=0.003)
    assert found == estimate(floats(*[1, 3] * 200), floats(*[4] * 400))


def test_groups_of_other_sizes_weigh_by_their_completions_and_empty_ones_not_at_all():
    assert estimate(floats(1, 3, 0), floats(2, 6, 0)).value == 0.5
    assert estimate(floats(1, 3, 0), floats(1, 9, 0)).value == 0.4
    assert estimate(floats(0), floats(0)) is None


# Variance


def test_variance_shares_by_hand():
    # total 0 1 2 3, mean 1.5, sum of squares 5; the part 0 0 2 2 has with it -1.5*0 - 0.5*0 + 0.5*2 + 1.5*2 = 4.
    total = floats(0, 1, 2, 3, nan)
    shares = variance_shares({"a": floats(0, 0, 2, 2, 7), "b": floats(0, 1, 0, 1, nan)}, total)
    assert shares == pytest.approx({"a": 0.8, "b": 0.2})
    assert variance_shares({"a": floats(1, 1)}, floats(0.3, 0.1 + 0.2)) == {}
    assert variance_shares({"a": floats(nan)}, floats(nan)) == {}


@given(st.lists(st.tuples(*[st.floats(-10, 10).map(lambda x: round(x, 3))] * 3), min_size=2, max_size=20))
def test_variance_shares_of_a_sum_add_up_to_one(rows):
    parts = {name: floats(*values) for name, values in zip("abc", zip(*rows, strict=True), strict=True)}
    shares = variance_shares(parts, sum(parts.values()))
    assert not shares or sum(shares.values()) == pytest.approx(1, abs=1e-6)


def test_correlation_is_pearsons():
    x, y = [1.0, 2.0, 3.0, 5.0], [2.0, 1.0, 4.0, 3.0]
    assert correlation(floats(*x, nan), floats(*y, 1)) == pytest.approx(statistics.correlation(x, y))
    assert correlation(floats(1, 2), floats(1, 2)) is None
    assert correlation(floats(1, 2, 3), floats(1, 1, 1)) is None


# Bins


def test_few_values_are_counted_one_by_one_and_many_in_ranges():
    assert distribution(floats(0, 1, 1, nan, 0.1 + 0.2, 0.3)) == (("0", "0.3", "1"), (1, 2, 2))
    found = distribution(np.arange(100.0), bins=4)
    assert found.counts == (25, 25, 25, 25)
    assert found.labels[0] == "0-25"


def test_a_trend_is_the_mean_in_equally_filled_bins():
    found = trend(floats(*range(10), nan), floats(*[0] * 5, *[1] * 5, 9), bins=2)
    assert found == ((2, 7), (0, 1), (5, 5))
    assert trend(floats(1, 2, 3), floats(0, 1, 1), bins=2) == ((1, 2.5), (0, 1), (1, 2))  # an edge begins the next bin
    assert trend(floats(3, 3), floats(0, 1)) == ((3,), (0.5,), (2,))
    assert trend(floats(nan), floats(1)) == ((), (), ())


def test_the_slowest_hundredth_takes_its_share():
    assert share_of_slowest(floats(*[1] * 99, 901)) == pytest.approx(0.901)
    assert share_of_slowest(floats(0, 0)) is None


def test_rewards_are_equal_as_in_training():
    assert equal([0.1 + 0.2, 0.3])
    assert not equal([1.0, 1.0001])


# Groups


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([Member(1, 1), Member(0, 0)], "mixed"),
        ([Member(1, 1), Member(1, 1)], "all right"),
        ([Member(0.2, 0), Member(0.2, 0)], "all wrong"),
        ([Member(1, 1), Member(1, 0)], "starved"),  # the metric differs
        ([Member(1, 0, None, {"a": 1, "b": 0}), Member(1, 0, None, {"a": 0, "b": 1})], "starved"),  # parts cancel out
        ([Member(1, 1), Member(None, None)], "starved"),  # one reward alone has nothing to be compared with
        ([Member(1, 1), Member(1, 1), Member(None, None)], "all right"),
        ([Member(1, None), Member(1, None)], "starved"),
        ([Member(1, 1)], "single"),
    ],
)
def test_what_a_group_can_teach(members, expected):
    assert kind(members) == expected


def test_misranked_groups_pay_a_wrong_one_more_than_a_right_one():
    assert misranked([Member(0.5, 1), Member(0.7, 0)])
    assert not misranked([Member(0.7, 1), Member(0.7, 0)])
    assert not misranked([Member(0.7, 0), Member(0.5, 0)])


def test_steps_that_differ_within_a_group():
    assert steps_differ([Member(0, 0, steps=(1, 0)), Member(0, 0, steps=(1,))])
    assert not steps_differ([Member(0, 0, steps=(1, 1)), Member(None, None, steps=(0,))])


# What is kept to show


@given(st.lists(st.integers(0, 5)), st.integers(1, 4))
def test_the_top_is_what_sorting_gives(keys, size):
    top = Top(size)
    for at, key in enumerate(keys):
        top.offer(key, at)
    assert top.rows() == sorted(range(len(keys)), key=lambda at: -keys[at])[:size]


def test_samples_are_of_different_prompts():
    samples = Samples()
    for prompt in range(3):
        for completion in range(4):
            total = float(prompt + completion)
            samples.offer({"prompt": prompt, "total": total}, total, float(completion == 0))
        samples.end_group()
    shown = samples.shown(mean=2.5)
    assert [row["total"] for row in shown["Best"]] == [5, 4, 3]
    assert [row["total"] for row in shown["Worst"]] == [0, 1, 2]
    assert [row["total"] for row in shown["Right, but paid little"]] == [0, 1, 2]
    assert [row["total"] for row in shown["Wrong, but paid well"]] == [5, 4, 3]
    assert [row["total"] for row in samples.shown(mean=1)["Right, but paid little"]] == [0]
    assert [row["total"] for row in samples.shown(mean=4)["Wrong, but paid well"]] == [5]
