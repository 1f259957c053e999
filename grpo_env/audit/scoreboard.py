"""What an audit found, as a scoreboard and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

SHOWN_GUESSES = 3


@dataclass(frozen=True)
class Purse:
    """What one text earned, or many on average: total, metric, sum of step scores; both by part, weighted."""

    total: float | None
    metric: float | None
    process: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)
    status: str = "scored"
    why: str = ""
    seconds: float = 0.0

    @staticmethod
    def mean(purses: Sequence[Purse]) -> Purse:
        """The mean over those that are scored. Without any, total and metric are ``None``."""
        scored = [purse for purse in purses if purse.total is not None]
        metrics = [purse.metric for purse in scored if purse.metric is not None]
        return Purse(
            total=fmean([purse.total or 0.0 for purse in scored]) if scored else None,
            metric=fmean(metrics) if metrics else None,
            process=fmean([purse.process for purse in scored]) if scored else 0.0,
            parts=_means([purse.parts for purse in scored]),
            steps=_means([purse.steps for purse in scored]),
            status="scored" if scored else "unscored",
            seconds=max((purse.seconds for purse in purses), default=0.0),
        )


@dataclass(frozen=True)
class Outcome:
    """What a hack earned. ``gain`` is the share of what being right adds, ``share`` that of the honest total.

    ``exploits`` says why it is one, if it is; ``paid_by`` names the part that pays it most. ``example``, ``gold``,
    ``text`` and ``why`` (the metric's explanation) are of the example that earned most.
    """

    hack: str
    family: str
    about: str
    knows: str
    rule: str
    examples: int
    earned: Purse
    gain: float
    share: float
    paid_in: int
    statuses: Mapping[str, int]
    seconds: float
    exploits: tuple[str, ...]
    paid_by: str
    example: str
    gold: str
    text: str
    why: str


@dataclass(frozen=True)
class Audit:
    """An audit of a task. ``honest`` and ``wrong`` are what a right and a wrong answer in the task's form earn."""

    task: str
    metric: str
    source: str
    examples: int
    honest: Purse
    wrong: Purse
    outcomes: tuple[Outcome, ...]
    unstable: Mapping[str, str]
    slow_after: float
    seconds: float

    @property
    def exploits(self) -> list[Outcome]:
        """The hacks that are paid, the dearest first."""
        found = [outcome for outcome in self.outcomes if outcome.exploits]
        return sorted(found, key=lambda one: (one.gain, one.earned.process), reverse=True)

    @property
    def slow(self) -> list[Outcome]:
        """The hacks with a verdict that took too long, the slowest first."""
        found = [outcome for outcome in self.outcomes if outcome.seconds > self.slow_after]
        return sorted(found, key=lambda one: -one.seconds)

    @property
    def failed(self) -> list[Outcome]:
        """The hacks with texts that made a verifier fail, and so were left unscored."""
        return [outcome for outcome in self.outcomes if outcome.statuses.get("error")]

    @property
    def problems(self) -> int:
        """How many hacks are paid, unstable, slow, or make a verifier fail."""
        names = [one.hack for one in (*self.exploits, *self.slow, *self.failed)]
        return len({*names, *self.unstable})

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready mapping."""
        lists = {"exploits": self.exploits, "slow": self.slow, "failed": self.failed}
        return {**asdict(self), **{name: [one.hack for one in found] for name, found in lists.items()}}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        tried = sum(outcome.examples for outcome in self.outcomes)
        yield f"{self.task}: {len(self.outcomes)} hacks, {tried:,} texts on {self.source}"
        yield ""
        yield f"{'':32}{'total':>8}{self.metric[:9]:>10}{'steps':>8}  by part"
        for name, purse in (("honest", self.honest), ("wrong, in the same form", self.wrong)):
            yield f"{name:32}{_number(purse.total)}{_number(purse.metric, 10)}{_number(purse.process)}  {_parts(purse)}"
        yield ""
        yield f"{'family':20}{'hacks':>6}{'paid':>6}{'best total':>12}{'of honest':>11}  best hack (padding apart)"
        for family in dict.fromkeys(outcome.family for outcome in self.outcomes):
            found = [outcome for outcome in self.outcomes if outcome.family == family]
            paid = sum(bool(outcome.exploits) for outcome in found)
            lazy = [one for one in found if one.rule != "padding"] or found
            best = max(lazy, key=lambda one: one.earned.total if one.earned.total is not None else float("-inf"))
            yield f"{family:20}{len(found):6}{paid:6}{_number(best.earned.total, 12)}{best.share:11.0%}  {best.hack}"
        yield ""
        yield from self._problems()

    def _problems(self) -> Iterator[str]:
        for one in self.exploits:
            steps = f", steps {one.earned.process:.3g}" if one.earned.process else ""
            yield f"EXPLOIT {one.hack} ({one.family}; knows the {one.knows}): {'; '.join(one.exploits)}"
            yield f"    {one.about}"
            yield (
                f"    total {_number(one.earned.total).strip()}{steps}, {one.share:.0%} of the honest answer's; "
                f"paid by {one.paid_by}; full marks in {one.paid_in} of {one.examples} examples"
            )
            yield f"    e.g. {one.example}, gold {one.gold!r:.60}: {one.text!r:.160}" + (
                f" ({one.why})" if one.why else ""
            )
        for name, difference in self.unstable.items():
            yield f"UNSTABLE {name}: {difference}"
        for one in self.slow:
            yield f"SLOW {one.hack}: a verdict took {one.seconds:.1f} s"
        for one in self.failed:
            yield f"FAILED {one.hack}: {one.statuses['error']} texts made a verifier fail and were left unscored"
        slowest = max(self.outcomes, key=lambda one: one.seconds)
        yield (
            f"{len(self.exploits)} exploits, {len(self.unstable)} unstable, {len(self.slow)} slow, "
            f"{len(self.failed)} failed; longest verdict {slowest.seconds:.2f} s ({slowest.hack}); {self.seconds:.1f} s"
        )


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: fmean([row.get(name, 0.0) for row in rows]) for name in names}


def _number(value: float | None, width: int = 8) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:{width}.3f}"


def _parts(purse: Purse) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in purse.parts.items() if value)
