"""The number of cores for processes that share work."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """The cores that this process may run on: of a machine with 128, the 8 of its job (Slurm, a cpuset)."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
