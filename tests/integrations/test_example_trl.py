"""examples/trl_grpo.py runs unchanged."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="TRL is not installed: make test-integrations")
EXAMPLE = Path(__file__).parents[2] / "examples/trl_grpo.py"


def test_the_example_trains_and_prints_the_parts(tmp_path):
    command = [sys.executable, EXAMPLE, "arithmetic", "--steps", "2", "--prompts", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    last = done.stdout.splitlines()[-1]
    assert last.startswith("step 2 {")
    for name in ("arithmetic", "arithmetic/accuracy", "arithmetic/strict_format", "arithmetic/equations"):
        assert f"'rewards/{name}/mean': " in last
    assert len(list((tmp_path / "runs/trl/completions").glob("*.parquet"))) == 2
