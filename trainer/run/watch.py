"""``grpo_env watch``: a run seen from outside, by nothing but the files of its folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from grpo_env.errors import UsageError

from .console import Report
from .folder import read_config

POLL = 0.5  # seconds between two looks at a file


def watch(run: Path, console: Console | None = None, poll: float = POLL) -> None:
    """Show a run as it shows itself, from its first row on, until it is finished or Ctrl-C is pressed.

    Raises ``UsageError`` for a folder that is no run.
    """
    steps = read_config(run)["steps"]
    report = Report(steps, console or Console(highlight=False))
    report.say(f"run        {run}, {steps} steps; Ctrl-C ends the watching, not the run")
    try:
        for row, written in follow(run / "metrics.jsonl", poll):
            report.show(row, heard=written)
            if row["kind"] == "eval" and row["step"] == steps:
                break
    except KeyboardInterrupt:
        pass
    finally:
        report.close()


def follow(file: Path, poll: float = POLL) -> Iterator[tuple[dict[str, Any], float]]:
    """The rows of a file that another process writes, each with the time of the file's last change; without an end.

    A line counts when its end is written. Where the file is written anew, as a resumed run does, only rows from the
    first changed one on come again. Raises ``UsageError`` for a line that is not JSON.
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
