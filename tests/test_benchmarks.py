"""The benchmarks' own parts: a set with known truth that is always the same, and a script that runs."""

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
    sys.modules["latex_set"] = module  # its NamedTuple is looked up there
    spec.loader.exec_module(module)
    return module


def test_the_latex_set_is_what_it_says() -> None:
    """Our verifier agrees with the truth by construction: each checks the other."""
    rows = list(latex_set().rows(seed=7, groups=60))
    assert [row["kind"] for row in rows[:6]] == ["fraction", "radical", "set", "interval", "matrix", "polynomial"]
    for row in rows:
        assert sorted(row["right"]) == [False] * 4 + [True] * 4
        scores = [Accuracy()(Example("x", answer=row["gold"]), Completion(text)) for text in row["completions"]]
        assert [score.value for score in scores] == row["right"], [row["gold"], *scores]


def test_the_latex_set_never_changes() -> None:
    def digest() -> str:
        return hashlib.sha256(json.dumps(list(latex_set().rows())).encode()).hexdigest()[:16]

    assert digest() == digest() == "0acab5456bbdb969"


def test_the_script_measures_and_lists() -> None:
    command = [sys.executable, str(FOLDER / "verdicts.py"), "--sets", "latex", "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| latex | 2,400 | ours |" in done.stdout
    assert "| 2,400 (100.00%) | 0 | 0 | 0 |" in done.stdout
