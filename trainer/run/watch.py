"""``grpo_env watch``: follows a run from another process, by reading the files of its folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from grpo_env.errors import UsageError

from .console import RunConsole
from .folder import read_config

POLL = 0.5  # seconds between two reads of a file


def watch(run: Path, console: Console | None = None, poll: float = POLL) -> None:
    """Show a run's console output from its first row, until the run is finished or Ctrl-C is pressed.

    Raises ``UsageError`` for a folder that is not a run.
    """
    steps = read_config(run)["steps"]
    run_console = RunConsole(steps, console or Console(highlight=False))
    run_console.print(f"run        {run}, {steps} steps; Ctrl-C stops watching, not the run")
    try:
        for row, written in follow(run / "metrics.jsonl", poll):
            run_console.show(row, written)
            if row["kind"] == "eval" and row["step"] == steps:
                break
    except KeyboardInterrupt:
        pass
    finally:
        run_console.close()


def follow(file: Path, poll: float = POLL) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield the rows of a file that another process writes, each with the file's modification time; never ends.

    Incomplete lines are not read. If the file is replaced, as by a resumed run, rows are yielded again from the first
    that changed. Raises ``UsageError`` for a line that is not JSON.
    """
    known: list[bytes] = []
    inode, offset, number = -1, 0, 0
    while True:
        if file.exists():
            with file.open("rb") as stream:
                status = os.fstat(stream.fileno())
                if status.st_ino != inode:
                    inode, offset, number = status.st_ino, 0, 0
                stream.seek(offset)
                for line in stream:
                    if not line.endswith(b"\n"):
                        break
                    offset, number = offset + len(line), number + 1
                    if known[number - 1 : number] != [line]:
                        known[number - 1 :] = [line]
                        yield _parse(line, file, number), status.st_mtime
        time.sleep(poll)


def _parse(line: bytes, file: Path, number: int) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{file}, line {number}: not valid JSON ({error})") from error
    return row
