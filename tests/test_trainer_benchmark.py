"""The benchmark of the trainer still finds what it measures: a run of the script, and its stopwatch."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


def test_the_script_measures_our_side() -> None:
    """All parts of a step are found in the trainer, and together they are the step."""
    small = ["--prompts", "2", "--group", "8", "--tokens", "40", "--steps", "1", "--rounds", "1", "--only", "steps"]
    command = [sys.executable, str(FOLDER / "trainer.py"), *small, "--reward", "repetition"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = re.findall(r"^\| ours \| (.*) \|$", done.stdout, re.MULTILINE)
    step, _, speed, *parts, peak, prompt, length, uniform = row.split(" | ")
    assert len(parts) == 6
    assert all(float(part) > 0 for part in (parts[0], *parts[2:4])), "sample, forward and backward"
    assert sum(map(float, parts)) >= float(step) - 0.005, "scoring beside the sampling is in both"
    assert float(speed.replace(",", "")) * float(step) == pytest.approx(16 * float(length), rel=0.02)
    assert float(peak) > 0.1
    assert (int(prompt) > 10, float(length) <= 40, uniform.endswith("%")) == (True, True, True)


def test_what_is_timed_inside_something_timed_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    import sides

    class Part:
        time = 0.0

        def inner(self) -> None:
            self.time += 2

        def outer(self) -> None:
            self.inner()
            self.time += 1
            self.inner()

    part = Part()
    watch = sides.Stopwatch(lambda: part.time)
    watch.put_on(part, "inner", "inner")
    watch.put_on(part, "outer", "outer")
    part.outer()
    part.inner()
    thread = threading.Thread(target=part.outer)
    thread.start()
    thread.join()
    assert watch.seconds == {"inner": 6.0, "outer": 1.0}
    assert watch.beside == {"inner": 4.0, "outer": 1.0}
