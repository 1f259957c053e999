"""The recorder writes rows with their time, shows them and adds alerts, also after a resume."""

from __future__ import annotations

import io
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from grpo_env.errors import UsageError
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.run import recorder
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.run.console import RunConsole
from grpo_env.trainer.run.folder import RunFiles
from grpo_env.trainer.run.recorder import Recorder

from .test_console import train_row


def make_recorder(folder: Path, writes: bool = True, **settings: Any) -> tuple[Recorder, io.StringIO]:
    output = io.StringIO()
    console = RunConsole(20, Console(file=output, width=200))
    config, policy = TrainConfig(**settings), SimpleNamespace(decode=str)
    run: Any = SimpleNamespace(mixture=SimpleNamespace(tasks=()), config=config, console=console, policy=policy)
    return Recorder(run, RunFolder(folder, writes), 0), output


def test_a_last_line_may_be_cut_short_and_no_other(tmp_path: Path) -> None:
    files, path = RunFiles(tmp_path), tmp_path / "metrics.jsonl"
    for step in range(3):
        files.record(train_row(step))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines)[:-9])
    assert [row["step"] for row in files.metrics()] == [0, 1]
    path.write_text(lines[0] + lines[1][:-9] + "\n" + lines[2])
    for read in (files.metrics, lambda: files.drop_from(1)):
        with pytest.raises(UsageError, match=r"metrics\.jsonl, line 2: not valid JSON"):
            read()
    assert path.read_text().count("\n") == 3


def test_rows_have_their_time_and_are_followed_by_alerts(tmp_path: Path) -> None:
    """Nine steps in a first session, whose last row is of second 1,000, and the tenth in a second one."""
    first, _ = make_recorder(tmp_path)
    for step in range(9):
        first.write(train_row(step, truncated=0.9))
    RunFiles(tmp_path).record({**train_row(9, truncated=0.9), "kind": "eval", "seconds": 1000.0})
    second, output = make_recorder(tmp_path)
    start = time.monotonic()
    second.write(train_row(9, truncated=0.9, kl=float("nan")))
    second.close()
    *_, row, warning = RunFiles(tmp_path).metrics()
    assert 1000 <= row["seconds"] <= 1000 + time.monotonic() - start + 1
    assert row["kl"] is None
    assert (warning["kind"], warning["step"], warning["alert"]) == ("warning", 9, "truncated")
    assert "step 9 (10/20)" in output.getvalue()
    assert f"warning    step 9: {warning['seen']}. {warning['try']}" in output.getvalue()


@pytest.mark.parametrize("writes", [True, False])
def test_only_the_first_of_several_processes_has_a_tracker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: bool
) -> None:
    """accelerate's trackers for wandb and trackio would start a run in every process."""
    started: list[str | None] = []
    monkeypatch.setattr(recorder, "start_tracker", lambda name, *_: started.append(name))
    make_recorder(tmp_path, writes, tracker="wandb")
    assert started == ["wandb" if writes else None]
