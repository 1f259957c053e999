"""Confidence intervals for means over problems, and pass@k."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import NormalDist, fmean

Interval = tuple[float, float]


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Unbiased estimate of pass@k, the chance that one of ``k`` samples is correct, from ``samples`` samples.

    1 - C(n - c, k) / C(n, k): Chen et al. 2021, equation 1. Needs ``k <= samples``.
    """
    if not 0 < k <= samples:
        raise ValueError(f"pass@{k} needs at least {k} samples, not {samples}")
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)


def wilson(successes: float, count: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval for a proportion (Wilson 1927), valid near 0 and 1, unlike the normal interval."""
    if count == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = successes / count
    center = (rate + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    return max(0.0, center - half), min(1.0, center + half)


def bootstrap(values: Sequence[float], seed: int = 0, confidence: float = 0.95, resamples: int = 2000) -> Interval:
    """Percentile bootstrap interval for the mean of ``values``, one value per problem (Efron 1979)."""
    generator = random.Random(seed)
    means = sorted(fmean(generator.choices(values, k=len(values))) for _ in range(resamples))
    tail = round((1 - confidence) / 2 * resamples)
    return means[tail], means[-1 - tail]
