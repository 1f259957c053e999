"""95% confidence intervals for means over prompts, and pass@k."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from grpo_env.equality import equal

Interval = tuple[float, float]

FEWEST = 3  # groups: a bootstrap of fewer says nothing
CONFIDENCE = 0.95
RESAMPLES = 1000  # of the bootstrap
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Unbiased estimate of pass@k, the chance that one of ``k`` samples is correct, from ``samples`` samples.

    1 - C(n - c, k) / C(n, k): Chen et al. 2021, equation 1. Needs ``k <= samples``.
    """
    if not 0 < k <= samples:
        raise ValueError(f"pass@{k} needs at least {k} samples, not {samples}")
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)


def powers_of_two(samples: int) -> list[int]:
    """The k of pass@k that are told: 1, 2, 4, … up to the number of samples, and that number; none of 0 samples."""
    return sorted({2**power for power in range(samples.bit_length())} | {samples} - {0})


def wilson(successes: float, count: float) -> Interval:
    """Wilson's score interval for a proportion (Wilson 1927), valid near 0 and 1, unlike the normal interval.

    ``count`` may be an effective sample size, which is not a whole number.
    """
    if count == 0:
        return 0.0, 1.0
    rate = successes / count
    center = (rate + _Z * _Z / (2 * count)) / (1 + _Z * _Z / count)
    half = _Z / (1 + _Z * _Z / count) * math.sqrt(rate * (1 - rate) / count + _Z * _Z / (4 * count * count))
    return max(0.0, center - half), min(1.0, center + half)


def clopper_pearson(successes: float, count: float, confidence: float = CONFIDENCE) -> Interval:
    """The exact interval for a proportion (Clopper and Pearson 1934): it never covers less often than it says.

    ``count`` may be an effective sample size, which is not a whole number (Korn and Graubard 1998).
    """
    tail = (1 - confidence) / 2
    failures = count - successes
    low = beta_quantile(tail, successes, failures + 1) if successes > 0 else 0.0
    high = beta_quantile(1 - tail, successes + 1, failures) if failures > 0 else 1.0
    return low, high


def fisher(correlation: float, count: int) -> Interval | None:
    """The interval for a correlation of ``count`` pairs by Fisher's (1921) z; ``None`` for fewer than four pairs."""
    if count < 4:
        return None
    z = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, correlation)))
    half = _Z / math.sqrt(count - 3)
    return math.tanh(z - half), math.tanh(z + half)


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The inverse of ``beta_cdf``."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_cdf(middle, a, b) < probability else (low, middle)
    return (low + high) / 2


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function: Abramowitz and Stegun 26.5.8, by Lentz's method."""
    if x > (a + 1) / (a + b + 2):  # the continued fraction converges fast on the other side only
        return 1.0 - beta_cdf(1 - x, b, a)
    if x <= 0:
        return 0.0
    tiny = 1e-300
    c, d = 1.0, 1.0 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 5000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = value
        for term in (even, odd):
            d = 1 / (1 + term * d or tiny)
            c = 1 + term / c or tiny
            value *= c * d
        if abs(value - before) < 1e-14 * value:
            break
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log) * value / a


class Estimate(NamedTuple):
    """A mean over ``groups`` groups with its 95% interval, ``None`` if they do not tell it (``estimate``)."""

    value: float
    interval: Interval | None
    groups: int


def estimate(sums: ArrayLike, sizes: ArrayLike | None = None) -> Estimate | None:
    """The mean over completions, from each group's sum and size (1 by default), both (N,).

    Groups of size 0 are left out. Groups are the units of the interval, since completions of one prompt are correlated:
    Wilson's interval if each group is all 0 or all 1, for Kish's (1965) effective number of groups, sum(sizes)^2 /
    sum(sizes^2), which is their number if all have one size; else the percentile bootstrap over groups (Efron 1979),
    which says nothing about fewer than ``FEWEST`` groups or equal ones. Identical groups are drawn together: a resample
    is one multinomial draw over the distinct ones.
    """
    sums = np.asarray(sums, float)
    sizes = np.ones_like(sums) if sizes is None else np.asarray(sizes, float)
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    if not len(sizes):
        return None
    mean = float(sums.sum() / sizes.sum())
    means = sums / sizes
    if np.isin(means, (0.0, 1.0)).all():
        effective = float(sizes.sum() ** 2 / (sizes @ sizes))
        return Estimate(mean, wilson(mean * effective, effective), len(sizes))
    if len(sizes) < FEWEST or equal(float(means.min()), float(means.max())):
        return Estimate(mean, None, len(sizes))
    pairs, counts = np.unique(np.stack([sums, sizes]), axis=1, return_counts=True)
    generator = np.random.default_rng(0)
    resampled = np.empty(RESAMPLES)
    for index in range(RESAMPLES):
        resample = generator.multinomial(len(sizes), counts / len(sizes))
        resampled[index] = resample @ pairs[0] / (resample @ pairs[1])
    low, high = np.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(mean, (float(low), float(high)), len(sizes))


def estimate_pass_at_k(groups: Mapping[tuple[int, int], int], k: int) -> Estimate | None:
    """The mean of ``pass_at_k`` over prompts.

    ``groups`` counts the groups by (scored completions, correct ones). Groups smaller than ``k`` are left out.
    """
    pairs = [(pass_at_k(size, correct, k), count) for (size, correct), count in groups.items() if size >= k]
    return estimate(np.repeat([value for value, _ in pairs], [count for _, count in pairs]))
