"""Evaluations: which are made, which end the run, and which model is kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from grpo_env.errors import UsageError
from grpo_env.trainer.config import EvalConfig
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.run.held_out import end_reason
from grpo_env.trainer.run.recorder import best


def rows(run: Path, kind: str) -> list[int]:
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [row["step"] for row in lines if row["kind"] == kind]


def evaluations(*accuracies: float | None) -> list[dict]:
    return [{"kind": "eval", "step": 10 * number, "accuracy": value} for number, value in enumerate(accuracies)]


@pytest.mark.parametrize(
    ("settings", "accuracies", "reason"),
    [
        ({}, (0.5, 1.0), None),
        ({"stop_at": 0.9}, (0.5, 0.89), None),
        ({"stop_at": 0.9}, (0.5, 0.9), "accuracy 0.900 has reached eval.stop_at=0.9"),
        ({"stop_at": 0.9}, (0.5, None), None),
        ({"patience": 2}, (0.5, 0.6, 0.6), None),
        (
            {"patience": 2},
            (0.5, 0.6, 0.6, 0.55),
            "no evaluation was better than accuracy 0.600 after 10 steps (eval.patience=2)",
        ),
        ({"patience": 2}, (0.5, 0.6, None, 0.7), None),
        ({"patience": 2}, (None, None, None), None),
    ],
)
def test_reasons_to_end_a_run(settings: dict, accuracies: tuple[float | None, ...], reason: str | None) -> None:
    assert end_reason(EvalConfig(**settings), evaluations(*accuracies)) == reason


def test_the_best_is_the_first_of_equal_ones() -> None:
    assert best(evaluations(0.1, 0.7, None, 0.7)) == {"kind": "eval", "step": 10, "accuracy": 0.7}
    assert best(evaluations(None)) is None


@pytest.fixture
def _accuracies(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The accuracies of the evaluations of a run, in place of the measured ones."""
    values = iter(request.param)

    def means(rollouts: list) -> dict:
        return {"accuracy": next(values), "reward": 0.0, "length": 1.0, "truncated": 0.0}

    monkeypatch.setattr("grpo_env.trainer.run.held_out.summarize", means)


SHORT = {"steps": 4, "eval.every": 1, "eval.samples": 0, "eval.examples": 1, "checkpoint.every": 0}


@pytest.mark.usefixtures("_accuracies")
@pytest.mark.parametrize("_accuracies", [[0.3, 0.1, 0.2, 0.2, 0.1]], indirect=True)
def test_the_best_model_is_kept(make_task, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The one before training is the user's own."""
    run = train(make_task(**SHORT), run_dir=tmp_path / "run", checkpoint={"best": True, "every": 2}).run_dir
    assert [path.name for path in run.glob("best-*")] == ["best-step-000002"]
    assert f"best       {run / 'best-step-000002'}" in capsys.readouterr().err
    kept = AutoModelForCausalLM.from_pretrained(run / "best-step-000002", dtype=torch.float32).state_dict()
    state = torch.load(run / "checkpoints" / "step-000002" / "state.pt", weights_only=True)
    assert all(torch.equal(kept[name], weight) for name, weight in state["weights"].items())


@pytest.mark.usefixtures("_accuracies")
@pytest.mark.parametrize("_accuracies", [[0.3, 0.5, 0.9, 0.95, 0.9, 0.9]], indirect=True)
def test_a_run_ends_at_a_threshold(make_task, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = train(make_task(**SHORT), run_dir=tmp_path / "run", eval={"stop_at": 0.9})
    assert rows(result.run_dir, "train") == [0, 1]
    assert (result.after["step"], result.after["accuracy"]) == (2, 0.9)
    assert (result.run_dir / "model").exists()
    assert [path.name for path in (result.run_dir / "checkpoints").iterdir()] == ["step-000002"]
    err = capsys.readouterr().err
    assert "stopped    after 2 steps: accuracy 0.900 has reached eval.stop_at=0.9" in err
    assert "completions after training" in err


@pytest.mark.usefixtures("_accuracies")
@pytest.mark.parametrize("_accuracies", [[0.3, 0.5, 0.9, 0.9, 0.9]], indirect=True)
def test_a_run_that_a_threshold_ended_goes_on_without_it(make_task, tmp_path: Path) -> None:
    run = train(make_task(**SHORT), run_dir=tmp_path / "run", eval={"stop_at": 0.9}).run_dir
    for steps in (None, "+1"):
        with pytest.raises(
            UsageError, match=r"an evaluation has ended this run: .*eval.stop_at=0.9.*config.yaml.*=\+N"
        ):
            resume(run, steps=steps)
    (run / "config.yaml").write_text((run / "config.yaml").read_text().replace("stop_at: 0.9", "stop_at: null"))
    resume(run, steps="+1")
    assert [path.name for path in run.glob("model-*")] == ["model-2"]  # of its steps
    assert rows(run, "train") == [0, 1, 2]


@pytest.mark.usefixtures("_accuracies")
@pytest.mark.parametrize("_accuracies", [[0.3, 0.5, 0.1, 0.1, 0.9, 0.4, 0.4, 0.2]], indirect=True)
def test_the_best_model_is_none_of_steps_that_a_resumed_run_makes_again(make_task, tmp_path: Path) -> None:
    """As in the rows of metrics.jsonl; here with other numbers, as after a change of the settings."""
    run = train(make_task(**SHORT), run_dir=tmp_path / "run", checkpoint={"best": True, "every": 2}).run_dir
    assert [path.name for path in run.glob("best-*")] == ["best-step-000004"]
    (run / "model").rename(run / "gone")
    shutil.rmtree(run / "checkpoints" / "step-000004")
    resume(run)
    assert [path.name for path in run.glob("best-*")] == ["best-step-000002"]  # that after step 1 had made room


def test_an_evaluation_before_training_can_be_left_out(make_task, tmp_path: Path) -> None:
    result = train(make_task(**SHORT), run_dir=tmp_path / "run", eval={"at_start": False, "every": 2})
    assert rows(result.run_dir, "eval") == [2, 4]
    assert (result.before["step"], result.after["step"]) == (2, 4)
