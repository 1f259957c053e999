"""How far sampling is, and the time left: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

LINE_INTERVAL = 60.0  # seconds between two lines


@contextmanager
def progress(label: str, total: int, console: Console) -> Iterator[Callable[[int], None]]:
    """The block gets a function to call with the number of further completions of ``total``."""
    if console.is_terminal:
        columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.completed:,} of {task.total:,} completions"))
        with Progress(TextColumn(label), *columns, TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task(label, total=total)
            yield lambda count: bar.advance(task, count)
        return
    done, start, last_line = 0, time.monotonic(), time.monotonic()

    def advance(count: int) -> None:
        nonlocal done, last_line
        done += count
        now = time.monotonic()
        if now - last_line >= LINE_INTERVAL and done < total:
            last_line = now
            left = timedelta(seconds=round((now - start) / done * (total - done)))
            console.print(f"{label}: {done:,} of {total:,} completions, {left} left", markup=False)

    yield advance
