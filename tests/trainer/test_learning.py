"""Training works: reward rises in a short run on the bundled model, but not with shuffled advantages."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import fmean

import pytest
import torch

from grpo_env import load_task
from grpo_env.trainer import advantages
from grpo_env.trainer.loop import train
from grpo_env.trainer.run.checkpoint import RunFolder

# The format is learned in a few steps, so that signal and noise are far apart: seeds 0 to 4 rise by 0.23 to 0.36, and
# by 0 at most with shuffled advantages.
REWARD = {
    "dataset.limit": {"train": 500, "eval": 20},
    "verifiers.accuracy.weight": 0.0,
    "verifiers.strict_format.weight": 1.0,
}
SETTINGS = {
    "seed": 1,
    "steps": 6,
    "prompts_per_step": 8,
    "optimizer.learning_rate": 2e-4,
    "optimizer.warmup_steps": 1,
    "optimizer.lr_schedule": "constant",
    "eval.examples": 2,
    "eval.samples": 0,
    "eval.every": 0,
    "checkpoint.every": 0,
    "engine.device": "cpu",
}


def rise(folder: Path, **settings: object) -> float:
    """Mean reward, here for the format only, of the last three steps less that of the first two."""
    task = load_task("arithmetic", REWARD)
    run = train(task, run_dir=folder, **{**SETTINGS, **settings}).run_dir
    rewards = [row["reward"] for row in RunFolder(run).metrics() if row["kind"] == "train"]
    return fmean(rewards[-3:]) - fmean(rewards[:2])


@pytest.mark.parametrize("supervision", ["outcome", pytest.param("process", marks=pytest.mark.slow)])
def test_reward_rises(tmp_path: Path, supervision: str) -> None:
    assert rise(tmp_path / "run", supervision=supervision) > 0.2


@pytest.mark.slow
def test_reward_does_not_rise_when_advantages_are_shuffled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, generator = advantages.outcome_advantages, random.Random(0)

    def shuffled(*arguments: object, **settings: object) -> torch.Tensor:
        values = real(*arguments, **settings)
        order = list(range(len(values)))
        generator.shuffle(order)
        return values[order]

    monkeypatch.setattr(advantages, "outcome_advantages", shuffled)
    assert rise(tmp_path / "run") < 0.1
