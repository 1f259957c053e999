"""Trackers receive the numbers of ``metrics.jsonl``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from grpo_env import Example, Score
from grpo_env.errors import UsageError
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.loop import train
from grpo_env.trainer.rollout import ScoredRollout
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.run.trackers import SHOWN, start_tracker, track, track_completions


@pytest.mark.parametrize("name", ["tensorboard", "wandb", "trackio"])
def test_a_missing_package_is_reported_before_the_run_starts(
    make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=rf"tracker={name} needs .*: .* '\.\[{name}\]'"):
        train(make_task(), run_dir=tmp_path / "run", tracker=name)
    assert not (tmp_path / "run").exists()


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_tensorboard_receives_the_numbers_of_the_run(make_task, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    run = train(make_task(steps=2), run_dir=tmp_path / "run", tracker="tensorboard").run_dir
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    logged = scalars(run)
    for row in rows:
        for name, value in row.items():
            if name not in ("kind", "step") and value is not None:
                assert (row["step"], pytest.approx(value)) in logged[f"{row['kind']}/{name}"], name
    assert sum(len(points) for points in logged.values()) == sum(
        value is not None for row in rows for name, value in row.items() if name not in ("kind", "step")
    )


def test_a_resumed_run_replaces_what_came_after_its_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    for start, steps in ((0, range(4)), (2, range(2, 4))):
        tracker = start_tracker("tensorboard", RunFolder(tmp_path), {"seed": 0}, start)
        for step in steps:
            track(tracker, {"kind": "train", "step": step, "reward": start + step / 10, "kl": None})
        track(tracker, {"kind": "warning", "step": 3, "seconds": 1.0})
        tracker.finish()
    assert scalars(tmp_path) == {
        "train/reward": [(step, pytest.approx(value)) for step, value in enumerate([0, 0.1, 2.2, 2.3])]
    }


@pytest.mark.parametrize("name", ["wandb", "trackio", "tensorboard"])
def test_completions_become_a_table_where_there_are_tables(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Both packages have the same ``Table``; here it is a stand-in."""
    logged: list[tuple[dict, int]] = []
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(Table=lambda columns, data: (columns, data)))
    tracker = SimpleNamespace(name=name, log=lambda values, step: logged.append((values, step)))
    score = Score(0.5, explanation="half")
    rows = [
        ScoredRollout(Example(str(number), answer="7"), Rollout([1], [2], "3+4=7", "stop", [0.0]), score, 1.0)
        for number in range(SHOWN + 1)
    ]
    track_completions(tracker, 3, rows)
    track_completions(None, 3, rows)
    if name == "tensorboard":
        assert logged == []
        return
    (((table_name, (columns, data)),), step) = tuple(logged[0][0].items()), logged[0][1]
    assert (table_name, step, len(data)) == ("eval/completions", 3, SHOWN)
    assert dict(zip(columns, data[0], strict=True)) == {
        "step": 3,
        "example": "0",
        "gold": "7",
        "completion": "3+4=7",
        "reward": 0.5,
        "correct": 1.0,
        "why": str(score),
    }
