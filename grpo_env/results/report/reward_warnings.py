"""Warnings in plain words about a reward: functions of a report alone.

The bounds are rules of thumb, loose enough that a sound reward stays silent; nothing else depends on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from grpo_env.core import UNSCORED

from .captions import seconds

if TYPE_CHECKING:
    from .report import Part, Report


class Finding(NamedTuple):
    """What was seen, with its numbers, and what to do about it."""

    seen: str
    advice: str


def findings(report: Report) -> list[Finding]:
    """All that speaks against training on this reward as it is, the gravest first."""
    return [finding for check in CHECKS for finding in check(report)]


def unscored(report: Report) -> Iterator[Finding]:
    """More completions than a twentieth have no reward."""
    if report.unscored <= 0.05 * report.completions:
        return
    reasons = "; ".join(why for status in UNSCORED for why in report.total.reasons.get(status, ()))
    yield Finding(
        f"{_share(report.unscored, report.completions)} of the completions are unscored; first reasons: {reasons}",
        "They are left out of training and of every mean here. Mend the reference answers or the verifier first",
    )


def misranked(report: Report) -> Iterator[Finding]:
    """In one of twenty groups with right and wrong completions a wrong one earns more."""
    if report.misranked > 0.05 * report.contrasted:
        yield Finding(
            f"in {_share(report.misranked, report.contrasted)} of the groups with right and wrong completions a wrong "
            "one earns more than a right one",
            f"Raise the weight of {report.metric}, or pay the other parts only behind it (when: {report.metric}); "
            "see 'Right, but paid little' below",
        )


def dominant_part(report: Report) -> Iterator[Finding]:
    """A part that is not the metric pays most of the reward's variance."""
    for part in report.parts:
        if part.name != report.metric and part.variance_share is not None and part.variance_share > 0.5:
            yield Finding(
                f"{part.name} pays {part.variance_share:.2g} of the reward's variance",
                f"Training will chase {part.name} before {report.metric}. Lower its weight, or pay it only behind "
                f"{report.metric} (when: {report.metric})",
            )


def against_the_metric(report: Report) -> Iterator[Finding]:
    """A paid part falls where the metric rises."""
    for part in _paid(report):
        if part.with_metric is not None and part.with_metric * part.weight < -0.2 * abs(part.weight):
            yield Finding(
                f"{part.name} works against {report.metric}: their correlation is {part.with_metric:.2f}",
                "It pays for wrong completions more than for right ones. Read some of both and mend or drop it",
            )


def constant_part(report: Report) -> Iterator[Finding]:
    """A paid part never varies."""
    for part in _paid(report):
        if not part.varies and part.scored > 1:
            yield Finding(
                f"{part.name} never varies: it is {part.mean:.3g} for all {part.scored:,} completions",
                "A constant cancels out in the advantages, so it teaches nothing. If it is 0, check that the "
                "completions were asked for what it looks for",
            )


def uniform_groups(report: Report) -> Iterator[Finding]:
    """A fifth of the groups carry no signal."""
    compared = sum(report.kinds.values()) - report.kinds.get("single", 0)
    uniform = compared - report.kinds.get("mixed", 0)
    if compared and uniform > 0.2 * compared:
        split = ", ".join(
            f"{count:,} {kind}" for kind in ("all wrong", "all right", "starved") if (count := report.kinds.get(kind))
        )
        yield Finding(
            f"{_share(uniform, compared)} of the groups carry no signal: all their rewards are equal ({split})",
            "Choose problems that the model sometimes solves, sample more completions of each, or let training replace "
            f"such groups (dynamic_sampling.part={report.metric})",
        )
    if compared and report.kinds.get("starved", 0) > 0.05 * compared:
        yield Finding(
            f"{_share(report.kinds['starved'], compared)} of the groups are starved: their completions differ, their "
            "rewards do not",
            "Weights that cancel out, a clip that is too narrow, or unscored completions do this; see the groups below",
        )


def cut(report: Report) -> Iterator[Finding]:
    """One of twenty completions was cut."""
    if report.cut > 0.05 * report.finish_known:
        yield Finding(
            f"{_share(report.cut, report.finish_known)} of the completions were cut at the length limit",
            "What a cut text would have answered is not known, and it is judged as wrong. Raise the limit "
            "(sampling.max_new_tokens), or pay brevity (overlong)",
        )


def no_answer(report: Report) -> Iterator[Finding]:
    """In a tenth of the completions the metric found no answer."""
    for part in report.parts:
        missing = part.statuses.get("no_answer", 0)
        if part.name.split(".")[-1] == report.metric and missing > 0.1 * report.completions:
            why = "; ".join(part.reasons.get("no_answer", ()))
            yield Finding(
                f"in {_share(missing, report.completions)} of the completions {part.name} found no answer"
                + (f" ({why})" if why else ""),
                "Read some of them: if there is an answer, the extraction or the prompt's format is at fault",
            )


def length(report: Report) -> Iterator[Finding]:
    """Length goes with the reward or the metric."""
    if report.length is None:
        return
    for name, value in ((report.metric, report.length.with_metric), ("the reward", report.length.with_reward)):
        if value is not None and abs(value) > 0.4:
            way = "longer" if value > 0 else "shorter"
            yield Finding(
                f"{name} and length correlate at {value:.2f}: {way} completions get more",
                "Check that it is not the length itself that pays (or the cut that costs): compare texts of equal "
                "length, and watch length while training",
            )


def weak_reward(report: Report) -> Iterator[Finding]:
    """The reward hardly follows the metric."""
    if report.reward_with_metric is not None and report.reward_with_metric < 0.5:
        yield Finding(
            f"the reward hardly follows {report.metric}: their correlation is {report.reward_with_metric:.2f}",
            "A higher reward will not be a better model. Look at the shares of variance below",
        )


def labels(report: Report) -> Iterator[Finding]:
    """The metric disagrees with the labels that the file brought."""
    wrong = report.labels.get((True, False), 0) + report.labels.get((False, True), 0)
    if wrong > 0.02 * sum(report.labels.values()):
        yield Finding(
            f"{report.metric} disagrees with {_share(wrong, sum(report.labels.values()))} of the labels "
            f"({report.labels.get((False, True), 0):,} right here but not there, "
            f"{report.labels.get((True, False), 0):,} right there but not here)",
            "Read those rows before you trust either",
        )


def slow(report: Report) -> Iterator[Finding]:
    """A hundredth of the verdicts takes most of the time, or verdicts time out."""
    timeouts = report.total.statuses.get("timeout", 0) + sum(p.statuses.get("timeout", 0) for p in report.parts)
    if timeouts:
        yield Finding(
            f"{timeouts:,} verdicts timed out",
            "They count as the completion's fault. See the slowest verdicts below for what they were given",
        )
    times = report.times
    if times and times.slowest_share is not None and times.slowest_share > 0.5 and report.completions >= 100:
        yield Finding(
            f"the slowest 1 % of the verdicts take {times.slowest_share:.0%} of the time "
            f"(the longest {seconds(times.longest)}, the median {seconds(times.median)})",
            "In training every step waits for its slowest verdict. See what they were given below",
        )


def _paid(report: Report) -> Iterator[Part]:
    return (part for part in report.parts if part.weight and not part.depth)


def _share(count: int, whole: int) -> str:
    share = count / whole
    return f"{share:.0%}" if share >= 0.01 else f"{share:.1%}"


Check = Callable[["Report"], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    *(unscored, misranked, dominant_part, weak_reward, against_the_metric, constant_part),
    *(uniform_groups, cut, no_answer, length, labels, slow),
)
