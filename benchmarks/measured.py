"""One side of a benchmark of verdicts in a process of its own, so that times compare and each side has its packages."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections.abc import Iterator
from typing import Any


def measure(verdicts: Iterator[list[Any]]) -> None:
    """The measured process: pinned to one core, print seconds, processor seconds and verdicts as JSON.

    The first item that ``verdicts`` yields is not measured: it says that the imports are done.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    next(verdicts)
    start, used = time.perf_counter(), _processor_time()
    values = [verdict for some in verdicts for verdict in some]
    seconds, used = time.perf_counter() - start, _processor_time() - used
    print(json.dumps({"seconds": seconds, "cpu": used, "verdicts": values}))


def _processor_time() -> float:
    """Seconds of this process and of the children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def run(script: str, side: str, python: str, path: str) -> dict[str, Any]:
    """What ``python script --side side path``, a call of ``measure``, prints; ``total`` is its time with the start."""
    start = time.perf_counter()
    process = subprocess.run([python, script, "--side", side, path], stdout=subprocess.PIPE, text=True, check=True)
    return {**json.loads(process.stdout.splitlines()[-1]), "total": time.perf_counter() - start}
