"""The processes that an environment has started, on Linux. Standard library only."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_SET_CHILD_SUBREAPER = 36  # prctl(2)


def adopt_orphans() -> None:
    """Become the parent of all that this process's children start and leave behind, where the system can."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> list[int]:
    """The running children of a process, theirs, and so on; none where the system has no /proc."""
    started: dict[int, list[int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            state, parent = file.read_text().rpartition(") ")[2].split()[:2]
            if state != "Z":
                started.setdefault(int(parent), []).append(int(file.parent.name))
    found, rest = [], [pid]
    while rest:
        rest = [child for parent in rest for child in started.get(parent, ())]
        found += rest
    return found


def end(pids: Iterable[int]) -> None:
    """Kill processes, and collect those that are this process's own children."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
