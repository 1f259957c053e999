"""Intervals by their definitions."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import fmean

import pytest

from grpo_env.confidence_intervals import (
    clopper_pearson,
    estimate,
    estimate_pass_at_k,
    fisher,
    pass_at_k,
    powers_of_two,
    wilson,
)


@pytest.mark.parametrize(("samples", "ks"), [(0, []), (1, [1]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])])
def test_k_is_each_power_of_two_and_the_number_of_samples(samples: int, ks: list[int]) -> None:
    assert powers_of_two(samples) == ks


def at_least(successes: int, count: int, rate: float) -> float:
    """The probability of so many successes or more."""
    return math.fsum(math.comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(successes, count + 1))


@pytest.mark.parametrize(("successes", "count"), [(1, 7), (3, 40), (20, 40), (39, 40), (2, 900)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_exact_interval_leaves_half_of_the_rest_on_each_side(successes: int, count: int, confidence: float) -> None:
    low, high = clopper_pearson(successes, count, confidence)
    assert at_least(successes, count, low) == pytest.approx((1 - confidence) / 2, rel=1e-9)
    assert 1 - at_least(successes + 1, count, high) == pytest.approx((1 - confidence) / 2, rel=1e-9)


def test_the_exact_interval_of_no_and_of_only_successes() -> None:
    for count in (1, 5, 2.5, 300):
        bound = 1 - 0.025 ** (1 / count)
        assert clopper_pearson(0, count) == pytest.approx((0.0, bound))
        assert clopper_pearson(count, count) == pytest.approx((1 - bound, 1.0))


def test_a_fraction_of_a_sample_lies_between_whole_ones() -> None:
    highs = [clopper_pearson(0.1 * count, count)[1] for count in (10, 12.5, 20)]
    assert highs == sorted(highs, reverse=True)


def test_many() -> None:
    low, high = clopper_pearson(500_000, 1_000_000)
    assert (low, high) == pytest.approx((0.5 - 0.00098, 0.5 + 0.00098), abs=1e-5)


@pytest.mark.parametrize(
    ("correlation", "count", "interval"),
    [(0.3, 100, (0.110, 0.469)), (-0.46, 20, (-0.750, -0.022)), (0.0, 28, (-0.373, 0.373))],
)
def test_intervals_of_correlations_by_tables_of_z(correlation, count, interval) -> None:
    """By hand: z = ln((1 + r) / (1 - r)) / 2, 1.960 / sqrt(n - 3) to both sides, and back."""
    assert fisher(correlation, count) == pytest.approx(interval, abs=6e-4)


def test_three_pairs_have_no_interval_and_a_perfect_correlation_has_one() -> None:
    assert fisher(0.9, 3) is None
    ends = fisher(1.0, 4)
    assert ends is not None
    assert 0.999 < ends[0] <= ends[1] <= 1


@pytest.mark.parametrize("samples", [1, 2, 5, 6])
def test_pass_at_k_is_the_fraction_of_subsets_with_a_correct_completion(samples: int) -> None:
    for correct in range(samples + 1):
        verdicts = [True] * correct + [False] * (samples - correct)
        for k in range(1, samples + 1):
            subsets = list(combinations(verdicts, k))
            expected = sum(any(subset) for subset in subsets) / len(subsets)
            assert pass_at_k(samples, correct, k) == pytest.approx(expected)


def test_pass_at_k_needs_k_samples() -> None:
    with pytest.raises(ValueError, match="needs at least 3 samples"):
        pass_at_k(2, 1, 3)


def test_wilson_known_values() -> None:
    # 8 of 10 at 95 %: Brown, Cai and DasGupta (2001) give 0.490 to 0.943.
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 10)[0] == pytest.approx(0.0, abs=1e-12)
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    assert wilson(0, 0) == (0.0, 1.0)


def test_pass_at_k_of_several_prompts_is_their_mean() -> None:
    groups = {(5, 2): 3, (4, 0): 1, (4, 4): 1}
    for k in (1, 2, 3):
        values: list[float] = []
        for (size, correct), count in groups.items():
            subsets = list(combinations([True] * correct + [False] * (size - correct), k))
            values += [sum(map(any, subsets)) / len(subsets)] * count
        assert estimate_pass_at_k(groups, k).value == pytest.approx(fmean(values))
    assert estimate_pass_at_k(groups, 5).groups == 3
    assert estimate_pass_at_k(groups, 6) is None


def test_groups_of_all_0_or_all_1_get_wilsons_interval() -> None:
    # Newcombe 1998, table I: 81 of 263 by the score method is 0.2553 to 0.3662.
    result = estimate([4] * 81 + [0] * 182, [4] * 263)
    assert result.value == pytest.approx(81 / 263)
    assert result.interval == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert result.groups == 263


def test_a_large_group_counts_more_in_wilsons_interval() -> None:
    # Kish 1965: 5 groups of 16 and 45 of 1 are as good as 125^2 / (5 * 16^2 + 45) = 11.79 of equal size.
    sizes = [16] * 5 + [1] * 45
    result = estimate([16] * 3 + [0] * 2 + [1] * 15 + [0] * 30, sizes)
    rate, count, z = 63 / 125, 125**2 / 1325, 1.959964
    center = (rate + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * (rate * (1 - rate) / count + (z / (2 * count)) ** 2) ** 0.5
    assert result.interval == pytest.approx((center - half, center + half), abs=1e-6)


def test_the_bootstrap_takes_groups_as_units() -> None:
    # 400 groups of 4 with means 0.25 and 0.75: standard error 0.25 / sqrt(400), whatever their number of completions.
    result = estimate([1, 3] * 200, [4] * 400)
    assert result.value == 0.5
    assert result.interval == pytest.approx((0.5 - 1.96 * 0.0125, 0.5 + 1.96 * 0.0125), abs=0.003)
    assert result == estimate([1, 3] * 200, [4] * 400)


@pytest.mark.parametrize(
    ("sums", "known"),
    [((2,), False), ((1, 2), False), ((1, 2, 3), True), ((2,) * 50, False), ((4,), True), ((0, 4), True)],
)
def test_a_bootstrap_of_fewer_than_three_groups_or_equal_ones_says_nothing(sums: tuple[int, ...], known: bool) -> None:
    result = estimate(sums, [4] * len(sums))
    assert result.value == pytest.approx(sum(sums) / len(sums) / 4)
    assert (result.interval is not None) == known


def test_groups_are_weighted_by_their_number_of_completions() -> None:
    assert estimate([1, 3, 0], [2, 6, 0]).value == 0.5
    assert estimate([1, 3, 0], [1, 9, 0]).value == 0.4
    assert estimate([0], [0]) is None
