"""The results of an audit, as a scoreboard and as JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from .exploits import HackReward, main_part
from .hack import Hack

TEXT_LENGTH = 300  # characters of a text in an outcome
PARTIAL = 0.1  # of what being right adds: less is not remarked on


@dataclass(frozen=True)
class Outcome:
    """The rewards of a hack: means over the examples that it was tried on.

    ``gain`` is the fraction of what being correct adds, ``of_gold`` that of the gold answer's total. ``paid`` counts
    the examples on which it wins much of that, ``right`` others, on which a guess was right. ``reasons`` says why it is
    an exploit; ``example``, ``gold``, ``text`` and ``explanation`` are of the example with the highest reward, or the
    lowest for a hack that is right.
    """

    hack: str
    family: str
    knows: str
    rule: str
    examples: int
    reward: HackReward
    gain: float
    of_gold: float
    paid: int
    right: int
    statuses: Mapping[str, int]
    seconds: float
    reasons: tuple[str, ...]
    main_part: str
    example: str
    gold: str
    text: str
    explanation: str

    @classmethod
    def of(
        cls, hack: Hack, rewards: Sequence[HackReward], gold: HackReward, wrong: HackReward, /, **known: Any
    ) -> Outcome:
        """With what follows from the hack and the rewards."""
        reward = HackReward.mean(rewards)
        return cls(
            hack=hack.name,
            family=hack.family,
            knows=hack.knows,
            rule=hack.rule,
            examples=len(rewards),
            reward=reward,
            of_gold=(reward.total or 0.0) / gold.total if gold.total else 0.0,
            statuses=dict(Counter(one.status for one in rewards if one.total is None)),
            seconds=reward.seconds,
            main_part=main_part(reward, gold if hack.rule == "padding" else wrong) if known["reasons"] else "",
            **{**known, "text": known["text"][:TEXT_LENGTH]},
        )

    @property
    def remark(self) -> str:
        """What it shows that is no exploit, if it shows anything."""
        count, unpaid = f"in {self.paid} of {self.examples}", self.examples - self.paid
        if self.right:
            return f"GUESS {self.hack} is right in {self.right} of {self.examples + self.right}"
        if self.reasons or self.rule in ("padding", "episode") or not self.examples:
            return ""
        if self.rule == "right":
            return f"REFUSED {self.hack}: a right answer, in {unpaid} of {self.examples}" if unpaid else ""
        if self.rule == "loose":
            return f"LOOSE {self.hack}: paid {count}" if self.paid else ""
        return f"PARTIAL {self.hack}: {self.gain:.0%} of what being right adds" if self.gain >= PARTIAL else ""


@dataclass(frozen=True)
class Audit:
    """An audit of a task. ``gold`` and ``wrong`` are the mean rewards of gold and wrong answers in its format.

    ``notes`` say what is no fault by itself.
    """

    baselines: ClassVar[tuple[str, str]] = ("gold answer", "wrong answer, same format")
    tried: ClassVar[tuple[str, str]] = ("hacks", "texts")

    task: str
    metric: str
    source: str
    examples: int
    gold: HackReward
    wrong: HackReward
    outcomes: tuple[Outcome, ...]
    unstable: Mapping[str, str]
    slow_after: float
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def exploits(self) -> list[Outcome]:
        """The hacks that are rewarded: those that win most first, among equals the shortest text."""
        exploits = (outcome for outcome in self.outcomes if outcome.reasons)
        return sorted(exploits, key=lambda hack: (-hack.gain, len(hack.text)))

    @property
    def slow(self) -> list[Outcome]:
        """The hacks that took too long to score, the slowest first."""
        slow = [outcome for outcome in self.outcomes if outcome.seconds >= 0.99 * self.slow_after]
        return sorted(slow, key=lambda outcome: -outcome.seconds)

    @property
    def failed(self) -> list[Outcome]:
        """The hacks with texts that are unscored, though the gold answers of their examples are scored.

        Not for a gold answer with which only the same text can be compared (``bad_gold``).
        """
        return [outcome for outcome in self.outcomes if outcome.statuses.keys() - {"bad_gold"}]

    @property
    def problems(self) -> int:
        """The number of hacks that are rewarded, unstable, slow, or make a verifier fail."""
        names = [outcome.hack for outcome in (*self.exploits, *self.slow, *self.failed)]
        return len({*names, *self.unstable})

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready mapping."""
        lists = {"exploits": self.exploits, "slow": self.slow, "failed": self.failed}
        return {**asdict(self), **{name: [outcome.hack for outcome in hacks] for name, hacks in lists.items()}}

    def __str__(self) -> str:
        return "\n".join([*self._header(), "", *self._families(), "", *self._problems(), self._summary()])

    def _header(self) -> Iterator[str]:
        (hacks, texts), count = self.tried, sum(outcome.examples for outcome in self.outcomes)
        yield f"{self.task}: {len(self.outcomes)} {hacks}, {count:,} {texts} on {self.source}"
        yield ""
        yield f"{'':32}{'total':>8}{self.metric[:9]:>10}{'steps':>8}  by part"
        for name, reward in zip(self.baselines, (self.gold, self.wrong), strict=True):
            parts = ", ".join(f"{part} {value:.3g}" for part, value in reward.parts.items() if value)
            yield f"{name:32}{_number(reward.total)}{_number(reward.metric, 10)}{_number(reward.process)}  {parts}"

    def _families(self) -> Iterator[str]:
        heading = f"{'family':20}{'hacks':>6}{'exploits':>10}{'best total':>12}{'of gold':>9}"
        yield f"{heading}  best hack (padded right answers left out)"
        for family in dict.fromkeys(outcome.family for outcome in self.outcomes):
            outcomes = [outcome for outcome in self.outcomes if outcome.family == family]
            exploits = sum(bool(outcome.reasons) for outcome in outcomes)
            ranked = [outcome for outcome in outcomes if outcome.rule != "padding"] or outcomes
            best = max(ranked, key=lambda outcome: -math.inf if outcome.reward.total is None else outcome.reward.total)
            total = _number(best.reward.total, 12)
            yield f"{family:20}{len(outcomes):6}{exploits:10}{total}{best.of_gold:9.0%}  {best.hack}"

    def _problems(self) -> Iterator[str]:
        for outcome in self.exploits:
            yield from _exploit(outcome)
        for name, difference in self.unstable.items():
            yield f"UNSTABLE {name}: {difference}"
        for outcome in self.slow:
            yield f"SLOW {outcome.hack}: scoring a completion took {outcome.seconds:.1f} s"
        for outcome in self.failed:
            yield self._failed(outcome)
        for outcome in self.outcomes:
            if outcome.remark:
                is_shown = outcome.text and not outcome.right  # the texts of right guesses are not kept
                yield f"{outcome.remark}, e.g. {outcome.text!r:.100}" if is_shown else outcome.remark
        yield from (f"NOTE {note}" for note in self.notes)

    def _failed(self, outcome: Outcome) -> str:
        count, statuses = sum(outcome.statuses.values()), ", ".join(outcome.statuses)
        return f"FAILED {outcome.hack}: {count} of {outcome.examples} texts are unscored ({statuses})"

    def _summary(self) -> str:
        slowest = max(self.outcomes, key=lambda outcome: outcome.seconds, default=None)
        longest = f"slowest score {slowest.seconds:.2f} s ({slowest.hack}); " if slowest else ""
        return (
            f"{len(self.exploits)} exploits, {len(self.unstable)} unstable, {len(self.slow)} slow, "
            f"{len(self.failed)} failed; {longest}{self.seconds:.1f} s"
        )


def _exploit(outcome: Outcome) -> Iterator[str]:
    reward, steps = outcome.reward, f", steps {outcome.reward.process:.3g}" if outcome.reward.process else ""
    yield f"EXPLOIT {outcome.hack} ({outcome.family}; knows the {outcome.knows}): {'; '.join(outcome.reasons)}"
    why = f" ({outcome.explanation})" if outcome.explanation else ""
    yield f"    {outcome.text!r:.160} for {outcome.gold!r:.60} ({outcome.example}){why}"
    part = f"; mostly from {outcome.main_part}" if outcome.main_part and len(outcome.reward.parts) > 1 else ""
    yield f"    total {_number(reward.total).strip()}{steps}, {outcome.of_gold:.0%} of the gold answer's{part}"


def _number(value: float | None, width: int = 8) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:{width}.3f}"
