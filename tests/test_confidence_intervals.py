"""Intervals by their definitions."""

from __future__ import annotations

import math

import pytest

from grpo_env.confidence_intervals import clopper_pearson, fisher, powers_of_two


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
