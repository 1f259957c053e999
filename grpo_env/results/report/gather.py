"""One pass over a scores file: numbers into arrays, everything else counted, a few rows kept as samples."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite, nan

import numpy as np

from grpo_env.equality import is_correct
from grpo_env.errors import UsageError

from ..part_scores import PartScore, named_parts, part_called, total_score
from ..rows import ScoreRow, groups, location
from .groups import GroupKind, Member, group_kind, is_misranked, majority, steps_differ
from .measures import Floats
from .shown_completions import Samples

MAX_REASONS = 3  # different explanations kept for each status of a part
MAX_REASON_LENGTH = 300  # characters kept of each


class Column:
    """A growing column of numbers, NaN where a row has none."""

    def __init__(self) -> None:
        self._values = array("d")

    def put(self, row: int, value: float | None) -> None:
        """Set the value of ``row`` (0-based); rows must come in ascending order."""
        if value is not None and not isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        self._values.extend([nan] * (row - len(self._values)))
        self._values.append(nan if value is None else value)

    def values(self, rows: int) -> Floats:
        """(rows,) the column."""
        self._values.extend([nan] * (rows - len(self._values)))
        return np.frombuffer(self._values, dtype=np.float64)


@dataclass
class PartColumns:
    """The scores of one part: values, weighted values, statuses with their first explanations, rules."""

    depth: int
    values: Column = field(default_factory=Column)
    weighted: Column = field(default_factory=Column)
    weights: tuple[float, float] | None = None
    """The smallest and the largest weight, of rows that do not leave the part out."""
    process: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    rules: Counter[tuple[str, bool]] = field(default_factory=Counter)  # (rule, accepted) -> completions

    def add(self, row: int, score: PartScore) -> None:
        """Add the score of completion number ``row``."""
        self.values.put(row, score.value)
        self.weighted.put(row, None if score.value is None else score.weight * score.value)
        if score.status != "left_out":
            low, high = self.weights or (score.weight, score.weight)
            self.weights, self.process = (min(low, score.weight), max(high, score.weight)), score.process
        self.statuses[score.status] += 1
        reason = score.explanation[:MAX_REASON_LENGTH]
        reasons = self.reasons.setdefault(score.status, [])
        if reason and len(reasons) < MAX_REASONS and reason not in reasons:
            reasons.append(reason)
        if score.value is not None:
            self.rules[score.rule, is_correct(score.value)] += 1


@dataclass
class Counts:
    """What is counted, and told as it is."""

    task: str = ""
    metric: str = ""
    completions: int = 0
    unscored: int = 0
    truncated: int = 0
    """Completions that ended at the length limit."""
    finish_known: int = 0
    """Completions whose finish reason is known."""
    has_text: bool = False
    input_rows: int = 0
    without_prompt: int = 0
    """Completions that may be of another prompt than the task's, since the file did not have theirs."""
    groups: int = 0
    largest_group: int = 0
    kinds: Counter[GroupKind] = field(default_factory=Counter)
    uninformative: int = 0
    """Completions in groups of equal rewards."""
    with_step_signal: int = 0
    """Groups of equal rewards whose step scores differ."""
    rankable: int = 0
    """Groups with correct and wrong completions."""
    misranked: int = 0
    """Those in which a wrong completion has a higher reward than a correct one."""


@dataclass
class Gathered:
    """Everything that a report needs of a file. Of the texts only those of a few rows are kept."""

    counts: Counts = field(default_factory=Counts)
    total: PartColumns = field(default_factory=lambda: PartColumns(0))
    metrics: Column = field(default_factory=Column)
    characters: Column = field(default_factory=Column)
    tokens: Column = field(default_factory=Column)
    parts: dict[str, PartColumns] = field(default_factory=dict)
    correct_counts: Counter[tuple[int, int]] = field(default_factory=Counter)  # (with a metric, correct) -> groups
    answered: int = 0  # completions
    majorities: Counter[tuple[int, float]] = field(default_factory=Counter)  # (with a metric, majority) -> groups
    group_totals: array[float] = field(default_factory=lambda: array("d"))  # sum, size, sum, size, ...
    group_metrics: array[float] = field(default_factory=lambda: array("d"))
    samples: Samples = field(default_factory=Samples)


def gather(rows: Iterable[ScoreRow]) -> Gathered:
    """Read all rows. Raises ``UsageError`` for rows without a metric, for rows of several tasks, and as ``groups``."""
    data = Gathered()
    counts = data.counts
    last = None
    for group in groups(rows):
        members = []
        for row in group:
            _check_task(counts, row)
            place = row.get("file"), row.get("line")
            counts.input_rows += row.get("line") is None or place != last
            last = place
            try:
                members.append(_add_row(data, row))
            except UsageError:
                raise
            except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
                problem = f"not a row that grpo_env score wrote ({type(error).__name__}: {error})"
                raise UsageError(f"{location(row)}: {problem}") from error
            counts.completions += 1
        _end_group(data, members)
    return data


def _check_task(counts: Counts, row: ScoreRow) -> None:
    if not row.get("metric"):
        raise UsageError(f"{location(row)}: no key 'metric'; score the file again")
    task, metric = str(row.get("task") or ""), row["metric"]
    if not counts.completions:
        counts.task, counts.metric = task, metric
    elif (task, metric) != (counts.task, counts.metric):
        raise UsageError(
            f"{location(row)}: scores of two tasks, {counts.task} (metric {counts.metric}) and {task} "
            f"(metric {metric}); make a report for each"
        )


def _add_row(data: Gathered, row: ScoreRow) -> Member:
    counts, total, parts = data.counts, total_score(row), named_parts(row)
    index = counts.completions
    data.total.add(index, total)
    data.tokens.put(index, row.get("num_tokens"))
    finish = row.get("finish_reason") or "unknown"
    counts.unscored += total.value is None
    counts.truncated += finish == "length"
    counts.finish_known += finish != "unknown"
    counts.without_prompt += row.get("prompt_recorded") is False
    if (text := row.get("text")) is not None:
        counts.has_text = True
        data.characters.put(index, len(text))
    for name, part in parts.items():
        if name not in data.parts:
            data.parts[name] = PartColumns(depth=name.count("."))
        data.parts[name].add(index, part)
    metric = part_called(parts, counts.metric)
    value, answer = (metric.value, metric.answer) if metric else (None, None)
    data.metrics.put(index, value)
    if total.value is not None:
        data.samples.offer(row, total.value, value)
    weighted_parts = {name: part.value for name, part in parts.items() if part.weight and "." not in name}
    # Steps that are left out are one of the whole text, worth the total.
    steps = tuple(step["value"] for step in total.steps) or (total.value or 0.0,)
    return Member(total.value, value, answer, weighted_parts, steps)


def _end_group(data: Gathered, members: list[Member]) -> None:
    counts, kind = data.counts, group_kind(members)
    counts.groups += 1
    counts.largest_group = max(counts.largest_group, len(members))
    counts.kinds[kind] += 1
    if kind not in ("mixed", "single"):
        counts.uninformative += len(members)
        counts.with_step_signal += steps_differ(members)
    scored = [member for member in members if member.metric is not None]
    correct = sum(member.correct for member in scored)
    counts.rankable += 0 < correct < len(scored)
    counts.misranked += is_misranked(members)
    data.correct_counts[len(scored), correct] += 1
    data.answered += sum(member.answer is not None for member in scored)
    data.majorities[len(scored), majority(scored)] += 1
    totals = [member.total for member in members if member.total is not None]
    data.group_totals.extend((sum(totals), len(totals)))
    data.group_metrics.extend((sum(member.metric or 0.0 for member in scored), len(scored)))
    data.samples.end_group()
