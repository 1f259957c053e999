"""One pass over a scores file: numbers into arrays, everything else counted, a few rows kept to show."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Any

import numpy as np

from grpo_env.errors import UsageError

from ..rows import ScoreRow
from .groups import Kind, Member, kind, misranked, steps_differ
from .measures import Floats
from .samples import Samples, Top
from .votes import Votes, count_votes

REASONS = 3  # different explanations kept for each status of a part
REASON = 300  # characters kept of each
POSITIONS = 5  # bins of a step's relative position
INDICES = 12  # steps counted one by one from the first


def parts_of(row: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All parts of a scores row (or of a part), those inside others as ``outer.inner``, parents first."""
    for name, part in (row.get("parts") or {}).items():
        if part is not None:  # Parquet has the parts of every task in every row
            yield above + name, part
            yield from parts_of(part, f"{above}{name}.")


class Column:
    """A growing column of numbers; rows that have none hold NaN."""

    def __init__(self) -> None:
        self._values = array("d")

    def put(self, row: int, value: float | None) -> None:
        """Set the value of ``row`` (0-based), which lies after all rows set before."""
        if value is not None and not isfinite(value):
            raise ValueError(f"{value} is no finite number")
        self._values.extend([nan] * (row - len(self._values)))
        self._values.append(nan if value is None else value)

    def values(self, rows: int) -> Floats:
        """(rows,) the column."""
        self._values.extend([nan] * (rows - len(self._values)))
        return np.frombuffer(self._values, dtype=np.float64)


@dataclass
class PartColumns:
    """What one part gave: its values, what they paid, its statuses with the first reasons, its steps."""

    depth: int
    values: Column = field(default_factory=Column)
    weighted: Column = field(default_factory=Column)
    weight: float = 0.0
    process: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    step_count: Column = field(default_factory=Column)
    by_position: list[tuple[float, int]] = field(default_factory=lambda: [(0.0, 0)] * POSITIONS)
    by_index: list[tuple[float, int]] = field(default_factory=lambda: [(0.0, 0)] * INDICES)
    step_range: tuple[float, float] | None = None

    def add(self, row: int, part: Mapping[str, Any]) -> None:
        """Take in the part of one completion."""
        self.values.put(row, part["value"])
        self.weighted.put(row, part.get("weighted"))
        self.weight, self.process = part.get("weight") or 0.0, part.get("process") or 0.0
        status, why = part["status"], (part.get("explanation") or "")[:REASON]
        self.statuses[status] += 1
        reasons = self.reasons.setdefault(status, [])
        if why and len(reasons) < REASONS and why not in reasons:
            reasons.append(why)
        steps = [step["value"] for step in part.get("steps") or ()]
        if not all(map(isfinite, steps)):
            raise ValueError("the value of a step is no finite number")
        if steps:
            self.step_count.put(row, len(steps))
            low, high = self.step_range or (steps[0], steps[0])
            self.step_range = min(low, *steps), max(high, *steps)
        for index, value in enumerate(steps):
            _add(self.by_position, int((index + 0.5) / len(steps) * POSITIONS), value)
            if index < INDICES:
                _add(self.by_index, index, value)


@dataclass
class Gathered:
    """All that a report needs of a file, in memory bounded by numbers: no text but that of a few rows."""

    task: str = ""
    metric: str = ""
    completions: int = 0
    input_rows: int = 0
    total: PartColumns = field(default_factory=lambda: PartColumns(0))
    metrics: Column = field(default_factory=Column)
    characters: Column = field(default_factory=Column)
    tokens: Column = field(default_factory=Column)
    seconds: Column = field(default_factory=Column)
    parts: dict[str, PartColumns] = field(default_factory=dict)
    finishes: Counter[str] = field(default_factory=Counter)
    labels: Counter[tuple[bool, bool]] = field(default_factory=Counter)  # (label, right by the metric)
    texts: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)
    dropped: int = 0  # completions in groups without a signal
    with_step_signal: int = 0
    misranked: int = 0
    contrasted: int = 0  # groups with right and wrong completions
    sizes: Counter[int] = field(default_factory=Counter)
    rights: Counter[tuple[int, int]] = field(default_factory=Counter)  # (scored by the metric, right) -> groups
    votes: Counter[tuple[Votes, int]] = field(default_factory=Counter)  # votes and silent completions -> groups
    group_totals: array[float] = field(default_factory=lambda: array("d"))  # sum, size, sum, size, ...
    group_metrics: array[float] = field(default_factory=lambda: array("d"))
    samples: Samples = field(default_factory=Samples)
    slowest: Top = field(default_factory=Top)


def gather(rows: Iterable[ScoreRow], source: str) -> Gathered:
    """Read all rows. Raises ``UsageError`` for an empty file, and for rows that are of no task or no group."""
    found = Gathered()
    members: list[Member] = []
    group: str | None = None
    seen: set[int] = set()  # hashes: a million names would be larger than all the numbers
    line = None
    for row in rows:
        if row.get("group") is None or not row.get("metric"):
            key = "group" if row.get("group") is None else "metric"
            raise UsageError(f"{source}: completion {found.completions + 1} has no {key!r}; score the file anew")
        of = str(row.get("task") or ""), row["metric"]
        if not found.completions:
            found.task, found.metric = of
        elif of != (found.task, found.metric):
            raise UsageError(
                f"{source}: scores of two tasks, {found.task} (by {found.metric}) and {of[0]} (by {of[1]}); "
                "make a report of each"
            )
        if row["group"] != group:
            _end_group(found, members)
            members, group = [], row["group"]
            if hash(group) in seen:
                raise UsageError(f"{source}: the rows of group {group!r} are not together; sort the file by group")
            seen.add(hash(group))
        found.input_rows += row.get("line") is None or row["line"] != line
        line = row.get("line")
        try:
            members.append(_add_row(found, row))
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise UsageError(
                f"{source}: completion {found.completions + 1} is not as grpo_env score writes it "
                f"({type(error).__name__}: {error})"
            ) from error
        found.completions += 1
    if not found.completions:
        raise UsageError(f"{source}: no scores in it")
    _end_group(found, members)
    return found


def _add_row(found: Gathered, row: ScoreRow) -> Member:
    at, total = found.completions, row["total"]
    found.total.add(at, {"value": total, "status": row["status"], "explanation": row.get("explanation")})
    found.seconds.put(at, row.get("seconds"))
    found.tokens.put(at, row.get("num_tokens"))
    found.finishes[row.get("finish_reason") or "unknown"] += 1
    text = row.get("text")
    if text is not None:
        found.texts += 1
        found.characters.put(at, len(text))
    metric: Mapping[str, Any] = {}
    paid: dict[str, float | None] = {}
    for name, part in parts_of(row):
        depth = name.count(".")
        if name not in found.parts:
            found.parts[name] = PartColumns(depth)
        found.parts[name].add(at, part)
        if not metric and name.split(".")[-1] == found.metric:
            metric = part
        if not depth and part.get("weight"):
            paid[name] = part["value"]
    verdict = metric.get("value")
    found.metrics.put(at, verdict)
    if row.get("label") is not None and verdict is not None:
        found.labels[bool(row["label"]), verdict >= 1] += 1
    if total is not None:
        found.samples.offer(row, total, verdict)
    found.slowest.offer(row.get("seconds") or 0.0, row)
    steps = tuple(step["value"] for step in row.get("steps") or ())
    return Member(total, verdict, metric.get("answer"), paid, steps)


def _end_group(found: Gathered, members: list[Member]) -> None:
    if not members:
        return
    found.sizes[len(members)] += 1
    is_kind = kind(members)
    found.kinds[is_kind] += 1
    if is_kind not in ("mixed", "single"):
        found.dropped += len(members)
        found.with_step_signal += steps_differ(members)
    judged = [member for member in members if member.metric is not None]
    right = [float((member.metric or 0.0) >= 1) for member in judged]
    found.contrasted += 0 < sum(right) < len(right)
    found.misranked += misranked(members)
    found.rights[len(judged), int(sum(right))] += 1
    votes = count_votes([member.answer for member in judged], right)
    found.votes[votes, len(judged) - sum(count for count, _ in votes)] += 1
    totals = [member.total for member in members if member.total is not None]
    found.group_totals.extend((sum(totals), len(totals)))
    found.group_metrics.extend((sum(member.metric or 0.0 for member in judged), len(judged)))
    found.samples.end_group()


def _add(sums: list[tuple[float, int]], at: int, value: float) -> None:
    total, count = sums[at]
    sums[at] = total + value, count + 1
