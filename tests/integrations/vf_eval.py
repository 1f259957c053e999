"""Runs ``vf-eval``, the command of verifiers, on one of our tasks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

MODULE = """
from grpo_env.integrations import verifiers


class Tasks(verifiers.Tasks):
    default = "task.yaml"


Chat = verifiers.Chat
__all__ = ["Chat", "Tasks"]
"""  # as `export env` writes it


def vf_eval(folder, task, served, rollouts):
    """The finished ``vf-eval`` process, its traces and their file."""
    (folder / "my_tasks.py").write_text(MODULE)
    (folder / "task.yaml").write_text(yaml.safe_dump(task.resolved()))
    command = [str(Path(sys.executable).parent / "vf-eval"), "my_tasks"]
    command += ["--env.agent.runtime.type", "subprocess", "--num-rollouts", str(rollouts), "--model", "m"]
    command += ["--client.base-url", served, "--client.api-key-var", "NO_KEY", "--no-push", "--no-rich"]
    command += ["--output-dir", "out", "--run.name", "run"]
    environment = {**os.environ, "PYTHONPATH": str(folder), "NO_KEY": "none"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    file = folder / "out" / "run" / "traces.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return done, [json.loads(line)["traces"][0] for line in lines], file
