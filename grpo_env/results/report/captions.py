"""One sentence for each section of a report: what its charts show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grpo_env.plural import counted

from .charts import is_like_reward

if TYPE_CHECKING:
    from .report import Report


def headline(report: Report) -> str:
    """The metric and the mean reward; prompts are not counted where no rows were joined to groups."""
    if report.accuracy is None:
        return f"No completion could be scored by {report.metric}."
    reward = f". The mean reward is {report.reward.value:.3f}" if report.reward else ""
    ends = report.accuracy.interval
    interval = f" (95% interval {ends[0]:.3f} to {ends[1]:.3f})" if ends else ""
    prompts = f" of {counted(report.groups, 'prompt')}" if report.largest_group > 1 else ""
    completions = f"{counted(report.completions, 'completion')}{prompts}"
    return f"{completions}: mean {report.metric} {report.accuracy.value:.3f}{interval}{reward}."


def parts(report: Report) -> str:
    """Which part decides the reward."""
    if report.reward is None:
        return "No completion has a reward."
    fractions = {part.name: part.variance_fraction for part in report.parts if part.variance_fraction is not None}
    if not fractions:
        return "All rewards are equal, so there is no variance to explain and nothing to learn."
    largest = max(fractions, key=lambda name: fractions[name])
    if largest == report.metric:
        return f"The metric, {largest}, accounts for {fractions[largest]:.0%} of the reward's variance."
    return f"{largest} accounts for {fractions[largest]:.0%} of the reward's variance; the metric is {report.metric}."


def constants(report: Report) -> str:
    """The parts that have no chart because they never vary, or because it would be that of the reward."""
    top = [part for part in report.parts if not part.depth and part.scored]
    constant = [f"{part.name} {part.values.labels[0]}" for part in top if not part.varies]
    alike = [part.name for part in top if is_like_reward(part, report)]
    said = [f"Distributed as the reward: {', '.join(alike)}."] if alike else []
    return " ".join([*said, *([f"Always the same: {', '.join(constant)}."] if constant else [])])


def pass_at(report: Report) -> str:
    """What sampling more completions brings."""
    if not report.pass_at:
        return f"No completion could be scored by {report.metric}."
    if len(report.pass_at) < 2:
        return "No prompt has several scored completions, so only pass@1 is known; sample several for pass@k."
    first, (k, last) = next(iter(report.pass_at.values())), list(report.pass_at.items())[-1]
    if not last.value:
        return "No completion is correct (metric at least 1), so sampling more does not help."
    vote = f", maj@{k} is {report.maj_at[k].value:.1%}" if k in report.maj_at else ""
    return (
        f"pass@1 is {first.value:.1%}{vote} and pass@{k} is {last.value:.1%}. Training can raise pass@1 toward "
        f"pass@{k} by making correct completions more likely."
    )


def groups(report: Report) -> str:
    """How many groups are informative."""
    compared = report.groups - report.kinds.get("single", 0)
    if not compared:
        return "Every prompt has one completion. GRPO compares completions of one prompt, so there is no gradient."
    mixed = report.kinds.get("mixed", 0)
    text = f"{mixed:,} of {compared:,} groups ({mixed / compared:.0%}) give a gradient"
    if not report.uninformative:
        return f"{text}."
    text += f"; dynamic sampling would drop the others, {report.uninformative:,} completions"
    kept = 1 - report.uninformative / report.completions
    if 0 < kept < 0.95:
        text += f", so a full batch of informative groups takes {1 / kept:.2g} times the samples"
    text += "."
    if report.with_step_signal:
        text += (
            f" In {report.with_step_signal:,} of those the step scores differ, so process supervision still gives a "
            "gradient."
        )
    return text


def statuses(report: Report) -> str:
    """How many completions are unscored."""
    if not report.unscored:
        return "Every completion has a reward."
    return (
        f"{report.unscored:,} of {report.completions:,} completions ({report.unscored / report.completions:.1%}) are "
        "unscored. That is not a reward of 0: they are left out of training and of all means on this page."
    )


def length(report: Report) -> str:
    """How the reward depends on length, if so many prompts tell it."""
    length = report.length
    assert length is not None
    mean = f"The mean completion has {length.mean:,.0f} {length.unit}"
    if length.reward_correlation is None:
        return f"{mean}; length or reward does not vary."
    ends = report.interval(length.reward_correlation)
    if ends is None or (ends[0] <= 0 <= ends[1] and max(-ends[0], ends[1]) > 0.2):
        trend = f"{counted(report.groups, 'prompt')} cannot tell whether the reward depends on length"
    elif abs(length.reward_correlation) < 0.1:
        trend = "the reward hardly depends on length"
    else:
        trend = f"longer completions get {'higher' if length.reward_correlation > 0 else 'lower'} rewards"
    interval = f", 95% interval {ends[0]:.2f} to {ends[1]:.2f}" if ends else ""
    with_metric = "" if length.metric_correlation is None else f"; with {report.metric} {length.metric_correlation:.2f}"
    return f"{mean}; {trend} (correlation with the reward {length.reward_correlation:.2f}{interval}{with_metric})."
