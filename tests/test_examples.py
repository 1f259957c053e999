"""The files in examples/ work when run as their docstrings say."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest
from torch.distributed.run import get_args_parser

from . import forked

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
TORCHRUN = r"torchrun (?:[^`\n\\]|\\\n)* grpo_env train[^`|\n]*"
COMMANDS = [
    pytest.param(command, id=f"{page.name}-{number}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for number, command in enumerate(re.findall(TORCHRUN, page.read_text()))
]


def grpo_env(*arguments: str | Path, cwd: Path) -> str:
    done = forked.run(["grpo_env", *arguments], cwd, {"OMP_NUM_THREADS": "1"}, joined=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_task_for_own_data_passes_its_checks(tmp_path):
    output = grpo_env("check", EXAMPLES / "own_data.yaml", cwd=tmp_path)
    assert "train 201, eval 39 examples" in output
    assert "0 errors, 0 warnings" in output


def test_own_verifier_trains_on_own_data(tmp_path):
    assert "0 cases failed" in grpo_env("verifiers", "check", EXAMPLES / "own_verifier.py", cwd=tmp_path)
    numbers = "verifiers.numbers={use: uses_the_numbers, weight: 0.2, when: accuracy}"
    options = [
        "--verifiers",
        EXAMPLES / "own_verifier.py",
        numbers,
        "steps=1",
        "prompts_per_step=4",
        "eval.every=0",
        "eval.examples=4",
    ]
    output = grpo_env("train", EXAMPLES / "own_data.yaml", "--run", "run", *options, "engine.device=cpu", cwd=tmp_path)
    task = re.search(r"next +grpo_env eval (\S+) --model run/model", output)[1]
    assert task == "run/task.yaml"  # which has the override and the file of the verifier
    grpo_env("check", task, cwd=tmp_path)
    samples = pyarrow.parquet.read_table(tmp_path / "run/samples").to_pylist()
    values = [{name: part["value"] for name, part in sample["parts"].items()} for sample in samples]
    assert {"accuracy", "strict_format", "numbers"} == set(values[0])
    assert any(parts["numbers"] > 0 for parts in values)
    assert all(parts["numbers"] == 0 for parts in values if parts["accuracy"] == 0)


def test_the_script_runs_two_processes(tmp_path):
    """By the real ``torchrun``. That two processes train as one is tested in ``trainer/engine/test_processes.py``."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(EXAMPLES / "many_gpus.sh"), "arithmetic", "--run", "run", "steps=1", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", "PROCESSES": "2"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: python -m grpo_env train ") == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_torchrun_does_not_parse_our_options(command):
    words = shlex.split(command.replace("\\\n", " "))[1:]
    arguments = get_args_parser().parse_args(words)
    assert arguments.module
    assert arguments.training_script == "grpo_env"
    assert arguments.training_script_args[0] == "train"


def test_the_naive_reward_has_exploits_and_the_fixed_one_has_none(tmp_path):
    options = ["--only", "shotgun", "--limit", "5", "--fail-on", "exploit"]
    grpo_env("audit", EXAMPLES / "fixed_reward.yaml", *options, cwd=tmp_path)
    with pytest.raises(AssertionError, match=r"\d+ exploits"):
        grpo_env(
            *("audit", EXAMPLES / "naive_reward.yaml", *options),
            *("--verifiers", EXAMPLES / "naive_reward.py"),
            cwd=tmp_path,
        )
