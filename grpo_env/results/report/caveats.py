"""Warnings about a reward, as pure functions of a report.

The thresholds are rules of thumb, loose enough that a sound reward passes; nothing else depends on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from grpo_env.core import UNSCORED

from ..part_scores import is_called

if TYPE_CHECKING:
    from grpo_env.confidence_intervals import Interval

    from .groups import GroupKind
    from .report import Part, Report


class RewardWarning(NamedTuple):
    """A problem with its numbers, and what to do about it."""

    problem: str
    advice: str


def reward_warnings(report: Report) -> list[RewardWarning]:
    """Everything that argues against training on this reward as it is, most serious first."""
    return [warning for check in CHECKS for warning in check(report)]


def unscored(report: Report) -> Iterator[RewardWarning]:
    """More than 5% of the completions have no reward."""
    if report.unscored <= 0.05 * report.completions:
        return
    reasons = "; ".join(reason for status in UNSCORED for reason in report.total.reasons.get(status, ()))
    yield RewardWarning(
        f"{_percent(report.unscored, report.completions)} of the completions are unscored"
        + (f"; first reasons: {reasons}" if reasons else ""),
        "They are left out of training and of all means here. Fix the gold answers or the verifier first",
    )


def misranked(report: Report) -> Iterator[RewardWarning]:
    """In more than 5% of the groups with correct and wrong completions a wrong one has a higher reward."""
    if report.misranked > 0.05 * report.rankable:
        yield RewardWarning(
            f"in {_percent(report.misranked, report.rankable)} of the groups with correct and wrong completions a "
            "wrong one has a higher reward than a correct one",
            f"Raise the weight of {report.metric}, or reward the other parts only if it passes (when: "
            f"{report.metric}); see 'Correct, low reward' below",
        )


def dominant_part(report: Report) -> Iterator[RewardWarning]:
    """A part without the metric accounts for most of the reward's variance."""
    metric = next((part.name for part in report.parts if is_called(part.name, report.metric)), "")
    for part in report.parts:
        has_metric = f"{metric}.".startswith(f"{part.name}.")
        if not has_metric and part.variance_fraction is not None and part.variance_fraction > 0.5:
            yield RewardWarning(
                f"{part.name} accounts for {part.variance_fraction:.0%} of the reward's variance",
                f"Training will optimize {part.name} before {report.metric}. Lower its weight, or reward it only if "
                f"{report.metric} passes (when: {report.metric})",
            )


def against_the_metric(report: Report) -> Iterator[RewardWarning]:
    """A weighted part falls when the metric rises."""
    for part in _weighted(report):
        ends = report.interval(part.metric_correlation)
        weight = sum(part.weights)
        if ends and max(end * weight for end in ends) < -0.2 * abs(weight):
            yield RewardWarning(
                f"{part.name} works against {report.metric}: {_with_interval(part.metric_correlation, ends)}",
                "It rewards wrong completions more than correct ones. Read some of both, then fix or drop it",
            )


def constant_part(report: Report) -> Iterator[RewardWarning]:
    """Weighted parts never vary."""
    constant: dict[str, list[str]] = {}
    for part in _weighted(report):
        if not part.varies and part.scored > 1:
            constant.setdefault(f"{part.mean:.3g} for all {part.scored:,} completions", []).append(part.name)
    for value, names in constant.items():
        yield RewardWarning(
            f"always the same: {', '.join(names)} ({value})",
            "The prompts of these completions are not in the file; if they did not ask for what is rewarded, this says "
            "nothing of training with the task's own"
            if report.without_prompt == report.completions
            else "A constant cancels out in the advantages and gives no gradient. If it is 0, check that the prompt "
            "asks for what is rewarded",
        )


def uniform_groups(report: Report) -> Iterator[RewardWarning]:
    """More than 20% of the groups give no gradient, or more than 5% hide a difference."""
    compared = sum(report.kinds.values()) - report.kinds.get("single", 0)
    uniform = compared - report.kinds.get("mixed", 0)
    masked = report.kinds.get("masked signal", 0)
    if compared and uniform > 0.2 * compared:
        kinds: tuple[GroupKind, ...] = ("all wrong", "all correct", "masked signal")
        counts = ", ".join(f"{count:,} {kind}" for kind in kinds if (count := report.kinds.get(kind)))
        yield RewardWarning(
            f"{_percent(uniform, compared)} of the groups have identical rewards ({counts})",
            "Identical rewards give no gradient. Choose prompts that the model sometimes solves, sample more "
            f"completions per prompt, or let training replace such groups (dynamic_sampling.part={report.metric})",
        )
    if compared and masked > 0.05 * compared:
        yield RewardWarning(
            f"in {_percent(masked, compared)} of the groups the signal is masked: the completions differ and their "
            "rewards do not, or fewer than two are scored",
            "Possible causes are weights that cancel out, a clip that is too narrow, and unscored completions; see "
            "the groups below",
        )


def truncated(report: Report) -> Iterator[RewardWarning]:
    """More than 5% of the completions were truncated."""
    if report.truncated > 0.05 * report.finish_known:
        some = report.finish_known < report.completions
        which = f"{report.finish_known:,} completions with a finish reason" if some else "completions"
        yield RewardWarning(
            f"{_percent(report.truncated, report.finish_known)} of the {which} were truncated at the length limit",
            "Truncated completions usually score as wrong. Raise the limit (sampling.max_new_tokens), or penalize "
            "length (overlong)",
        )


def no_answer(report: Report) -> Iterator[RewardWarning]:
    """The metric found no answer in more than 10% of the completions."""
    for part in report.parts:
        missing = part.statuses.get("no_answer", 0)
        if is_called(part.name, report.metric) and missing > 0.1 * report.completions:
            reasons = "; ".join(part.reasons.get("no_answer", ()))
            yield RewardWarning(
                f"{part.name} found no answer in {_percent(missing, report.completions)} of the completions"
                + (f" ({reasons})" if reasons else ""),
                "Read some of them: if they contain an answer, the extraction or the prompt's format is wrong",
            )


def length(report: Report) -> Iterator[RewardWarning]:
    """The reward or the metric is correlated with length."""
    if report.length is None:
        return
    correlations = {report.metric: report.length.metric_correlation, "the reward": report.length.reward_correlation}
    for name, value in correlations.items():
        ends = report.interval(value)
        if ends and (ends[0] > 0.4 or ends[1] < -0.4):
            yield RewardWarning(
                f"{'longer' if ends[0] > 0 else 'shorter'} completions score higher: of {name} and length "
                f"{_with_interval(value, ends)}",
                "Check that length itself is not rewarded (or truncation penalized): compare completions of equal "
                "length, and watch length during training",
            )


def timeouts(report: Report) -> Iterator[RewardWarning]:
    """Some scores timed out."""
    timeouts = sum(part.statuses.get("timeout", 0) for part in (report.total, *report.parts))
    if timeouts:
        yield RewardWarning(
            f"{timeouts:,} scores timed out",
            "A timeout normally counts as 0. In training, every step waits for its slowest score",
        )


def _weighted(report: Report) -> Iterator[Part]:
    return (part for part in report.parts if part.rewarded and not part.depth)


def _with_interval(correlation: float | None, ends: Interval) -> str:
    return f"the correlation is {correlation:.2f} (95% interval {ends[0]:.2f} to {ends[1]:.2f})"


def _percent(count: int, whole: int) -> str:
    fraction = count / whole
    return f"{fraction:.0%}" if fraction >= 0.01 else f"{fraction:.1%}"


CHECKS: tuple[Callable[[Report], Iterator[RewardWarning]], ...] = (
    unscored,
    misranked,
    dominant_part,
    against_the_metric,
    constant_part,
    uniform_groups,
    truncated,
    no_answer,
    length,
    timeouts,
)
"""The checks, most serious first."""
