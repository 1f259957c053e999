"""Watching a run from outside, while it is written, interrupted and resumed."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from itertools import islice
from pathlib import Path

import pytest
from rich.console import Console

from grpo_env.errors import UsageError
from grpo_env.trainer.run.watch import follow, watch

from .test_console import eval_row, output_of, train_row


def lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


ROWS = [eval_row(0), *(train_row(step) for step in range(5)), eval_row(5)]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_run_that_is_being_written_is_shown_until_its_end(tmp_path: Path, terminal: bool) -> None:
    (tmp_path / "config.yaml").write_text("steps: 5\n")
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, highlight=False)
    watching = threading.Thread(target=watch, args=(tmp_path, console, 0.001))
    watching.start()
    with (tmp_path / "metrics.jsonl").open("w") as file:
        text = lines(ROWS)
        for at in range(0, len(text), 100):  # in pieces that end anywhere
            assert watching.is_alive()
            file.write(text[at : at + 100])
            file.flush()
    watching.join(timeout=60)
    assert not watching.is_alive()
    output = out.getvalue()
    assert output.startswith(f"run        {tmp_path}, 5 steps")
    if not terminal:
        assert output.split("\n", 1)[1] == output_of(ROWS, terminal=False)
    else:
        assert "0: 0.500  5: 0.500" in output[output.rindex("5/5 steps") :]


def test_only_rows_that_a_resumed_run_changes_are_yielded_again(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text(lines(ROWS[:4]) + '{"kind": "tra')
    rows = follow(file, poll=0.001)
    assert [row for row, _ in islice(rows, 4)] == ROWS[:4]
    again = [*ROWS[:2], train_row(1, length=7.0), train_row(2)]
    (tmp_path / "new").write_text(lines(again))
    (tmp_path / "new").replace(file)
    assert [row for row, _ in islice(rows, 2)] == again[2:]
    with file.open("a") as more:
        more.write(lines(ROWS[5:6]))
    assert next(rows)[0] == ROWS[5]


def test_folders_that_are_not_runs_are_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"not a run folder \(it has no config.yaml\)"):
        watch(tmp_path)
    (tmp_path / "config.yaml").write_text("steps: 5\n")
    (tmp_path / "metrics.jsonl").write_text(lines(ROWS[:1]) + "{]\n")
    with pytest.raises(UsageError, match=r"metrics.jsonl, line 2: not valid JSON"):
        watch(tmp_path, Console(file=io.StringIO()), poll=0.001)


def test_watching_and_plotting_need_no_torch() -> None:
    code = "from grpo_env.trainer.run import console, curves, plot, watch; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "transformers", "accelerate", "matplotlib"} & set(done.stdout.split())
