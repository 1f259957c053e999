"""The summary of a scoring run: sums that can be merged, saved, and continued by a later run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from grpo_env.equality import is_correct

from .scorer import RowResult

FAILURES = ("error", "bad_gold")  # statuses of a part that was asked, and has no score


@dataclass
class ScoreSummary:
    """Sums over rows and completions."""

    rows: int = 0
    """Rows of the input, without those that were skipped."""
    skipped: int = 0
    """Rows that ``dataset.bad_gold: skip`` leaves out: they have no usable gold answer."""
    bad_rows: int = 0
    """Rows that could not be scored."""
    returning_groups: int = 0
    """How often a group went on after rows of another one, and was scored as two."""
    completions: int = 0
    """Completions that were scored, or found to be unscored."""
    statuses: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """How often each part had each status."""
    sums: Counter[str] = field(default_factory=Counter)
    """The sum of each part's values."""
    scored: Counter[str] = field(default_factory=Counter)
    """How many values each part has."""
    labeled: int = 0
    """Completions with a known verdict and a scored metric."""
    false_positives: int = 0
    """Of those, how many the metric says are correct and the known verdict says are wrong."""
    false_negatives: int = 0
    """The other way round."""
    kinds: Counter[str] = field(default_factory=Counter)
    """How many rows have a gold answer of each kind, for a metric that compares by kind."""
    first_of_kind: dict[str, str] = field(default_factory=dict)
    """The first gold answer of each kind, with its line."""
    first_reasons: dict[str, str] = field(default_factory=dict)
    """Why each part without parts of its own first had no value, other than a failure: its status and explanation."""
    first_failures: dict[str, str] = field(default_factory=dict)
    """The same of its failures, whose statuses are in ``FAILURES``."""
    zero_reasons: Counter[str] = field(default_factory=Counter)
    """How often the metric was 0 for a reason, of two reasons at most."""
    counts: Counter[str] = field(default_factory=Counter)
    """What a ``Runner`` counts."""
    seconds: float = 0.0
    """Processor time of the processes that score."""

    def add(self, result: RowResult, metric: str) -> None:
        """Add one row."""
        self.rows += 1
        self.bad_rows += bool(result.problem)
        for number, (score, label) in enumerate(zip(result.scores, result.row.labels, strict=False)):
            self.completions += 1
            judged = score
            for part in score.walk():
                if part.name == metric:
                    judged = part
                self.statuses[part.name][part.status] += 1
                if part.value is None and not part.parts and part.status != "left_out":
                    reasons = self.first_failures if part.status in FAILURES else self.first_reasons
                    reasons.setdefault(part.name, f"{part.status}: {part.explanation}")
                if part.value is not None:
                    self.sums[part.name] += part.value  # type: ignore[assignment]
                    self.scored[part.name] += 1
            value, kind = judged.value, judged.kind
            if number == 0 and kind is not None:
                self.kinds[kind] += 1
                self.first_of_kind.setdefault(kind, f"{judged.gold!r:.60} (line {result.row.line:,})")
            if value == 0:
                why = f"[{judged.status}] {judged.explanation}"
                if why in self.zero_reasons or len(self.zero_reasons) < 2:
                    self.zero_reasons[why] += 1
            if label is not None and value is not None:
                self.labeled += 1
                self.false_positives += is_correct(value) and not label
                self.false_negatives += label and not is_correct(value)

    def merge(self, other: ScoreSummary) -> None:
        """Add the sums over other rows."""
        for name, value in vars(other).items():
            if name == "statuses":
                for part, counts in value.items():
                    self.statuses[part].update(counts)
            elif name in ("first_of_kind", "first_reasons", "first_failures"):
                setattr(self, name, value | getattr(self, name))
            elif isinstance(own := getattr(self, name), Counter):
                own.update(value)
            else:
                setattr(self, name, own + value)

    @property
    def nothing_scored(self) -> bool:
        """Whether there are completions and none of them has a total."""
        return self.completions > 0 and not self.scored["total"]

    def mean(self, name: str) -> float | None:
        """The mean value of a part over the completions that it scored."""
        return self.sums[name] / self.scored[name] if self.scored[name] else None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The summary whose ``vars`` were written as JSON."""
        summary = cls()
        summary.merge(cls(**data))
        return summary
