"""Two processes learn exactly what one learns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from grpo_env.trainer.loop import resume

# Everything that crosses rows, groups or processes at once: batch scale, steps, a KL penalty, two updates.
SCRIPT = """
import os, signal
import torch
from grpo_env import load_task, train
from grpo_env.trainer.run import Run
torch.set_num_threads(1)
def run(folder):
    task = load_task("arithmetic", {"dataset.limit": {"train": 100, "eval": 10}})
    train(task, run_dir=folder, steps=5, prompts_per_step=4, group_size=4, eval_every=0, eval_examples=5, save_every=1,
          supervision="both", scale="batch", kl_coef=0.1, updates_per_step=2, micro_batch_tokens=300, device="cpu")
def die_at(last):
    save = Run.save_if_due
    def save_or_die(self, step):
        save(self, step)
        if step == last and os.environ["RANK"] == "1":
            os.kill(os.getpid(), signal.SIGKILL)
    Run.save_if_due = save_or_die
"""


def two_processes(folder: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text("\n".join([SCRIPT, *lines]))
    return subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(script)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of one process."""
    folder = tmp_path_factory.mktemp("one") / "run"
    names: dict[str, Any] = {}
    exec(SCRIPT, names)
    names["run"](folder)
    return folder


def assert_equal(one: Path, other: Path) -> None:
    rows = [[json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()] for run in (one, other)]
    assert [row["step"] for row in rows[0]] == [0, 0, 1, 2, 3, 4, 5]
    for left, right in zip(*rows, strict=True):
        keys = {"accuracy", "reward", "length", "loss", "grad_norm", "kl", "entropy", "uniform_groups"} & left.keys()
        assert [left[key] for key in keys] == pytest.approx([right[key] for key in keys], rel=1e-3, abs=1e-6)
    weights = [AutoModelForCausalLM.from_pretrained(run / "model", dtype=torch.float32) for run in (one, other)]
    for left, right in zip(*(model.parameters() for model in weights), strict=True):
        torch.testing.assert_close(left, right, atol=1e-5, rtol=1e-4)


def test_two_processes_equal_one(one: Path, tmp_path: Path) -> None:
    done = two_processes(tmp_path, f"run({str(tmp_path / 'two')!r})")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "cpu, 2 processes" in done.stderr
    assert done.stderr.count("saved      ") == 1  # only the first process talks
    assert_equal(one, tmp_path / "two")


def test_when_a_process_dies_the_run_ends_and_goes_on_from_its_checkpoint(one: Path, tmp_path: Path) -> None:
    done = two_processes(tmp_path, "die_at(3)", f"run({str(tmp_path / 'two')!r})")
    assert done.returncode != 0
    assert "SIGKILL" in done.stderr
    assert not (tmp_path / "two" / "model").exists()
    resume(tmp_path / "two")
    assert_equal(one, tmp_path / "two")
