"""What two scorings of the same completions disagree on: two versions of a verifier, two tasks, two weightings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grpo_env.errors import UsageError

from ..parts import Verdict, group, metric, named, total, verdicts, where
from ..rows import ScoreRow
from .matching import match
from .paired_tests import MeanDifference, mcnemar

EQUAL = 1e-9  # closer than this, relative to their size, values are the same: as in trainer/advantages.py
SHOWN_ALONE = 3
RIGHT = 1.0  # a value from here on is right, as in the summary of grpo_env score


class Disagreement(NamedTuple):
    """One completion with the verdicts, by name, on which the two files differ (value or status)."""

    a: ScoreRow
    b: ScoreRow
    verdicts: dict[str, tuple[Verdict, Verdict]]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready mapping; the text is there where the files have it."""
        row = {key: self.a[key] for key in ("id", "completion", "group", "line", "text") if self.a.get(key) is not None}
        sides = {"a": 0, "b": 1}
        return row | {
            side: {name: _reasons(pair[at]) for name, pair in self.verdicts.items()} for side, at in sides.items()
        }


@dataclass
class PartComparison:
    """One part (or the total) in both files, counted over completions."""

    changed: int = 0
    """Completions whose value or status differs."""
    both: int = 0
    """Completions with a value in both files."""
    table: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """Of those, how many are (right in A, right in B)."""
    sums: tuple[float, float] = (0.0, 0.0)
    transitions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(status in A, status in B) where they differ."""
    binary: bool = True
    """Whether every value in both files is 0 or 1."""
    difference: MeanDifference = field(default_factory=MeanDifference)
    """B minus A."""
    _waiting: list[float] = field(default_factory=list)

    def add(self, a: Verdict, b: Verdict) -> bool:
        """Count one completion in. Whether the two verdicts differ."""
        if a.value is not None and b.value is not None:
            self.both += 1
            self.table[(a.value >= RIGHT, b.value >= RIGHT)] += 1
            self.sums = self.sums[0] + a.value, self.sums[1] + b.value
            self.binary = self.binary and a.value in (0.0, 1.0) and b.value in (0.0, 1.0)
            self._waiting.append(0.0 if _equal(a.value, b.value) else b.value - a.value)
        if a.status != b.status:
            self.transitions[(a.status, b.status)] += 1
        differs = a.status != b.status or not _equal(a.value, b.value)
        self.changed += differs
        return differs

    def close_group(self) -> None:
        """Count the completions since the last call as one group."""
        self.difference.add(self._waiting)
        self._waiting = []

    @property
    def p_value(self) -> float:
        """McNemar's exact test of right against wrong, completions taken as independent."""
        return mcnemar(self.table[(False, True)], self.table[(True, False)])

    @property
    def p_value_of_groups(self) -> float:
        """The exact sign test of the groups: more right in B against fewer. Sound where completions are alike."""
        return mcnemar(self.difference.gained, self.difference.lost)


@dataclass
class GroupChanges:
    """What the two files' totals would do to GRPO's advantages, over groups with several totals in both."""

    groups: int = 0
    completions: int = 0
    best_changed: int = 0
    """Groups with a best completion in both, none of them the best in both."""
    silenced: int = 0
    """Groups with a signal in A whose totals are all equal in B."""
    awakened: int = 0
    """The reverse."""
    flips: int = 0
    """Completions above the group's mean in one file and below it in the other."""

    def add(self, a: Sequence[float], b: Sequence[float]) -> None:
        """Count one group in: the totals (N,) of the same completions."""
        if len(a) < 2:
            return
        signs = _signs(a), _signs(b)
        self.groups += 1
        self.completions += len(a)
        silent = [not any(each) for each in signs]
        self.silenced += silent == [False, True]
        self.awakened += silent == [True, False]
        if not any(silent):
            self.best_changed += not _best(a) & _best(b)
        self.flips += sum(one * other < 0 for one, other in zip(*signs, strict=True))


@dataclass
class Comparison:
    """Everything counted. ``main`` is the part in question: the tasks' metric, unless another was asked for."""

    main: str = ""
    pairs: int = 0
    only_a: list[str] = field(default_factory=list)
    """The first rows that B lacks, in words."""
    only_b: list[str] = field(default_factory=list)
    alone: Counter[str] = field(default_factory=Counter)
    """How many rows there are only in ``a``, only in ``b``."""
    without_text: int = 0
    """Pairs whose texts could not be compared, since a file has none."""
    changed: int = 0
    """Completions with any difference in what was compared."""
    parts: dict[str, PartComparison] = field(default_factory=dict)
    lacking: dict[str, set[str]] = field(default_factory=lambda: {"a": set(), "b": set()})
    """Parts that ``a``, that ``b`` has not and the other file has."""
    groups: GroupChanges = field(default_factory=GroupChanges)

    @property
    def same(self) -> bool:
        """Whether nothing that was compared differs."""
        return not self.changed and not self.alone


def compare(
    a: Iterable[ScoreRow], b: Iterable[ScoreRow], part: str | None, result: Comparison
) -> Iterator[Disagreement]:
    """Every completion on which two scorings differ, in order, while ``result`` fills; it is whole at the end.

    Compared are the total and all parts that both have, or ``part`` alone. Constant memory. Raises ``UsageError``
    as ``match`` does, for an unknown part, and where the files have no row in common.
    """
    current: str | None = None
    totals: list[tuple[float, float]] = []
    for left, right in match(a, b):
        if left is None or right is None:
            _count_alone(result, left, right)
            continue
        if group(left) != current:
            _close_group(result, totals)
            current, totals = group(left), []
        result.pairs += 1
        result.without_text += left.get("text") is None or right.get("text") is None
        found = _shared(left, right, part, result)
        for name in found:
            if name not in result.parts:
                result.parts[name] = PartComparison()
        differing = {name: pair for name, pair in found.items() if result.parts[name].add(*pair)}
        result.changed += bool(differing)
        before, after = total(left), total(right)
        if before is not None and after is not None:
            totals.append((before, after))
        if differing:
            yield Disagreement(left, right, differing)
    _close_group(result, totals)
    if not result.pairs:
        raise UsageError("the two files have no row in common; nothing to compare")


def _shared(a: ScoreRow, b: ScoreRow, part: str | None, result: Comparison) -> dict[str, tuple[Verdict, Verdict]]:
    """The verdicts that both rows have, by name; the metrics first, whatever they are called."""
    first, second = verdicts(a), verdicts(b)
    name_a = named(a, part or metric(a), first)
    name_b = named(b, part or metric(b), second)
    result.main = name_a if name_a == name_b else f"{name_a} / {name_b}"
    shared = {result.main: (first[name_a], second[name_b])}
    if part is None:
        shared |= {name: (first[name], second[name]) for name in first if name in second and name not in shared}
        result.lacking["b"] |= first.keys() - second.keys() - {name_a}
        result.lacking["a"] |= second.keys() - first.keys() - {name_b}
    return shared


def _count_alone(result: Comparison, left: ScoreRow | None, right: ScoreRow | None) -> None:
    row, side, shown = (left, "a", result.only_a) if left is not None else (right, "b", result.only_b)
    assert row is not None
    result.alone[side] += 1
    if len(shown) < SHOWN_ALONE:
        shown.append(where(row))


def _close_group(result: Comparison, totals: Sequence[tuple[float, float]]) -> None:
    for part in result.parts.values():
        part.close_group()
    result.groups.add([a for a, _ in totals], [b for _, b in totals])


def _equal(a: float | None, b: float | None) -> bool:
    return a == b if a is None or b is None else math.isclose(a, b, rel_tol=EQUAL, abs_tol=EQUAL)


def _signs(totals: Sequence[float]) -> list[int]:
    """The signs of the advantages: which totals are above, at, below their mean. All 0 for equal totals."""
    mean, spread = math.fsum(totals) / len(totals), max(totals) - min(totals)
    if _equal(max(totals), min(totals)):
        return [0] * len(totals)
    return [0 if abs(total - mean) <= EQUAL * spread else 1 if total > mean else -1 for total in totals]


def _best(totals: Sequence[float]) -> set[int]:
    best = max(totals)
    return {index for index, total in enumerate(totals) if _equal(total, best)}


def _reasons(verdict: Verdict) -> dict[str, Any]:
    return {key: value for key, value in verdict._asdict().items() if key != "steps"}
