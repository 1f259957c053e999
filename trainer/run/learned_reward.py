"""Trains the learned part of a run's reward on the run's own completions (DeepSeekMath, algorithm 1, line 12)."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet

from grpo_env.progress import progress
from grpo_env.results.rows import ScoreRow, read_scores

from ..config import RewardModelConfig
from ..reward_models.fit import FitSettings, fit, save
from ..reward_models.labels import labelled_completions
from ..reward_models.learned import LearnedPart, with_model
from .checkpoint import RunFolder
from .folder import REWARD_MODEL, new_folder
from .run import Run

TRAINING = "training.json"


def update_reward_model(run: Run, folder: RunFolder, step: int) -> None:
    """Let the samples of ``step`` be scored by the model of the last multiple of ``reward_model.every``.

    It is trained now, on the completions of the steps before, unless it is in the run's folder: when training just came
    to this step, or a run is resumed that was ended meanwhile.
    """
    every = run.config.reward_model.every
    if run.learned is None or step < every:
        return
    model, (sampler,) = _model(run, folder, run.learned, step - step % every), run.samplers
    if (task := with_model(sampler.task, run.learned.name, model)) is not sampler.task:
        sampler.task = task
        run.learned.verifier.release()
        _remove_old(folder, step, every)


def training_figures(folder: RunFolder, step: int) -> dict[str, Any]:
    """What the metrics of ``step`` say of the training before it: its completions, mean loss and seconds."""
    file = _model_folder(folder, step) / TRAINING
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _model_folder(folder: RunFolder, step: int) -> Path:
    return folder.path / REWARD_MODEL / f"step-{step:06d}"


def _model(run: Run, run_folder: RunFolder, learned: LearnedPart, due: int) -> Path:
    """The folder of the model after ``due`` steps: unless it exists, the one before is trained on the completions of
    the last ``every`` steps and some of earlier ones.

    The samples in the run's folder, the first model, the settings and ``due`` determine the result.
    """
    if (folder := _model_folder(run_folder, due)).exists():
        return folder
    began, settings, (task,) = time.perf_counter(), run.config.reward_model, run.tasks
    seed = random.Random(f"{run.config.seed}/{due}/reward model").randrange(2**31)
    verifier = learned.verifier
    if due > settings.every:
        verifier = replace(verifier, model=str(_model(run, run_folder, learned, due - settings.every)))
    loaded = verifier.trainable(seed)
    samples, loss = _rows(settings, run_folder, due, seed), None
    rows, _ = labelled_completions(samples, task, learned.rule, verifier, loaded)
    if rows:
        fit_settings = FitSettings(epochs=1, learning_rate=settings.peak_learning_rate, seed=seed)
        title = f"training the reward model after {due} steps"
        with progress(title, len(rows), run.console.console) as advance:
            loss = fit(loaded, rows, fit_settings, advance)
    figures = {"reward_model/completions": len(rows), "reward_model/loss": loss}
    figures["reward_model/seconds"] = time.perf_counter() - began
    with new_folder(folder) as draft:
        save(loaded, draft)
        (draft / TRAINING).write_text(json.dumps(figures) + "\n", encoding="utf-8")
    return folder


def _rows(settings: RewardModelConfig, folder: RunFolder, due: int, seed: int) -> Iterator[ScoreRow]:
    """The rows of samples to train on: those since the last training, and ``replay`` of before."""
    files, start = folder.sample_files(), due - settings.every
    counts = {file: pyarrow.parquet.read_metadata(file).num_rows for file in files.values()}
    new = [file for step, file in files.items() if start <= step < due]
    before = [(file, row) for step, file in files.items() if step < start for row in range(counts[file])]
    fraction = settings.replay / (1 - settings.replay)
    wanted = min(len(before), round(fraction * sum(counts[file] for file in new)))
    chosen = set(random.Random(seed).sample(before, wanted))
    for file in sorted({*new, *(file for file, _ in chosen)}):
        for number, row in enumerate(read_scores(file)):
            if file in new or (file, number) in chosen:
                yield row


def _remove_old(folder: RunFolder, step: int, every: int) -> None:
    """Remove the models that no checkpoint needs."""
    oldest = min(folder.numbered("checkpoints/step-"), default=step)
    for number, model in folder.numbered(f"{REWARD_MODEL}/step-").items():
        if number < oldest - oldest % every:
            shutil.rmtree(model)
