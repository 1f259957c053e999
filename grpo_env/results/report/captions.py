"""One sentence for each section of a report: what its picture says, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Length, Report, Steps, Times


def headline(report: Report) -> str:
    """The metric and the reward."""
    if report.accuracy is None:
        return f"No completion could be judged by {report.metric}."
    paid = f" and earn {report.reward.value:.3f} each" if report.reward else ""
    low, high = report.accuracy.interval
    return (
        f"The {report.completions:,} completions of {report.groups:,} prompts reach {report.accuracy.value:.3f} by "
        f"{report.metric} (95 % interval: {low:.3f} to {high:.3f}){paid}."
    )


def parts(report: Report) -> str:
    """What pays the reward's variance."""
    shares = {part.name: part.variance_share for part in report.parts if part.variance_share is not None}
    if not shares:
        return "All rewards are equal, so no part pays any of their variance: there is nothing to learn from."
    first = max(shares, key=lambda name: shares[name])
    verdict = "and it is the metric" if first == report.metric else f"while the metric is {report.metric}"
    return f"{first} pays {shares[first]:.2f} of the reward's variance: it decides most who earns more, {verdict}."


def pass_at(report: Report) -> str:
    """What more tries bring."""
    if report.largest_group < 2 or len(report.pass_at) < 2:
        return "Each prompt has one completion, so only pass@1 can be told; sample several for pass@k."
    first, (k, last) = next(iter(report.pass_at.values())), list(report.pass_at.items())[-1]
    if not last.value:
        return "No completion is right (a metric of 1), so more tries do not help."
    vote = f", a majority vote of {k} tries {report.maj_at[k].value:.1%}" if k in report.maj_at else ""
    return (
        f"One try solves {first.value:.1%} of the prompts{vote}, the best of {k} tries {last.value:.1%}: training "
        "can gain that much by making more likely what the model can do already."
    )


def groups(report: Report) -> str:
    """How many groups teach."""
    compared = report.groups - report.kinds.get("single", 0)
    if not compared:
        return "Every prompt has one completion: GRPO compares completions of one prompt, so none of this can teach."
    mixed = report.kinds.get("mixed", 0)
    kept = 1 - report.dropped / report.completions
    line = f"{mixed:,} of {compared:,} groups ({mixed / compared:.0%}) carry a signal"
    if not report.dropped:
        return f"{line}."
    more = f", so a batch of full use costs {1 / kept:.2g} times the samples" if 0 < kept < 0.95 else ""
    line += f"; dynamic sampling would drop the others, {report.dropped:,} completions{more}."
    if report.with_step_signal:
        line += (
            f" In {report.with_step_signal:,} of those the step scores differ: process supervision still learns there."
        )
    return line


def statuses(report: Report) -> str:
    """How much could not be judged."""
    if not report.unscored:
        return "Every completion has a reward."
    return (
        f"{report.unscored:,} of {report.completions:,} completions ({report.unscored / report.completions:.1%}) have "
        "no reward; that is not a 0: they are left out of training and of the means here."
    )


def length(length: Length, metric: str) -> str:
    """Whether length pays."""
    if length.with_reward is None:
        return f"A completion has {length.mean:,.0f} {length.unit} on average; length or reward does not vary."
    strength = abs(length.with_reward)
    says = "longer ones earn " + ("more" if length.with_reward > 0 else "less")
    if strength < 0.1:
        says = "length hardly matters for the reward"
    elif strength < 0.3:
        says += ", but only weakly"
    also = "" if length.with_metric is None else f"; {length.with_metric:.2f} with {metric}"
    says += f" (correlation {length.with_reward:.2f}{also})"
    return f"A completion has {length.mean:,.0f} {length.unit} on average; {says}."


def times(times: Times) -> str:
    """Where the seconds go."""
    share = f"; the slowest hundredth takes {times.slowest_share:.0%} of it" if times.slowest_share is not None else ""
    return (
        f"Judging took {seconds(times.total)} in all{share}. The median verdict takes {seconds(times.median)}, the "
        f"longest {seconds(times.longest)}."
    )


def seconds(value: float) -> str:
    """A time with its unit."""
    if value < 1:
        return f"{value * 1000:.2g} ms"
    return f"{value:.2g} s" if value < 10 else f"{value:,.0f} s"


def steps(steps: Steps) -> str:
    """Where steps go wrong."""
    known = [value for value in steps.by_position if value is not None]
    each = f"{steps.steps / steps.completions:.2g} steps each in {steps.completions:,} completions"
    if max(known) - min(known) < 0.02 * max(abs(steps.highest), abs(steps.lowest)):
        return f"{steps.part} found {each}; they are worth the same wherever they stand."
    ordinal = ("first", "second", "third", "fourth", "last")
    worst = ordinal[min((v, at) for at, v in enumerate(steps.by_position) if v is not None)[1]]
    return f"{steps.part} found {each}; they are worth least in the {worst} fifth of a completion's steps."
