"""The numbers of a report: pure functions of arrays, NaN where a value is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grpo_env.equality import equal

Floats = NDArray[np.float64]

MAX_VALUES = 8  # bars of a distribution that are values, not ranges


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
