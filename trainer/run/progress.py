"""How far sampling is, and the time left: a bar on a terminal, a line every minute elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

LINE_INTERVAL = 60.0  # seconds between two lines


@contextmanager
def progress(label: str, total: int, console: Console, advice: str = "") -> Iterator[Callable[[int], None]]:
    """The block gets a function to call with the number of further completions of ``total``.

    ``advice`` is added to the first line.
    """
    if console.is_terminal:
        columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.completed:,} of {task.total:,} completions"))
        with Progress(TextColumn(label), *columns, TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task(label, total=total)
            yield lambda count: bar.advance(task, count)
        return
    done, finished, began = 0, threading.Event(), time.monotonic()

    def advance(count: int) -> None:
        nonlocal done
        done += count

    def print_lines() -> None:
        further = advice
        while not finished.wait(LINE_INTERVAL):
            left = clock((time.monotonic() - began) / done * (total - done)) if done else "?"
            line = f"{label}: {done:,} of {total:,} completions, left {left}{further}"
            console.print(line, style="dim", soft_wrap=True)
            further = ""

    thread = threading.Thread(target=print_lines, daemon=True)
    thread.start()
    try:
        yield advance
    finally:
        finished.set()
        thread.join()


def clock(seconds: float) -> str:
    """M:SS, or H:MM:SS from an hour on."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
