"""A learned part of the reward: how it is compared with its rule, and retrained during a run, also a resumed one."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState
from safetensors.torch import load_file

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import Task, make_verifier
from grpo_env.trainer.config import RewardModelConfig
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.reward_models.fit import FitSettings, fit, save
from grpo_env.trainer.reward_models.labels import Labelled
from grpo_env.trainer.reward_models.learned import learned_part
from grpo_env.trainer.run.folder import RunFiles

RULE = {"test_vowels": {"weight": 0.0}}


def new_model(verifier: str, source: Path, folder: Path) -> Path:
    """A reward model with a head that knows nothing yet."""
    save(make_verifier(verifier, {"model": str(source)}, "test").trainable(seed=0), folder)
    return folder


@pytest.fixture(scope="module")
def outcome_model(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_model("reward_model", model_folder, tmp_path_factory.mktemp("models") / "rm")


@pytest.fixture(scope="module")
def task(make_task: Any, outcome_model: Path) -> Task:
    learned = {"use": "reward_model", "model": str(outcome_model), "activation": "sigmoid"}
    return make_task({**RULE, "learned": learned})


def digest(folder: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.iterdir()))).hexdigest()


def steps_of(run: Path) -> list[dict[str, Any]]:
    passing = ("seconds", "per_second")
    return [{k: v for k, v in row.items() if not k.endswith(passing)} for row in RunFiles(run).metrics()]


@pytest.mark.slow
def test_a_model_is_trained_during_a_run_and_a_resumed_run_does_the_same(task, outcome_model, tmp_path, monkeypatch):
    before = digest(outcome_model)
    settings = {"reward_model.every": 2, "reward_model.peak_learning_rate": 5e-3}
    settings |= {"steps": 5, "checkpoint.every": 1, "eval.every": 0}
    monkeypatch.setattr("grpo_env.trainer.run.checkpoint.KEPT", 5)
    train(task, run_dir=tmp_path / "run", **settings)
    assert digest(outcome_model) == before
    models = list(RunFiles(tmp_path / "run").numbered("reward_model/step-").values())
    assert [model.name for model in models] == ["step-000002", "step-000004"]
    weights = [load_file(folder / "model.safetensors")["score.weight"] for folder in (outcome_model, *models)]
    assert not torch.equal(weights[0], weights[1]) and not torch.equal(weights[1], weights[2])  # noqa: PT018
    rows = [row for row in steps_of(tmp_path / "run") if row["kind"] == "train"]
    # 3 x 4 completions a step; a tenth of the second training is of before: 24 / 0.9 = 27.
    assert [row.get("reward_model/completions") for row in rows] == [None, None, 24, None, 27]
    # The first values are those of the untrained model; after it was trained they are close to its rule.
    gaps = [abs(row["parts/learned"] - row["parts/test_vowels"]) for row in rows]
    assert gaps[4] < gaps[0] / 2

    # As if it had been killed after two steps, before the model was trained, and had lost what came later.
    shutil.copytree(tmp_path / "run", tmp_path / "again")
    shutil.rmtree(tmp_path / "again/model")
    shutil.rmtree(tmp_path / "again/reward_model/step-000002")
    for number in (3, 4, 5):
        shutil.rmtree(tmp_path / f"again/checkpoints/step-{number:06d}")
    resume(tmp_path / "again")
    assert steps_of(tmp_path / "again") == steps_of(tmp_path / "run")
    for name in ("reward_model/step-000002", "reward_model/step-000004", "model"):
        first, second = (load_file(tmp_path / run / name / "model.safetensors") for run in ("run", "again"))
        assert all(torch.equal(first[key], second[key]) for key in first)


def test_a_process_model_learns_the_steps_of_its_rule(make_task, model_folder, tmp_path):
    model = new_model("process_reward_model", model_folder, tmp_path / "prm")
    learned = {"use": "process_reward_model", "model": str(model), "process": 1.0}
    task = make_task({**RULE, "learned": {**learned, "segments": "line"}})
    settings = {"steps": 2, "reward_model.every": 1, "supervision": "process", "checkpoint.every": 0}
    train(task, run_dir=tmp_path / "run", **settings, **{"eval.every": 0, "eval.examples": 1, "eval.samples": 0})
    assert list(RunFiles(tmp_path / "run").numbered("reward_model/step-")) == [1]
    last = steps_of(tmp_path / "run")[2]
    assert (last["step"], last["reward_model/completions"]) == (1, 12)


@pytest.mark.parametrize(
    ("verifiers", "settings", "message"),
    [
        ({"test_vowels": {}}, {"every": 1}, "has 0 learned parts (none at its top level)"),
        (
            {"test_vowels": {}, "a": "outcome", "b": "outcome"},
            {"every": 1},
            "has 2 learned parts (a, b)",
        ),
        (
            {"test_vowels": {}, "a": "outcome"},
            {"every": 1, "rule": "vowels"},
            "reward_model.rule=vowels: no part of the",
        ),
        (
            {"test_vowels": {}, "a": "outcome"},
            {"every": 1, "rule": "a"},
            "no part of the reward of vowels beside the learned one, a; known: test_v",
        ),
        (
            {"test_has_letter": {}, "tag_count": {}, "a": "process"},
            {"every": 1, "rule": "tag_count"},
            "a scores steps, and tag_count has no step",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(make_task, verifiers, settings, message):
    kinds = {
        "outcome": {"use": "reward_model", "model": "hub/model"},
        "process": {"use": "process_reward_model", "model": "hub/model", "process": 1.0},
    }
    task = make_task({name: kinds[spec] if isinstance(spec, str) else spec for name, spec in verifiers.items()})
    with pytest.raises(UsageError) as raised:
        learned_part(task, RewardModelConfig(**settings))
    assert message in str(raised.value)
    assert learned_part(task, RewardModelConfig()) is None


def test_a_model_of_another_kind_stops_the_run_before_it_has_a_folder(make_task, outcome_model, tmp_path):
    learned = {"use": "process_reward_model", "model": str(outcome_model), "process": 1.0}
    task = make_task({**RULE, "learned": learned}, supervision="process")
    message = "vowels.yaml: verifiers.learned: model: .* is a reward model of whole completions"
    with pytest.raises(UsageError, match=message):
        train(task, run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_training_leaves_the_process_as_it_was(model_folder):
    """The run goes on with its own accelerator and random numbers."""
    accelerator = Accelerator(cpu=True)
    verifier = make_verifier("reward_model", {"model": str(model_folder)}, "test")
    loaded = verifier.trainable(seed=0)
    example, completion = Example("x", "q "), Completion("ab")
    read = verifier.read(loaded, example, completion)
    rows = [Labelled(example, completion, read, (float(n % 2),)) for n in range(4)]

    def state() -> tuple[Any, ...]:
        randoms = random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()
        shared = [dict(kind._shared_state) for kind in (AcceleratorState, GradientState)]
        return (*randoms, str(shared), dict(os.environ))

    before = state()
    assert fit(loaded, rows, FitSettings(epochs=2, batch_size=4, rows_at_once=2)) > 0
    assert state() == before
    assert (accelerator.num_processes, accelerator.gradient_accumulation_steps) == (1, 1)
    assert json.dumps(accelerator.state.mixed_precision) == '"no"'
