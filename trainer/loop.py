"""The algorithm: GRPO (Shao et al. 2024, DeepSeekMath, algorithm 1) on a task, from the first sample to the last."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from grpo_env.errors import RunError, UsageError
from grpo_env.taskfile.mixture import Mixture, load_mixture
from grpo_env.taskfile.task import Task

from .batch import collate
from .config import TrainConfig
from .rollout import collect_rollouts
from .run.checkpoint import RunFolder
from .run.folder import MODEL, uninterrupted
from .run.recording import evaluate_if_due, record_step, start_recording
from .run.run import Result, Run
from .run.stopping import check_unscored, finish, stopped
from .update import update


def train(task: Task | Mixture | str, *, run_dir: str | Path | None = None, **settings: Any) -> Result:
    """Train a model on a task, or on several.

    Args:
        task: a task or a mixture, or its name or file.
        run_dir: a folder that does not exist yet; default ``runs/TASK-DATE-N``.
        settings: settings of ``TrainConfig``, such as ``steps=20, optimizer={"learning_rate": 1e-4}``, or
            ``**{"optimizer.learning_rate": 1e-4}``; they take precedence over the task's ``train`` section.

    Raises:
        UsageError: wrong settings, an unusable model or task, a run folder that exists.
        RunError: the run cannot go on: too much unscored, a loss that is not finite, a full disk, Ctrl-C.
    """
    mixture = Mixture.of(task) if isinstance(task, Task) else load_mixture(task) if isinstance(task, str) else task
    TrainConfig.from_mapping(mixture.defaults, f"{mixture.source}: train")
    config = TrainConfig.from_mapping(settings, defaults=mixture.defaults)
    run = Run.load(mixture, config)
    run.create_folder(Path(run_dir) if run_dir else None)
    return learn(run, start=0)


def resume(run_dir: str | Path) -> Result:
    """Go on with a run from its last sound checkpoint, to the numbers that it would have reached undisturbed.

    Raises ``UsageError`` for a folder that is no run and for a run that is finished; ``RunError`` as ``train`` does.
    """
    folder, mixture, config = RunFolder.reopen(Path(run_dir))
    if (folder.path / MODEL).exists():
        raise UsageError(f"{run_dir}: this run is finished; its model is in {folder.path / MODEL}")
    run = Run.load(mixture, config)
    return learn(run, start=run.reopen_folder(folder))


def learn(run: Run, start: int) -> Result:
    """The loop. ``done`` counts finished updates, so that what is saved is always the end of a step."""
    policy, config, done = run.policy, run.config, start
    start_recording(run, start)
    try:
        for step in range(start, config.steps):
            evaluate_if_due(run, step)
            run.save_if_due(step)
            began = time.perf_counter()
            judged, tried = collect_rollouts(policy, run.samplers, config, step)
            check_unscored(run, tried, step)
            sampled = time.perf_counter()
            batch = collate(policy, judged, run.config)
            with uninterrupted():
                stats = update(policy, run.optimizer, run.reference, batch, config, step)
                done = step + 1
                run.sync_reference_if_due(done)
                run.keep_micro_batch_size(batch)
                record_step(run, step, judged, tried, batch, stats, (began, sampled, time.perf_counter()))
        evaluate_if_due(run, config.steps)
        return finish(run)
    except (KeyboardInterrupt, RunError) as error:
        raise stopped(run, done, error) from error
    finally:
        run.metrics.close()
