"""Error rates of a metric from labeled rows, by stratum and overall, with confidence intervals.

A stratum holds completions with one verdict, so its labels give the fraction of wrong verdicts in it. Overall rates
weight strata by their sizes in the file, as in the combined ratio estimator (Cochran 1977, Sampling Techniques, 6.11).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from grpo_env.confidence_intervals import Interval, clopper_pearson
from grpo_env.errors import UsageError
from grpo_env.results.rows import group_of

from .sample import LabelRow

UNSURE = "?"  # the label of a row that the labeler could not decide


@dataclass(frozen=True)
class Rate:
    """An estimated rate with its 95% interval. ``errors`` of ``count`` labeled rows are the unweighted counts.

    ``value`` is ``None`` if the labels do not tell it.
    """

    value: float | None
    interval: Interval
    errors: int
    count: int


UNKNOWN = Rate(None, (0.0, 1.0), 0, 0)


@dataclass(frozen=True)
class StratumRate:
    """A stratum: completions in the file, and the rate of wrong verdicts among its labeled rows."""

    name: str
    accepted: bool
    size: int
    rate: Rate


@dataclass(frozen=True)
class Calibration:
    """How often a metric is wrong. ``false_negative`` is the rate among correct completions, ``false_positive`` among
    wrong ones; ``rejected`` and ``accepted`` are the rates of wrong verdicts among rejected and accepted completions.

    ``completions`` are those of the strata with labels and ``uncovered`` those of the others. With ``one_sided`` only
    accepted or only rejected completions have labels, though there are both; ``false_negative`` and ``false_positive``
    then have no value, since completions of the other verdict count in them. ``errors`` are the labeled rows with a
    wrong verdict. ``design_effect`` is how many times larger the variance is because completions of
    one prompt are alike, for false negatives and false positives.
    """

    task: str
    metric: str
    completions: int
    labeled: int
    unsure: int
    uncovered: int
    one_sided: bool
    false_negative: Rate
    false_positive: Rate
    rejected: Rate
    accepted: Rate
    design_effect: tuple[float, float]
    strata: tuple[StratumRate, ...]
    errors: tuple[LabelRow, ...]


class Sampled(NamedTuple):
    """The labeled rows of a stratum: ``hits`` says which of them count, ``groups`` names the group of each."""

    size: int
    in_numerator: bool
    hits: Sequence[bool]
    groups: Sequence[str]

    @property
    def rate(self) -> float:
        return sum(self.hits) / len(self.hits)


def calibrate(rows: Sequence[LabelRow]) -> Calibration:
    """The error rates that the labels of ``rows`` imply; rows without a label, or labeled ``?``, are not counted.

    The labeled rows of a stratum must be a random sample of it. Raises ``UsageError`` without labels.
    """
    covered, uncovered = _strata(rows)
    if not covered:
        raise UsageError('no row has a label; set "label" to true or false, or use --ask')
    labeled = list(chain.from_iterable(covered.values()))
    negatives = [_sampled(own, correct=True, in_numerator=not own[0]["verdict"]) for own in covered.values()]
    positives = [_sampled(own, correct=False, in_numerator=own[0]["verdict"]) for own in covered.values()]
    effects = design_effect(negatives), design_effect(positives)
    one_sided = {row["verdict"] for row in labeled} < {row["verdict"] for row in rows}
    rates = [ratio(strata, effect) for strata, effect in zip((negatives, positives), effects, strict=True)]
    if one_sided:
        rates = [replace(UNKNOWN, errors=rate.errors, count=rate.count) for rate in rates]
    return Calibration(
        task=rows[0]["task"],
        metric=rows[0]["metric"],
        completions=sum(stratum.size for stratum in negatives),
        labeled=len(labeled),
        unsure=sum(row["label"] == UNSURE for row in rows),
        uncovered=uncovered,
        one_sided=one_sided,
        false_negative=rates[0],
        false_positive=rates[1],
        rejected=mean([stratum for stratum in negatives if stratum.in_numerator], effects[0]),
        accepted=mean([stratum for stratum in positives if stratum.in_numerator], effects[1]),
        design_effect=effects,
        strata=tuple(_stratum_rate(name, own) for name, own in covered.items()),
        errors=tuple(row for row in labeled if row["label"] != row["verdict"]),
    )


def _strata(rows: Sequence[LabelRow]) -> tuple[dict[str, list[LabelRow]], int]:
    """The labeled rows by stratum, and the number of completions in strata without any."""
    strata: dict[str, list[LabelRow]] = defaultdict(list)
    for row in rows:
        strata[row["stratum"]].append(row)
    labeled = {name: [row for row in own if isinstance(row["label"], bool)] for name, own in sorted(strata.items())}
    uncovered = sum(strata[name][0]["stratum_size"] for name, own in labeled.items() if not own)
    return {name: own for name, own in labeled.items() if own}, uncovered


def _sampled(rows: Sequence[LabelRow], *, correct: bool, in_numerator: bool) -> Sampled:
    hits = [row["label"] == correct for row in rows]
    return Sampled(rows[0]["stratum_size"], in_numerator, hits, [group_of(row) for row in rows])


def _stratum_rate(name: str, rows: Sequence[LabelRow]) -> StratumRate:
    stratum = _sampled(rows, correct=not rows[0]["verdict"], in_numerator=True)
    return StratumRate(name, rows[0]["verdict"], stratum.size, mean([stratum], design_effect([stratum], total=True)))


def mean(strata: Sequence[Sampled], effect: float = 1.0) -> Rate:
    """The rate of hits in all of these strata together."""
    size = sum(stratum.size for stratum in strata)
    if not size:
        return UNKNOWN
    terms = [(stratum.size / size, stratum.rate, _interval(stratum, effect)) for stratum in strata]
    low, high = linear_interval(terms)
    value = math.fsum(factor * rate for factor, rate, _ in terms)
    count = sum(len(stratum.hits) for stratum in strata)
    return Rate(value, (max(0.0, low), min(1.0, high)), sum(sum(stratum.hits) for stratum in strata), count)


def ratio(strata: Sequence[Sampled], effect: float = 1.0) -> Rate:
    """The hits in strata of the numerator divided by those in all strata, with an interval by Fieller's argument.

    The bounds are the ratios R at which the interval of (numerator - R x all), a linear function of the strata's rates,
    begins or ends at 0 (Donner and Zou 2012).
    """
    errors = sum(sum(stratum.hits) for stratum in strata if stratum.in_numerator)
    count = sum(sum(stratum.hits) for stratum in strata)
    if not count:
        return UNKNOWN
    value = _ratio(strata)
    intervals = [_interval(stratum, effect) for stratum in strata]

    def bound(side: int, outer: float) -> float:
        def difference(of: float) -> float:
            factors = [stratum.size * (stratum.in_numerator - of) for stratum in strata]
            rates = [stratum.rate for stratum in strata]
            return linear_interval(list(zip(factors, rates, intervals, strict=True)))[side]

        return _root(difference, value, outer)

    return Rate(value, (bound(0, 0.0), bound(1, 1.0)), errors, count)


def _ratio(strata: Sequence[Sampled]) -> float:
    hits = [(stratum.in_numerator, stratum.size * stratum.rate) for stratum in strata]
    return math.fsum(size for counts, size in hits if counts) / math.fsum(size for _, size in hits)


def _root(function: Callable[[float], float], inner: float, outer: float) -> float:
    """Where a function changes its sign between two points, by bisection; ``inner`` if it does not."""
    sign = function(inner) > 0
    for _ in range(50):
        middle = (inner + outer) / 2
        if (function(middle) > 0) == sign:
            inner = middle
        else:
            outer = middle
    return (inner + outer) / 2


def linear_interval(terms: Sequence[tuple[float, float, Interval]]) -> Interval:
    """The interval of a sum of factor x rate over independent rates with their own intervals.

    Squared distances to the bounds add up like variances: Zou, Huang and Zhang 2009 (MOVER). Unlike the normal interval
    of the stratified estimator it keeps its width where no error was seen.
    """
    estimate = math.fsum(factor * rate for factor, rate, _ in terms)
    below = math.fsum((factor * (rate - bounds[factor < 0])) ** 2 for factor, rate, bounds in terms)
    above = math.fsum((factor * (bounds[factor > 0] - rate)) ** 2 for factor, rate, bounds in terms)
    return estimate - math.sqrt(below), estimate + math.sqrt(above)


def _interval(stratum: Sampled, effect: float) -> Interval:
    """The exact interval of a stratum's rate, with its effective sample size (Korn and Graubard 1998)."""
    count = len(stratum.hits) / effect
    return clopper_pearson(stratum.rate * count, count)


def design_effect(strata: Sequence[Sampled], *, total: bool = False) -> float:
    """The variance of the ratio, or of a total, with groups as units, divided by that with completions as units.

    Both linearized (Cochran 1977, section 6.11; groups as in Liang and Zeger 1986), and at least 1. Without an error
    nothing can be measured; then it is the mean number of labeled completions of a group, the most it can be.
    """
    if not any(any(stratum.hits) for stratum in strata if stratum.in_numerator):
        labeled = sum(len(stratum.hits) for stratum in strata)
        return labeled / max(1, len({group for stratum in strata for group in stratum.groups}))
    of = 0.0 if total else _ratio(strata)
    single = 0.0
    sums: dict[str, float] = defaultdict(float)
    for stratum in strata:
        count = len(stratum.hits)
        factor = stratum.size / count * (stratum.in_numerator - of)  # a row stands for so many completions of the file
        residuals = [factor * (hit - stratum.rate) for hit in stratum.hits]
        if count > 1:
            single += count / (count - 1) * math.fsum(residual**2 for residual in residuals)
        for group, residual in zip(stratum.groups, residuals, strict=True):
            sums[group] += residual
    grouped = len(sums) / max(1, len(sums) - 1) * math.fsum(value**2 for value in sums.values())
    return max(1.0, grouped / single) if single else 1.0
