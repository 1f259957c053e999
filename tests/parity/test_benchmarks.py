"""Smoke tests of the benchmarks that compare with TRL, on very small inputs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

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
    assert output.count("| ours | 0 | ") == output.count("| trl | 0 | ") == 2
    assert output.count("| ours | ") == output.count("| trl | ") == 4, "two points of a seed, two of the means"
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


def test_trl_gets_the_same_gradients_from_completions_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the benchmark changes in TRL saves time and nothing else."""
    from transformers import LlamaConfig, LlamaForCausalLM
    from trl.trainer import utils

    monkeypatch.syspath_prepend(FOLDER)
    import peer

    monkeypatch.setattr(utils, "_use_triton", utils._use_triton)  # restored afterwards
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=40, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    model = LlamaForCausalLM(config)
    utils.add_fused_lm_head(model, outputs=("log_probs", "entropy"))
    ids = torch.randint(40, (3, 12))
    labels = ids.masked_fill(torch.arange(12) < 8, -100)
    results, rows = [], []
    head = utils._ChunkedLogProbFunction
    monkeypatch.setattr(utils, "_ChunkedLogProbFunction", CountsRows(head, rows))
    for _ in range(2):
        output = model(input_ids=ids, labels=labels, fused_lm_head=True)
        weights = list(model.parameters())
        results.append([output.log_probs, output.entropy, *torch.autograd.grad(output.log_probs.sum(), weights)])
        peer.score_completions_only()
    assert rows == [3 * 11, 3 * 4]
    for every, completions in zip(*results, strict=True):
        torch.testing.assert_close(every, completions, rtol=1e-5, atol=1e-6)


class CountsRows:
    """An autograd function that notes for how many positions it is called."""

    def __init__(self, function: Any, rows: list[int]) -> None:
        self.function, self.rows = function, rows

    def apply(self, hidden: torch.Tensor, *arguments: Any) -> Any:
        self.rows.append(len(hidden))
        return self.function.apply(hidden, *arguments)
