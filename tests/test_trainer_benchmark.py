"""The stopwatch of the trainer's benchmark, whose published times depend on it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"


def test_nested_timers_count_each_second_once(monkeypatch: pytest.MonkeyPatch) -> None:
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
    stopwatch = sides.Stopwatch(lambda: part.time)
    stopwatch.wrap(part, "inner", "inner")
    stopwatch.wrap(part, "outer", "outer")
    part.outer()
    part.inner()
    thread = threading.Thread(target=part.outer)
    thread.start()
    thread.join()
    assert stopwatch.seconds == {"inner": 6.0, "outer": 1.0}
    assert stopwatch.background_seconds == {"inner": 4.0, "outer": 1.0}, "times in other threads are kept apart"


def test_only_the_main_thread_waits_for_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """In another thread it would break a CUDA graph that is being recorded."""
    monkeypatch.syspath_prepend(FOLDER)
    import sides

    waits = list[str]()
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.synchronize", lambda: waits.append(threading.current_thread().name))
    thread = threading.Thread(target=sides.now)
    thread.start()
    thread.join()
    sides.now()
    assert waits == [threading.main_thread().name]
