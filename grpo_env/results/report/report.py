"""What a scores file says about its reward, in numbers. ``page`` renders it as HTML."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grpo_env.confidence_intervals import Estimate, Interval, estimate, estimate_pass_at_k, fisher, powers_of_two
from grpo_env.errors import UsageError

from ..rows import ScoreRow, read_scores
from .gather import Counts, Gathered, PartColumns, gather
from .measures import Bins, Floats, Series, correlation, distribution, is_constant, trend, variance_fractions


@dataclass(frozen=True)
class Part:
    """One part of the reward over all completions."""

    name: str
    depth: int
    weights: tuple[float, float]
    """The smallest and the largest, of rows that do not leave the part out."""
    process: float
    scored: int
    mean: float | None
    variance_fraction: float | None
    """Of the reward's variance; ``None`` for nested parts and if the reward does not vary."""
    metric_correlation: float | None
    varies: bool
    values: Bins
    statuses: Mapping[str, int]
    reasons: Mapping[str, Sequence[str]]
    """By status, the first different explanations."""
    rules: Mapping[str, tuple[int, int]]
    """By rule, the most frequent first: completions accepted (a value of at least 1) and refused; empty without rules.

    Completions without a rule are under the empty name.
    """

    @property
    def rewarded(self) -> bool:
        """Whether it has a weight in some row."""
        return any(self.weights)

    @property
    def weight_text(self) -> str:
        """The weight, or the smallest and the largest."""
        low, high = self.weights
        return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


@dataclass(frozen=True)
class Length:
    """Length against reward; ``unit`` is ``tokens`` if every row has a token count, else ``characters``."""

    unit: str
    mean: float
    reward_correlation: float | None
    metric_correlation: float | None
    reward: Series
    metric: Series


@dataclass(kw_only=True)
class Report(Counts):
    """The numbers of ``grpo_env view report``."""

    source: str
    reward: Estimate | None
    accuracy: Estimate | None
    """The mean of the task's metric."""
    total: Part
    parts: tuple[Part, ...]
    pass_at: Mapping[int, Estimate]
    maj_at: Mapping[int, Estimate]
    length: Length | None
    samples: Mapping[str, Sequence[ScoreRow]]
    """By heading."""

    def interval(self, correlation: float | None) -> Interval | None:
        """The 95% interval for a correlation over completions. Their groups count, since those of one are alike."""
        return None if correlation is None else fisher(correlation, self.groups)


def make_report(scores: Path | str | Iterable[ScoreRow]) -> Report:
    """A report on a scores file, or on its rows. Reads them once and keeps numbers only, apart from a few samples.

    Raises ``UsageError`` for files that are empty, not scores, of several tasks, or whose groups are not adjacent.
    """
    source, records = (str(scores), read_scores(Path(scores))) if isinstance(scores, Path | str) else ("rows", scores)
    data = gather(records)
    rows = data.counts.completions
    if not rows:
        raise UsageError(f"{source}: no scores in it")
    totals, metrics = data.total.values.values(rows), data.metrics.values(rows)
    weighted = {name: part.weighted.values(rows) for name, part in data.parts.items() if not part.depth}
    fractions = variance_fractions(weighted, totals)
    reward = _estimate(data.group_totals)
    return Report(
        **vars(data.counts),
        source=source,
        reward=reward,
        accuracy=_estimate(data.group_metrics),
        total=_part("total", data.total, rows, None, metrics),
        parts=tuple(_part(name, part, rows, fractions.get(name), metrics) for name, part in data.parts.items()),
        pass_at=_pass_at(data),
        maj_at=_maj_at(data),
        length=_length(data, totals, metrics),
        samples=data.samples.by_heading(reward.value if reward else 0.0),
    )


def _estimate(pairs: Iterable[float]) -> Estimate | None:
    sums_and_sizes = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return estimate(sums_and_sizes[:, 0], sums_and_sizes[:, 1])


def _part(name: str, part: PartColumns, rows: int, variance_fraction: float | None, metrics: Floats) -> Part:
    values = part.values.values(rows)
    scored = values[~np.isnan(values)]
    return Part(
        name=name,
        depth=part.depth,
        weights=part.weights or (0.0, 0.0),
        process=part.process,
        scored=len(scored),
        mean=float(scored.mean()) if len(scored) else None,
        variance_fraction=variance_fraction,
        metric_correlation=correlation(values, metrics),
        varies=not is_constant(scored),
        values=distribution(values),
        statuses=part.statuses,
        reasons=part.reasons,
        rules=_rules(part.rules),
    )


def _rules(counts: Counter[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    rules = {rule: (counts[rule, True], counts[rule, False]) for rule, _ in counts}
    if not any(rules):
        return {}
    return dict(sorted(rules.items(), key=lambda item: (-sum(item[1]), item[0])))


def _pass_at(data: Gathered) -> dict[int, Estimate]:
    ks = powers_of_two(max(size for size, _ in data.correct_counts))
    return {k: value for k in ks if (value := estimate_pass_at_k(data.correct_counts, k))}


def _maj_at(data: Gathered) -> dict[int, Estimate]:
    """By the number of completions, of groups with so many; empty if no answer was extracted."""
    by_size: dict[int, list[float]] = defaultdict(list)
    for (size, value), groups in data.majorities.items():
        by_size[size] += [value] * groups
    sizes = filter(None, by_size) if data.answered else ()
    return {k: mean for k in sizes if (mean := estimate(by_size[k]))}


def _length(data: Gathered, totals: Floats, metrics: Floats) -> Length | None:
    rows = data.counts.completions
    tokens, characters = data.tokens.values(rows), data.characters.values(rows)
    unit, lengths = ("characters", characters) if np.isnan(tokens).any() else ("tokens", tokens)
    if np.isnan(lengths).all():
        return None
    return Length(
        unit=unit,
        mean=float(np.nanmean(lengths)),
        reward_correlation=correlation(lengths, totals),
        metric_correlation=correlation(lengths, metrics),
        reward=trend(lengths, totals),
        metric=trend(lengths, metrics),
    )
