"""How far a command is: a bar on a terminal, a line every minute elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

INTERVAL = 60.0  # seconds between two lines


@contextmanager
def progress(
    label: str, total: int | None, console: Console, advice: str = "", *, size: int | None = None
) -> Iterator[Callable[..., None]]:
    """Show how many of ``total`` completions are done, and the time left.

    The block gets a function to call with the number of further completions. Where only a ``size`` is known, such as
    that of a file, it also takes their part of that. ``advice`` is added to the first line.
    """
    whole, of = (size, "") if total is None else (total, f" of {total:,}")
    began, done, reached, finished = time.monotonic(), 0, 0, threading.Event()

    def count(completions: int, part: int | None = None) -> None:
        nonlocal done, reached
        done, reached = done + completions, reached + (completions if part is None else part)

    def state() -> str:
        left = clock((time.monotonic() - began) / reached * (whole - reached)) if whole and reached else "?"
        return f"{label}: {done:,}{of} completions, left {left}"

    def print_lines() -> None:
        further = advice
        while not finished.wait(INTERVAL):
            console.print(f"{state()}{further}", style="dim", soft_wrap=True)
            further = ""

    if console.is_terminal:
        with Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), console=console, transient=True
        ) as bar:
            task = bar.add_task(state(), total=whole)

            def advance(completions: int, part: int | None = None) -> None:
                count(completions, part)
                bar.update(task, completed=reached, description=state())

            yield advance
        return
    thread = threading.Thread(target=print_lines, daemon=True)
    thread.start()
    try:
        yield count
    finally:
        finished.set()
        thread.join()


def clock(seconds: float) -> str:
    """M:SS, or H:MM:SS from an hour on."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
