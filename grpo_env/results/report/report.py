"""What a file of scores says of its reward: numbers, warnings in plain words, completions to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

import numpy as np

from ..rows import ScoreRow, read_scores
from .gather import Gathered, PartColumns, gather
from .groups import Kind
from .measures import (
    Bins,
    Estimate,
    Floats,
    Trend,
    correlation,
    distribution,
    equal,
    estimate,
    ks,
    pass_at,
    share_of_slowest,
    trend,
    variance_shares,
)
from .votes import LARGEST_K, majority


@dataclass(frozen=True)
class Part:
    """One part of the reward over all completions. Values are raw; ``mean_paid`` is the mean of weight times value."""

    name: str
    depth: int
    weight: float
    process: float
    scored: int
    mean: float | None
    deviation: float | None
    mean_paid: float | None
    variance_share: float | None
    """Of the reward's variance; ``None`` for parts inside others and where the reward does not vary."""
    with_metric: float | None
    """Correlation with the metric."""
    varies: bool
    values: Bins
    statuses: Mapping[str, int]
    reasons: Mapping[str, tuple[str, ...]]
    """By status, the first different explanations."""


@dataclass(frozen=True)
class Length:
    """Length against reward; ``unit`` is ``tokens`` where every row has a count, else ``characters``."""

    unit: str
    mean: float
    with_reward: float | None
    with_metric: float | None
    reward: Trend
    metric: Trend


@dataclass(frozen=True)
class Steps:
    """The step scores of one part, unweighted: means by position, and reward by number of steps."""

    part: str
    completions: int
    steps: int
    lowest: float
    highest: float
    by_position: tuple[float | None, ...]
    """Mean value in each fifth of a completion's steps."""
    by_index: tuple[float | None, ...]
    """Mean value of the first, second, … step."""
    reward_by_number: Trend


@dataclass(frozen=True)
class Times:
    """Seconds of judging."""

    total: float
    median: float
    longest: float
    slowest_share: float | None
    """The share of the total that the slowest hundredth takes."""
    slowest: tuple[ScoreRow, ...]


@dataclass(frozen=True)
class Report:
    """What ``grpo_env report`` says of a scores file. ``html`` is the page, ``findings`` its warnings."""

    source: str
    task: str
    metric: str
    input_rows: int
    groups: int
    completions: int
    largest_group: int
    reward: Estimate | None
    accuracy: Estimate | None
    """The mean of the task's metric."""
    unscored: int
    cut: int
    """Completions that ended at the length limit."""
    finish_known: int
    total: Part
    parts: tuple[Part, ...]
    reward_with_metric: float | None
    pass_at: Mapping[int, Estimate]
    maj_at: Mapping[int, Estimate]
    kinds: Mapping[Kind, int]
    dropped: int
    """Completions in groups of equal rewards."""
    with_step_signal: int
    """Groups of equal rewards whose step scores differ."""
    contrasted: int
    """Groups with right and wrong completions."""
    misranked: int
    """Those of them where a wrong one earns more than a right one."""
    length: Length | None
    steps: tuple[Steps, ...]
    times: Times | None
    labels: Mapping[tuple[bool, bool], int]
    """Counts by (label, right by the metric)."""
    samples: Mapping[str, tuple[ScoreRow, ...]]
    with_text: bool

    @cached_property
    def html(self) -> str:
        """The page: one file that needs no other."""
        from .page import page

        return page(self)

    def _repr_html_(self) -> str:
        # In a frame, so that the page's style and the notebook's leave each other alone.
        return f'<iframe srcdoc="{escape(self.html)}" sandbox style="width:100%;height:80vh;border:0"></iframe>'


def make_report(scores: Path | str | Iterable[ScoreRow], source: str | None = None) -> Report:
    """A report on a scores file, or on rows in its shape. Reads them once, in memory bounded by numbers.

    Raises ``UsageError`` for a file that is not one of scores, or is empty, or mixes tasks or groups.
    """
    is_file = isinstance(scores, Path | str)
    source = source or (str(scores) if is_file else "rows")
    found = gather(read_scores(Path(scores)) if is_file else scores, source)  # type: ignore[arg-type]
    rows = found.completions
    totals, metrics = found.total.values.values(rows), found.metrics.values(rows)
    weighted = {name: part.weighted.values(rows) for name, part in found.parts.items() if not part.depth}
    shares = variance_shares(weighted, totals)
    reward = _estimate(found.group_totals)
    return Report(
        source=source,
        task=found.task,
        metric=found.metric,
        input_rows=found.input_rows,
        groups=sum(found.sizes.values()),
        completions=rows,
        largest_group=max(found.sizes),
        reward=reward,
        accuracy=_estimate(found.group_metrics),
        unscored=int(np.isnan(totals).sum()),
        cut=found.finishes["length"],
        finish_known=rows - found.finishes["unknown"],
        total=_part("total", found.total, rows, None, metrics),
        parts=tuple(_part(name, part, rows, shares.get(name), metrics) for name, part in found.parts.items()),
        reward_with_metric=correlation(totals, metrics),
        pass_at=_pass_at(found),
        maj_at=_maj_at(found),
        kinds=found.kinds,
        dropped=found.dropped,
        with_step_signal=found.with_step_signal,
        contrasted=found.contrasted,
        misranked=found.misranked,
        length=_length(found, totals, metrics),
        steps=tuple(_steps(name, part, totals) for name, part in found.parts.items() if part.step_range),
        times=_times(found),
        labels=found.labels,
        samples={name: tuple(rows) for name, rows in found.samples.shown(reward.value if reward else 0.0).items()},
        with_text=found.texts > 0,
    )


def _estimate(pairs: Iterable[float]) -> Estimate | None:
    sums_and_sizes = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return estimate(sums_and_sizes[:, 0], sums_and_sizes[:, 1])


def _part(name: str, part: PartColumns, rows: int, share: float | None, metrics: Floats) -> Part:
    values, weighted = part.values.values(rows), part.weighted.values(rows)
    known, paid = values[~np.isnan(values)], weighted[~np.isnan(weighted)]
    return Part(
        name=name,
        depth=part.depth,
        weight=part.weight,
        process=part.process,
        scored=len(known),
        mean=float(known.mean()) if len(known) else None,
        deviation=float(known.std()) if len(known) else None,
        mean_paid=float(paid.mean()) if len(paid) else None,
        variance_share=share,
        with_metric=correlation(values, metrics),
        varies=not equal(known),
        values=distribution(values),
        statuses=part.statuses,
        reasons={status: tuple(reasons) for status, reasons in part.reasons.items()},
    )


def _pass_at(found: Gathered) -> dict[int, Estimate]:
    largest = max(size for size, _ in found.rights)
    return {k: value for k in (ks(largest) if largest else ()) if (value := pass_at(found.rights, k))}


def _maj_at(found: Gathered) -> dict[int, Estimate]:
    """The exact expectation for k up to ``LARGEST_K`` and for the whole group; none where no answer was extracted."""
    if not any(votes for votes, _ in found.votes):
        return {}
    sizes = {(votes, silent): sum(count for count, _ in votes) + silent for votes, silent in found.votes}
    largest = max(sizes.values())
    result = {}
    for k in ks(largest):
        if LARGEST_K < k < largest:
            continue
        fitting = [key for key, size in sizes.items() if size == k or (size > k and k <= LARGEST_K)]
        values = np.repeat([majority(*key, k) for key in fitting], [found.votes[key] for key in fitting])
        if value := estimate(values, np.ones(len(values))):
            result[k] = value
    return result


def _length(found: Gathered, totals: Floats, metrics: Floats) -> Length | None:
    rows = found.completions
    tokens, characters = found.tokens.values(rows), found.characters.values(rows)
    unit, lengths = ("characters", characters) if np.isnan(tokens).any() else ("tokens", tokens)
    if np.isnan(lengths).all():
        return None
    return Length(
        unit,
        float(np.nanmean(lengths)),
        correlation(lengths, totals),
        correlation(lengths, metrics),
        trend(lengths, totals),
        trend(lengths, metrics),
    )


def _steps(name: str, part: PartColumns, totals: Floats) -> Steps:
    numbers = part.step_count.values(len(totals))
    assert part.step_range is not None
    return Steps(
        name,
        int((~np.isnan(numbers)).sum()),
        int(np.nansum(numbers)),
        *part.step_range,
        tuple(total / count if count else None for total, count in part.by_position),
        tuple(total / count for total, count in part.by_index if count),
        trend(numbers, totals),
    )


def _times(found: Gathered) -> Times | None:
    seconds = found.seconds.values(found.completions)
    seconds = seconds[~np.isnan(seconds)]
    if not len(seconds):
        return None
    total, median, longest = float(seconds.sum()), float(np.median(seconds)), float(seconds.max())
    return Times(total, median, longest, share_of_slowest(seconds), tuple(found.slowest.rows()))
