"""Sums of a scoring run: what the summary table shows, and what a run that goes on must remember."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from .scorer import Scored


@dataclass
class ScoreSummary:
    """Sums over rows and completions; by part: ``statuses``, ``sums`` of values, and how many were ``scored``.

    ``disagreements`` are by (known label, verdict of the metric). ``verdicts`` is the processor time spent
    judging, in seconds, and ``seconds`` that with reading the rows and writing the output.
    """

    rows: int = 0
    bad_rows: int = 0
    completions: int = 0
    statuses: dict[str, Counter[str]] = field(default_factory=dict)
    sums: Counter[str] = field(default_factory=Counter)
    scored: Counter[str] = field(default_factory=Counter)
    labelled: int = 0
    disagreements: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    verdicts: float = 0.0
    seconds: float = 0.0

    def add(self, result: Scored, metric: str) -> None:
        """Count one row in."""
        self.rows += 1
        self.bad_rows += bool(result.problem)
        for score, label in zip(result.scores, result.labels, strict=False):
            self.completions += 1
            for part in score.walk():
                self.statuses.setdefault(part.name, Counter())[part.status] += 1
                if part.value is not None:
                    self.sums[part.name] += part.value  # type: ignore[assignment]
                    self.scored[part.name] += 1
            verdict = score.part(metric).value
            if label is not None and verdict is not None:
                self.labelled += 1
                if (verdict >= 1) != label:
                    self.disagreements[(label, verdict >= 1)] += 1

    def merge(self, other: ScoreSummary) -> None:
        """Add the sums of other rows."""
        for name, value in vars(other).items():
            if name == "statuses":
                for part, counts in value.items():
                    self.statuses.setdefault(part, Counter()).update(counts)
            elif isinstance(value, Counter):
                getattr(self, name).update(value)
            else:
                setattr(self, name, getattr(self, name) + value)

    def mean(self, name: str) -> float | None:
        """The mean value of a part over the completions where it was scored."""
        return self.sums[name] / self.scored[name] if self.scored[name] else None

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready mapping; ``from_dict`` is its inverse."""
        return {**vars(self), "disagreements": [[*kind, count] for kind, count in self.disagreements.items()]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The tally that ``to_dict`` told of."""
        return cls(
            **{
                **data,
                "statuses": {part: Counter(counts) for part, counts in data["statuses"].items()},
                "sums": Counter(data["sums"]),
                "scored": Counter(data["scored"]),
                "disagreements": Counter({(label, verdict): n for label, verdict, n in data["disagreements"]}),
            }
        )
