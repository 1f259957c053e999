"""The LaTeX set of the benchmarks is correct and reproducible, and the verdict benchmark runs."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from grpo_env.core import Completion, Example
from grpo_env.verifiers.accuracy import Accuracy

FOLDER = Path(__file__).parent.parent / "benchmarks"


def latex_set() -> ModuleType:
    spec = importlib.util.spec_from_file_location("latex_set", FOLDER / "latex_set.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["latex_set"] = module  # needed by its NamedTuple
    spec.loader.exec_module(module)
    return module


def test_the_latex_set_agrees_with_our_verifier() -> None:
    """The labels are true by construction, so each checks the other."""
    rows = list(latex_set().rows(seed=7, groups=60))
    assert [row["kind"] for row in rows[:6]] == ["fraction", "radical", "set", "interval", "matrix", "polynomial"]
    for row in rows:
        assert sorted(row["correct"]) == [False] * 4 + [True] * 4
        scores = [Accuracy()(Example("x", answer=row["gold"]), Completion(text)) for text in row["completions"]]
        assert [score.value for score in scores] == row["correct"], [row["gold"], *scores]


def test_the_latex_set_is_reproducible() -> None:
    """Published figures refer to these rows."""
    digest = hashlib.sha256(json.dumps(list(latex_set().rows())).encode()).hexdigest()
    assert digest.startswith("0b6631067b239be5")


def test_the_verdict_benchmark_prints_its_table() -> None:
    command = [sys.executable, str(FOLDER / "verdicts.py"), "--sets", "latex", "--list"]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| latex | 2,400 | ours |" in process.stdout
    assert "| 2,400 (100.00%) | 0 | 0 | 0 |" in process.stdout
