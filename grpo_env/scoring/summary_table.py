"""What the terminal shows of a scoring run: how far it is, and the summary at its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from grpo_env.taskfile.task import Task

from .summary import ScoreSummary

Advance = Callable[[int, int], None]  # by so much (``Input.size``), which held so many completions


@contextmanager
def progress(total: int | None, talk: Console) -> Iterator[Advance]:
    """A bar on a terminal, nothing elsewhere. ``total`` is the sum of ``Input.size``."""
    if not talk.is_terminal:
        yield lambda size, completions: None
        return
    columns = (
        TextColumn("scoring"),
        BarColumn(),
        *((TaskProgressColumn(),) if total else ()),
        TextColumn("{task.fields[done]:,} completions, {task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn() if total else TimeElapsedColumn(),
    )
    with Progress(*columns, console=talk, transient=True) as bar:
        task = bar.add_task("scoring", total=total, done=0, rate=0.0)
        start, done = time.monotonic(), 0

        def advance(size: int, completions: int) -> None:
            nonlocal done
            done += completions
            bar.update(task, advance=size, done=done, rate=done / max(time.monotonic() - start, 1e-9))

        yield advance


def show_tally(tally: ScoreSummary, task: Task, talk: Console, seconds: float, completions: int) -> None:
    """The summary table: each part's mean, how many were scored, and why the others were not.

    ``completions`` of those in the tally were scored in these ``seconds``.
    """
    table = Table(box=None, header_style="bold")
    for column in ("part", "mean", "scored", "statuses"):
        table.add_column(column, justify="right" if column in ("mean", "scored") else "left")
    for name, statuses in tally.statuses.items():
        mean = tally.mean(name)
        others = ", ".join(f"{status} {count:,}" for status, count in statuses.most_common() if status != "scored")
        marked = f"{name} (metric)" if name == task.metric else name
        table.add_row(marked, "-" if mean is None else f"{mean:.4f}", f"{tally.scored[name]:,}", others)
    talk.print(table)
    rate = completions / seconds if seconds else 0.0
    now = f", {completions:,} of them now" if completions < tally.completions else ""
    talk.print(f"{tally.completions:,} completions of {tally.rows:,} rows{now} in {seconds:.1f} s ({rate:,.0f}/s)")
    if tally.labelled:
        wrong = sum(tally.disagreements.values())
        talk.print(
            f"agreement of {task.metric} with the labels: {tally.labelled - wrong:,} of {tally.labelled:,}"
            f" ({tally.disagreements[(False, True)]} right here but not there,"
            f" {tally.disagreements[(True, False)]} right there but not here)"
        )
    if tally.bad_rows:
        talk.print(f"{tally.bad_rows:,} rows could not be scored", style="yellow")
