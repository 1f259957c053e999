"""The Ray engine: two workers write what the local engine writes, even if one of them is killed."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from grpo_env.errors import UsageError
from grpo_env.registry import load_file
from grpo_env.scoring import score_files
from grpo_env.taskfile.task import load_task, make_task

TASK = {
    "version": 1,
    "task": "sums",
    "dataset": {"path": "rows.jsonl", "answer": "{{ answer }}"},
    "prompt": {"user": "{{ question }}"},
    "verifiers": {"accuracy": {"weight": 2.0}, "own": {"use": "test_cluster_obeys", "weight": 0.0}},
    "metric": "accuracy",
}

VERIFIER = '''
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from grpo_env.core import Score, Verifier
from grpo_env.registry import verifier


@verifier("test_cluster_obeys")
@dataclass(frozen=True)
class Obeys(Verifier):
    """Does what the text says to its process."""

    def __call__(self, example, completion):
        died, waits, goes_on = (Path(FOLDER) / name for name in ("once", "waits", "goes_on"))
        if "always" in completion.text or ("once" in completion.text and not died.exists()):
            (Path(FOLDER) / completion.text).touch()
            signal.raise_signal(signal.SIGKILL)
        while "wait" in completion.text and not goes_on.exists():
            waits.write_text(str(os.getpid()))
            time.sleep(0.05)
        return Score(1.0)
'''

RAY = {
    "RAY_ADDRESS": "local",  # not a cluster that happens to run on this machine
    "RAY_AUTH_MODE": "disabled",  # writes no token into the home folder
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ROTATION_MAX_BYTES": "100000000",  # a rotated log would make a task fail
}

QUIET = Console(quiet=True)


@pytest.fixture
def work(tmp_path):
    """A folder with a task, its verifier, and rows: single, in groups, broken, and three that affect the process."""
    texts = {70: "once", 150: "wait", 220: "always"}
    rows = [
        {"answer": "5", "completion": texts.get(n, f"#### {5 + n % 2}"), "group": "g" * (n > 300)} for n in range(400)
    ]
    lines = [json.dumps(row) for row in rows]
    lines[33] = "{broken"
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    (tmp_path / "sums.yaml").write_text(json.dumps(TASK))
    (tmp_path / "test_cluster_verifier.py").write_text(VERIFIER.replace("FOLDER", repr(str(tmp_path))))
    return tmp_path


def without_seconds(path):
    return re.sub(rb'"seconds": ?[0-9.e-]+', b"", path.read_bytes())


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: the extra [ray]")
def test_a_cluster_writes_the_same_as_the_local_engine_if_a_worker_is_killed(work):
    command = ["score", "sums.yaml", "rows.jsonl", "--verifiers", "test_cluster_verifier.py", "--out", "ray.jsonl"]
    run = subprocess.Popen(
        [sys.executable, "-m", "grpo_env", *command, "--engine", "ray", "--workers", "2"],
        cwd=work,
        env={**os.environ, **RAY},
        stderr=subprocess.PIPE,
        text=True,
    )
    while run.poll() is None and not (work / "goes_on").exists():
        time.sleep(0.05)
        for process in parents_of_waiting(work / "waits"):
            if "_ScoringActor" in " ".join(process.cmdline()):  # Ray's worker, the parent of the scoring process
                process.kill()
                (work / "goes_on").touch()
                break
    stderr = run.communicate()[1]
    assert run.returncode == 1, stderr
    assert (work / "goes_on").exists(), "no worker was killed"
    assert (work / "once").exists(), "no scoring process was killed"

    load_file(work / "test_cluster_verifier.py")
    with contextlib.chdir(work):  # the name of a file is in the rejects
        score_files(load_task("sums.yaml"), [Path("rows.jsonl")], Path("here.jsonl"), workers=2, console=QUIET)
    for end in ("jsonl", "rejects.jsonl"):
        assert without_seconds(work / f"ray.{end}") == without_seconds(work / f"here.{end}")
    rejects = [json.loads(line) for line in (work / "ray.rejects.jsonl").read_text().splitlines()]
    assert [(row["line"], row["problem"].partition(" (")[0]) for row in rejects] == [
        (34, "not valid JSON"),
        (221, "the worker process died"),
    ]


def parents_of_waiting(mark):
    """The parents of the process that waits."""
    with contextlib.suppress(OSError, ValueError, psutil.NoSuchProcess):
        return psutil.Process(int(mark.read_text())).parents()
    return []


@pytest.mark.parametrize(
    ("engine", "without", "problem"),
    [("spark", "ray", "--engine spark: known: local, ray"), ("ray", "ray", r"pip install 'grpo_env\[ray\]'")],
)
def test_an_unknown_or_missing_engine_is_reported_before_anything_is_written(
    tmp_path, monkeypatch, engine, without, problem
):
    monkeypatch.setitem(sys.modules, without, None)
    monkeypatch.delitem(sys.modules, "grpo_env.scoring.ray_cluster", raising=False)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"answer": "5", "completion": "5"}')
    task = make_task({**TASK, "verifiers": {"accuracy": {}}}, "sums.yaml", tmp_path)
    with pytest.raises(UsageError, match=problem):
        score_files(task, [rows], tmp_path / "out.jsonl", engine=engine, console=QUIET)
    assert list(tmp_path.iterdir()) == [rows]
