"""The summary table at the end of a scoring run."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from grpo_env.plural import counted
from grpo_env.taskfile.kinds_of_golds import compares_by_kind, odd_golds
from grpo_env.taskfile.task import Task
from grpo_env.terminal import visible

from .problems import warn
from .summary import FAILURES, ScoreSummary

LONGEST_REASON = 300  # characters shown


def print_summary(
    summary: ScoreSummary, task: Task, console: Console, *, seconds: float, completions_before: int
) -> None:
    """Print each part's mean, how many completions it scored, and the statuses of the others.

    ``completions_before`` were scored by an earlier run, the rest in ``seconds``.
    """
    table = Table(box=None, header_style="bold")
    for column in ("part", "mean", "scored", "statuses"):
        table.add_column(column, justify="right" if column in ("mean", "scored") else "left")
    for name, statuses in summary.statuses.items():
        mean = summary.mean(name)
        others = ", ".join(f"{status} {count:,}" for status, count in statuses.most_common() if status != "scored")
        label = f"{name} (metric)" if name == task.metric else name
        table.add_row(label, "-" if mean is None else f"{mean:.4f}", f"{summary.scored[name]:,}", others)
    console.print(table)
    for name, why in (summary.first_reasons | summary.first_failures).items():
        first = f"the first reason is {visible(why, LONGEST_REASON)}"
        if not summary.scored[name]:
            warn(console, f"{name} has no score; {first}")
        elif name in summary.first_failures:
            failed = sum(summary.statuses[name][status] for status in FAILURES)
            warn(console, f"{name} has no score for {counted(failed, 'completion')}; {first}")
    if len(summary.zero_reasons) == 1 and summary.zero_reasons.total() == summary.scored[task.metric] > 1:
        (why,) = summary.zero_reasons
        warn(
            console,
            f"{task.metric} is 0 for all {summary.scored[task.metric]:,} completions, for one reason: "
            f"{visible(why, LONGEST_REASON)}",
        )
    if summary.nothing_scored:
        warn(console, "no completion has a total")
    completions = summary.completions - completions_before
    rate = completions / seconds if seconds else 0.0
    now = f", {completions:,} of them now" if completions_before else ""
    console.print(
        f"{counted(summary.completions, 'completion')} of {counted(summary.rows, 'row')}{now} in {seconds:.1f} s "
        f"({rate:,.0f}/s)"
    )
    if summary.labeled:
        wrong = summary.false_positives + summary.false_negatives
        console.print(
            f"agreement of {task.metric} with the labels: {summary.labeled - wrong:,} of {summary.labeled:,}"
            f" ({summary.false_positives} false positives,"
            f" {summary.false_negatives} false negatives)",
            soft_wrap=True,
        )
    print_skipped(summary, console)
    if summary.bad_rows:
        warn(console, f"{counted(summary.bad_rows, 'row')} could not be scored")
    if compares_by_kind(task) and (line := odd_golds(summary.kinds, summary.first_of_kind)):
        warn(console, line)


def print_skipped(summary: ScoreSummary, console: Console) -> None:
    """Print how many rows ``dataset.bad_gold: skip`` left out, if any."""
    if summary.skipped:
        are = "row without a usable gold answer is" if summary.skipped == 1 else "rows without a usable gold answer are"
        warn(console, f"{summary.skipped:,} {are} skipped (dataset.bad_gold=skip)")
