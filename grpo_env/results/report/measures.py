"""What a file of scores says in numbers: pure functions of arrays, NaN where a value is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grpo_env.confidence_intervals import Interval, pass_at_k, wilson

Floats = NDArray[np.float64]

RESAMPLES = 1000
EQUAL = 1e-9  # as in trainer/advantages.py: closer than this, relative to their size, rewards are equal


class Estimate(NamedTuple):
    """A mean with its 95 % interval, over so many groups."""

    value: float
    interval: Interval
    groups: int


def estimate(sums: Floats, sizes: Floats, seed: int = 0, confidence: float = 0.95) -> Estimate | None:
    """The mean over completions, from each group's (N,) sum and size; groups of size 0 are left out.

    The interval takes groups as the units, since completions of one prompt are alike: Wilson's where each group is
    all 0 or all 1, else the percentile bootstrap over groups (Efron 1979). Equal groups are drawn together: a resample
    is one multinomial draw over the different ones.
    """
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    if not len(sizes):
        return None
    mean = float(sums.sum() / sizes.sum())
    if np.isin(sums / sizes, (0.0, 1.0)).all():
        return Estimate(mean, wilson(mean * len(sizes), len(sizes), confidence), len(sizes))
    pairs, counts = np.unique(np.stack([sums, sizes]), axis=1, return_counts=True)
    draws = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    for at in range(RESAMPLES):
        drawn = draws.multinomial(len(sizes), counts / len(sizes))
        means[at] = drawn @ pairs[0] / (drawn @ pairs[1])
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(mean, (float(low), float(high)), len(sizes))


def pass_at(groups: Mapping[tuple[int, int], int], k: int) -> Estimate | None:
    """Unbiased pass@k (Chen et al. 2021, equation 1), each prompt counting once.

    ``groups`` counts the groups by (scored completions, right ones). Smaller groups than ``k`` are left out.
    """
    fitting = [(pass_at_k(size, right, k), count) for (size, right), count in groups.items() if size >= k]
    values = np.repeat([value for value, _ in fitting], [count for _, count in fitting])
    return estimate(values, np.ones(len(values)))


def ks(largest: int) -> list[int]:
    """1, 2, 4, … below the size of the largest group, and that size."""
    return sorted({2**power for power in range(largest.bit_length()) if 2**power <= largest} | {largest})


def variance_shares(weighted: Mapping[str, Floats], total: Floats) -> dict[str, float]:
    """The share of the reward's variance that each part pays: cov(weighted part, total) / var(total).

    The shares add up to 1 where the total is the sum of the parts, and are below 0 for a part that works against the
    others. (N,) arrays; rows without a total are left out. Empty if the total does not vary.
    """
    known = ~np.isnan(total)
    centred = total[known] - total[known].mean() if known.any() else total[known]
    if not len(centred) or equal(total[known]):
        return {}
    # Where there is a total, only a part of weight 0 can be missing: it paid nothing.
    return {
        name: float(np.nan_to_num(values[known]) @ centred / (centred @ centred)) for name, values in weighted.items()
    }


def correlation(first: Floats, second: Floats) -> float | None:
    """Pearson's correlation over the rows where both are known; ``None`` below 3 rows or where one does not vary."""
    known = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[known], second[known]
    if len(first) < 3 or equal(first) or equal(second):
        return None
    first, second = first - first.mean(), second - second.mean()
    return float(first @ second / math.sqrt((first @ first) * (second @ second)))


def equal(values: Sequence[float] | Floats) -> bool:
    """Whether all values are the same, as the trainer sees it."""
    if not len(values):
        return True
    low, high = min(values), max(values)
    return bool(high - low <= EQUAL * max(abs(low), abs(high)))


class Bins(NamedTuple):
    """Values counted. ``labels`` are the values, or the ranges they lie in."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]


def distribution(values: Floats, most: int = 8, bins: int = 10) -> Bins:
    """How often each value occurs; over ``bins`` ranges of equal width where there are more than ``most`` values."""
    values = values[~np.isnan(values)]
    largest = np.abs(values).max(initial=0.0) or 1.0
    values = np.round(values / largest, 9) * largest  # 0.1 + 0.2 and 0.3 are one value
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= most:
        return Bins(tuple(f"{value:.3g}" for value in distinct), tuple(int(count) for count in counts))
    counts, edges = np.histogram(values, bins=bins)
    return Bins(tuple(f"{low:.2g}-{high:.2g}" for low, high in pairwise(edges)), tuple(int(count) for count in counts))


class Trend(NamedTuple):
    """Means of one number over bins of another: ``xs`` mean of each bin, ``ys`` mean there, ``counts`` rows there."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    counts: tuple[int, ...]


def trend(xs: Floats, ys: Floats, bins: int = 10) -> Trend:
    """The mean of ``ys`` in each of ``bins`` equally filled ranges of ``xs``; ties stay together."""
    known = ~np.isnan(xs) & ~np.isnan(ys)
    xs, ys = xs[known], ys[known]
    if not len(xs):
        return Trend((), (), ())
    edges = np.unique(np.quantile(xs, np.linspace(0, 1, bins + 1)))
    at = np.clip(np.searchsorted(edges, xs, side="right") - 1, 0, max(0, len(edges) - 2))
    counts = np.bincount(at)
    kept = counts > 0
    means = [np.bincount(at, weights=each)[kept] / counts[kept] for each in (xs, ys)]
    return Trend(_tuple(means[0]), _tuple(means[1]), tuple(int(count) for count in counts[kept]))


def share_of_slowest(seconds: Floats, slowest: float = 0.01) -> float | None:
    """The share of all seconds that the slowest 1 % of the verdicts take (at least one verdict)."""
    seconds = np.sort(seconds[~np.isnan(seconds)])
    if not len(seconds) or not seconds.sum():
        return None
    return float(seconds[-max(1, round(slowest * len(seconds))) :].sum() / seconds.sum())


def _tuple(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
