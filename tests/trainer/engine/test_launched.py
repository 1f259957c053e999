"""What ``accelerate launch`` asks for is done, or a line says that it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from grpo_env.errors import UsageError
from grpo_env.trainer.engine.policy import load_policy
from grpo_env.trainer.run.start_lines import started_alone


@pytest.mark.parametrize(
    ("launched", "precision", "autocast"),
    [
        (None, "auto", None),
        ("no", "auto", None),
        ("bf16", "auto", "bf16"),
        ("bf16", "bf16", "bf16"),
        ("no", "bf16", "bf16"),
    ],
)
def test_its_mixed_precision_is_that_of_auto(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, launched: str | None, precision: str, autocast: str | None
) -> None:
    if launched:
        monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", launched)
    loaded = load_policy(str(model_folder), device="cpu", precision=precision).autocast
    assert loaded == (torch.bfloat16 if autocast else None)


@pytest.mark.parametrize(
    ("launched", "message"),
    [
        ("bf16", r"--mixed_precision bf16 contradicts engine.precision=fp32; leave one of them out"),
        ("fp16", r"--mixed_precision fp16 is not supported here; use bf16 or no"),
    ],
)
def test_a_contradiction_is_refused(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, launched: str, message: str
) -> None:
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", launched)
    with pytest.raises(UsageError, match=message):
        load_policy(str(model_folder), device="cpu", precision="fp32")


@pytest.mark.slow
def test_one_process_where_several_were_asked_says_so(tmp_path: Path) -> None:
    """accelerate starts one on CPUs, whatever --num_processes says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ACCELERATE", "MASTER"))}
    outputs = []
    for number in ("1", "2"):
        command = [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", number]
        command += ["--num_machines", "1", "--mixed_precision", "bf16", "-m", "grpo_env", "train", "arithmetic"]
        command += ["steps=0", "eval.examples=1", "engine.device=cpu", "--run", str(tmp_path / number)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        outputs.append(done.stderr)
    assert ["started this one alone" in output for output in outputs] == [False, True]
    assert all("bf16 on cpu" in output for output in outputs)


def test_the_variables_of_other_launchers_are_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCELERATE_MIXED_PRECISION", "MASTER_ADDR", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")  # of a cluster
    assert not started_alone()
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "no")
    assert started_alone()
    monkeypatch.setenv("WORLD_SIZE", "2")  # of torchrun
    assert not started_alone()
