"""Paired statistics: McNemar's test for correct and wrong, the mean difference for graded values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grpo_env.confidence_intervals import CONFIDENCE, Interval, beta_cdf, beta_quantile

MIN_GROUPS = 4  # intervals of fewer are very wide


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided p-value of McNemar's test, exact: the binomial test of the discordant pairs against 1/2.

    McNemar 1947; the exact conditional form as in Fagerland, Lydersen & Laake 2013. 1 without discordant pairs.
    """
    pairs, fewer = gained + lost, min(gained, lost)
    return min(1.0, 2 * beta_cdf(0.5, pairs - fewer, fewer + 1)) if pairs else 1.0


@dataclass
class MeanDifference:
    """The mean of paired differences (second minus first), with an interval whose units are groups.

    Completions of one prompt are correlated, so the variance is cluster-robust (Liang & Zeger 1986; with G / (G - 1)
    for G groups) and the quantile is Student's with G - 1 degrees of freedom. With one pair per group that is the
    paired t interval. Constant memory.
    """

    pairs: int = 0
    groups: int = 0
    gained: int = 0
    """Groups whose differences add up to more than 0."""
    lost: int = 0
    """Groups whose differences add up to less than 0."""
    total: float = 0.0
    _squares: float = 0.0
    _products: float = 0.0
    _sizes: int = 0

    def add(self, differences: list[float]) -> None:
        """Add the differences of one group."""
        if not differences:
            return
        size, group_sum = len(differences), math.fsum(differences)
        self.pairs += size
        self.groups += 1
        self.gained += group_sum > 0
        self.lost += group_sum < 0
        self.total += group_sum
        self._squares += group_sum * group_sum
        self._products += size * group_sum
        self._sizes += size * size

    @property
    def mean(self) -> float:
        """The mean difference; 0 without pairs."""
        return self.total / self.pairs if self.pairs else 0.0

    def interval(self) -> Interval | None:
        """The 95% interval of the mean, or ``None`` with fewer than ``MIN_GROUPS`` groups."""
        if self.groups < MIN_GROUPS:
            return None
        mean = self.mean
        residuals = self._squares - 2 * mean * self._products + mean * mean * self._sizes
        variance = max(0.0, residuals) * self.groups / (self.groups - 1) / self.pairs**2
        half = student((1 + CONFIDENCE) / 2, self.groups - 1) * math.sqrt(variance)
        return mean - half, mean + half


def student(probability: float, freedom: int) -> float:
    """The quantile of Student's t above the median, by the beta distribution: Abramowitz & Stegun 26.7.1."""
    x = beta_quantile(2 * (1 - probability), freedom / 2, 0.5)
    return math.sqrt(freedom * (1 / x - 1))
