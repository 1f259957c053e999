"""The recorder writes rows with their time, shows them and adds alerts, also after a resume."""

from __future__ import annotations

import io
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from rich.console import Console

from grpo_env.core import Example, Score
from grpo_env.errors import UsageError
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.run import recorder
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.run.console import RunConsole
from grpo_env.trainer.run.folder import RunFiles
from grpo_env.trainer.run.recorder import Recorder
from grpo_env.trainer.shared_types import ScoredRollout

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
    *_, row, warning = RunFiles(tmp_path).metrics()
    assert 1000 <= row["seconds"] <= 1000 + time.monotonic() - start + 1
    assert row["kl"] is None
    assert (warning["kind"], warning["step"], warning["alert"]) == ("warning", 9, "truncated")
    assert "step 9 (10/20)" in output.getvalue()
    assert f"warning    step 9: {warning['seen']}. {warning['try']}" in output.getvalue()


def test_groups_without_an_advantage_are_uniform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of four groups; in another, one row has an advantage."""
    advantages = torch.ones(8, 3)
    advantages[2:5] = 0.0
    rollouts = [ScoredRollout(Example("0"), Rollout([1], [2], "a", "stop", [0.0]), Score(1.0), 1.0)] * 8
    made, _ = make_recorder(tmp_path, writes=False, prompts_per_step=4, group_size=2)
    monkeypatch.setattr(made.run, "learned", None, raising=False)
    monkeypatch.setattr(made, "write", lambda row: rows.append(row))
    rows: list[Any] = []
    seconds = {"sample_seconds": 1.0, "update_seconds": 1.0}
    made.step(0, rollouts, advantages, {}, seconds)
    assert [row["uniform_groups"] for row in rows] == [0.25]


@pytest.mark.parametrize("writes", [True, False])
def test_only_the_first_of_several_processes_has_a_tracker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: bool
) -> None:
    """accelerate's trackers for wandb and trackio would start a run in every process."""
    started: list[str | None] = []
    monkeypatch.setattr(recorder, "start_tracker", lambda name, *_: started.append(name))
    make_recorder(tmp_path, writes, tracker="wandb")
    assert started == ["wandb" if writes else None]
