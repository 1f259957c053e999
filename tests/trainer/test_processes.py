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

# Everything that crosses rows, groups or processes at once: batch scale, steps, a KL penalty, two updates.
SCRIPT = """
import sys
import torch
from grpo_env import load_task, train
torch.set_num_threads(1)
def run(folder):
    task = load_task("arithmetic", {"dataset.limit": {"train": 100, "eval": 10}})
    train(task, run_dir=folder, steps=2, prompts_per_step=4, group_size=4, eval_every=0, eval_examples=5, save_every=1,
          supervision="both", scale="batch", kl_coef=0.1, updates_per_step=2, micro_batch_tokens=300, device="cpu")
"""


def test_two_processes_equal_one(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(SCRIPT, names)
    names["run"](tmp_path / "one")
    script = tmp_path / "script.py"
    script.write_text(f"{SCRIPT}\nrun({str(tmp_path / 'two')!r})")
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(script)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "cpu, 2 processes" in done.stderr
    assert done.stderr.count("saved      ") == 1  # only the first process talks

    rows = [
        [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("one", "two")
    ]
    assert [row["step"] for row in rows[0]] == [0, 0, 1, 2]
    for one, two in zip(*rows, strict=True):
        keys = {"accuracy", "reward", "length", "loss", "grad_norm", "kl", "entropy", "uniform_groups"} & one.keys()
        assert [one[key] for key in keys] == pytest.approx([two[key] for key in keys], rel=1e-3, abs=1e-6)
    weights = [
        AutoModelForCausalLM.from_pretrained(tmp_path / n / "model", dtype=torch.float32) for n in ("one", "two")
    ]
    for one, two in zip(*(model.parameters() for model in weights), strict=True):
        torch.testing.assert_close(one, two, atol=1e-5, rtol=1e-4)
