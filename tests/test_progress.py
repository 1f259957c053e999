"""How far a command is: lines off a terminal, a bar on one, and the time left."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace

import pytest

from grpo_env.console import plain_console
from grpo_env.progress import clock, progress


def test_lines_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grpo_env.progress.INTERVAL", 0.001)
    console = plain_console(file=(out := io.StringIO()), width=120)
    with progress("evaluation after 0 steps", 40, console, "; eval.at_start=false skips it") as advance:
        advance(3)
        advance(4)
        for _ in range(5000):
            if out.getvalue().count("7 of 40 completions, left 0:00") > 1:
                break
            time.sleep(0.002)
    assert out.getvalue().count("; eval.at_start=false skips it") == 1  # in the first line
    assert "evaluation after 0 steps: 7 of 40 completions, left 0:00\n" in out.getvalue()


def test_what_ends_within_a_minute_prints_nothing() -> None:
    console = plain_console(file=(out := io.StringIO()), width=120)
    with progress("eval", 40, console) as advance:
        advance(40)
    assert out.getvalue() == ""


@pytest.mark.parametrize(("size", "left"), [(300, "0:20"), (None, "?")])
def test_a_bar_on_a_terminal_where_only_a_size_is_known(
    monkeypatch: pytest.MonkeyPatch, size: int | None, left: str
) -> None:
    """A third of the bytes in ten seconds leaves twenty; of a pipe nobody knows."""
    times = iter([0.0])
    monkeypatch.setattr("grpo_env.progress.time", SimpleNamespace(monotonic=lambda: next(times, 10.0)))
    console = plain_console(file=(out := io.StringIO()), width=120, force_terminal=True)
    with progress("scoring", None, console, size=size) as advance:
        advance(64, 100)
    assert f"scoring: 64 completions, left {left}" in out.getvalue()


def test_clock() -> None:
    assert [clock(seconds) for seconds in (0, 59.6, 3599, 3661)] == ["0:00", "1:00", "59:59", "1:01:01"]
