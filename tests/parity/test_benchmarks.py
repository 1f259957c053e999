"""Smoke tests of the benchmarks that compare with TRL, on very small inputs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="TRL is not installed; see test_trl.py for how to run these tests")

FOLDER = Path(__file__).parent.parent.parent / "benchmarks"


def output_of(script: str, *options: str) -> str:
    command = [sys.executable, str(FOLDER / script), "--peer-python", sys.executable, *options]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_trainer_benchmark_prints_steps_and_decoding() -> None:
    """The script itself compares the prompts of both sides."""
    small = ["--prompts", "2", "--group", "4", "--tokens", "30", "--steps", "1", "--rounds", "1", "--rows", "4"]
    output = output_of("trainer.py", *small)
    for row in ("| ours |", "| trl |", "| ours is better by |", "| spread | ours : generate |"):
        assert row in output


def test_learning_benchmark_prints_and_plots_curves(tmp_path: Path) -> None:
    times = ["--seconds", "6", "--every", "6", "--seeds", "1", "--examples", "4", "--clock", "cpu"]
    output = output_of("learning.py", *times, "--plot", str(tmp_path / "curves.png"))
    assert output.count("| ours | ") == output.count("| trl | ") == 2
    assert (tmp_path / "curves.png").stat().st_size > 10_000


def test_parts_of_our_step_are_timed_and_add_up() -> None:
    """The trainer calls every timed function, and the parts of a step add up to it."""
    small = ["--prompts", "2", "--group", "8", "--tokens", "40", "--steps", "1", "--rounds", "1", "--only", "steps"]
    command = [sys.executable, str(FOLDER / "trainer.py"), *small, "--reward", "repetition"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    (row,) = re.findall(r"^\| ours \| (.*) \|$", process.stdout, re.MULTILINE)
    step, _, speed, *parts, peak, prompt, length, uniform = row.split(" | ")
    assert len(parts) == 6
    assert all(float(part) > 0 for part in (parts[0], *parts[2:4])), "sample, forward and backward"
    assert sum(map(float, parts)) >= float(step) - 0.005, "scoring during sampling is in both"
    assert float(speed.replace(",", "")) * float(step) == pytest.approx(16 * float(length), rel=0.02)
    assert float(peak) > 0.1
    assert (int(prompt) > 10, float(length) <= 40, uniform.endswith("%")) == (True, True, True)
