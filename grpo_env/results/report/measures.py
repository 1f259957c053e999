"""The numbers of a report: pure functions of arrays, NaN where a value is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grpo_env.confidence_intervals import CONFIDENCE, FEWEST, Interval, pass_at_k, wilson
from grpo_env.equality import equal

Floats = NDArray[np.float64]

RESAMPLES = 1000
MAX_VALUES = 8  # bars of a distribution that are values, not ranges


class Estimate(NamedTuple):
    """A mean over ``groups`` groups with its 95% interval, ``None`` if they do not tell it (``estimate``)."""

    value: float
    interval: Interval | None
    groups: int


def estimate(sums: Floats, sizes: Floats) -> Estimate | None:
    """The mean over completions, from each group's sum and size, both (N,); groups of size 0 are left out.

    Groups are the units of the interval, since completions of one prompt are correlated: Wilson's interval if each
    group is all 0 or all 1, for Kish's (1965) effective number of groups, sum(sizes)^2 / sum(sizes^2), which is their
    number if all have one size; else the percentile bootstrap over groups (Efron 1979), which says nothing about fewer
    than ``FEWEST`` groups or equal ones. Identical groups are drawn together: a resample is one multinomial draw over
    the distinct ones.
    """
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    if not len(sizes):
        return None
    mean = float(sums.sum() / sizes.sum())
    if np.isin(sums / sizes, (0.0, 1.0)).all():
        effective = float(sizes.sum() ** 2 / (sizes @ sizes))
        return Estimate(mean, wilson(mean * effective, effective), len(sizes))
    if len(sizes) < FEWEST or is_constant(sums / sizes):
        return Estimate(mean, None, len(sizes))
    pairs, counts = np.unique(np.stack([sums, sizes]), axis=1, return_counts=True)
    generator = np.random.default_rng(0)
    means = np.empty(RESAMPLES)
    for index in range(RESAMPLES):
        resample = generator.multinomial(len(sizes), counts / len(sizes))
        means[index] = resample @ pairs[0] / (resample @ pairs[1])
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(mean, (float(low), float(high)), len(sizes))


def estimate_pass_at_k(groups: Mapping[tuple[int, int], int], k: int) -> Estimate | None:
    """The mean of ``pass_at_k`` over prompts.

    ``groups`` counts the groups by (scored completions, correct ones). Groups smaller than ``k`` are left out.
    """
    pairs = [(pass_at_k(size, correct, k), count) for (size, correct), count in groups.items() if size >= k]
    values = np.repeat([value for value, _ in pairs], [count for _, count in pairs])
    return estimate(values, np.ones(len(values)))


def variance_fractions(weighted: Mapping[str, Floats], total: Floats) -> dict[str, float]:
    """The fraction of the reward's variance due to each part: cov(weighted part, total) / var(total).

    The fractions add up to 1 if the total is the sum of the parts; one below 0 reduces the variance. (N,) arrays; rows
    without a total are left out. Empty if the total does not vary.
    """
    known = ~np.isnan(total)
    if is_constant(total[known]):
        return {}
    centered = total[known] - total[known].mean()
    # Where there is a total, only a part of weight 0 can be missing: it contributed nothing.
    return {
        name: float(np.nan_to_num(values[known]) @ centered / (centered @ centered))
        for name, values in weighted.items()
    }


def correlation(first: Floats, second: Floats) -> float | None:
    """Pearson's correlation over the rows where both are known; ``None`` below 3 rows or if one does not vary."""
    known = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[known], second[known]
    if len(first) < 3 or is_constant(first) or is_constant(second):
        return None
    return float(np.corrcoef(first, second)[0, 1])


def is_constant(values: Floats) -> bool:
    """``all_equal`` of an array."""
    return not len(values) or equal(float(values.min()), float(values.max()))


class Bins(NamedTuple):
    """Counts of values. ``labels`` are the values or their ranges."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]


def distribution(values: Floats, bins: int = 10) -> Bins:
    """How often each value occurs; counts of ``bins`` equal ranges if there are more than ``MAX_VALUES`` values."""
    values = values[~np.isnan(values)]
    largest = np.abs(values).max(initial=0.0) or 1.0
    values = np.round(values / largest, 9) * largest  # 0.1 + 0.2 and 0.3 are one value
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= MAX_VALUES:
        return Bins(tuple(f"{value:.3g}" for value in distinct), tuple(int(count) for count in counts))
    counts, edges = np.histogram(values, bins=bins)
    decimals = max(0, 1 - math.floor(math.log10(edges[1] - edges[0]) + 1e-6))  # two digits of the width of a range
    names = [f"{round(edge, decimals) + 0.0:.{decimals}f}" for edge in edges.tolist()]  # + 0.0: no -0
    return Bins(tuple(f"{low} to {high}" for low, high in pairwise(names)), tuple(int(count) for count in counts))


class Series(NamedTuple):
    """Points of a line."""

    xs: Sequence[float]
    ys: Sequence[float]


def trend(xs: Floats, ys: Floats, bins: int = 10) -> Series:
    """The means of ``xs`` and ``ys`` in each of ``bins`` quantile ranges of ``xs``; ties stay together."""
    known = ~np.isnan(xs) & ~np.isnan(ys)
    xs, ys = xs[known], ys[known]
    if not len(xs):
        return Series((), ())
    edges = np.unique(np.quantile(xs, np.linspace(0, 1, bins + 1)))
    bin_of = np.clip(np.searchsorted(edges, xs, side="right") - 1, 0, max(0, len(edges) - 2))
    counts = np.bincount(bin_of)
    filled = counts > 0
    x_means, y_means = (np.bincount(bin_of, weights=column)[filled] / counts[filled] for column in (xs, ys))
    return Series(tuple(x_means.tolist()), tuple(y_means.tolist()))
