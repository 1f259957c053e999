"""The training loop: GRPO (Shao et al. 2024, DeepSeekMath, algorithm 1) on a task or several."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import torch

from grpo_env.environments import pool
from grpo_env.errors import GrpoEnvError, UsageError
from grpo_env.taskfile.mixture import Mixture, load_mixture
from grpo_env.taskfile.task import Task

from .advantages import token_advantages
from .batch import pack_batches
from .config import TrainConfig, with_located_code
from .extensions.dynamic_sampling import sample_groups
from .extensions.step_values import step_values
from .reference import add_reference_logp, sync_if_due
from .run.checkpoint import RunFolder
from .run.folder import MODEL, TASK, check_new, is_first_process, uninterrupted
from .run.held_out import end_reason, evaluate_if_due
from .run.learned_reward import update_reward_model
from .run.recorder import Recorder
from .run.run import Progress, Run
from .run.start_lines import print_start
from .run.stopping import Result, check_unscored, finish, stopped
from .run.trackers import finish_tracker
from .scored_groups import scored_groups
from .update import update


@torch.inference_mode(False)  # which an interrupt may have left on
def train(task: Task | Mixture | str, *, run_dir: str | Path | None = None, **settings: Any) -> Result:
    """Train a model on a task, or on several.

    Args:
        task: a task or a mixture, or its name or file.
        run_dir: a folder that does not exist yet; default ``runs/TASK-DATE-N``.
        settings: settings of ``TrainConfig``, such as ``steps=20, optimizer={"learning_rate": 1e-4}``, or
            ``**{"optimizer.learning_rate": 1e-4}``; they take precedence over the task's ``train`` section.

    Raises:
        UsageError: wrong settings, an unusable model or task, a run folder that exists.
        RunError: the run cannot continue: too many unscored completions, a loss that is not finite, a full disk,
            Ctrl-C. After any error in the loop, the last complete step is saved if possible, and the message, or a
            note of the exception, says how to resume.
    """
    mixture = Mixture.of(task) if isinstance(task, Task) else load_mixture(task) if isinstance(task, str) else task
    defaults = with_located_code(mixture.defaults, Path(mixture.source).parent)
    TrainConfig.from_mapping(defaults, f"{mixture.source}: train")
    config = TrainConfig.from_mapping(with_located_code(settings, Path.cwd()), defaults=defaults)
    path = Path(run_dir) if run_dir else None
    if path is not None and is_first_process():  # before servers get weights
        check_new(path)
    run = Run.load(mixture, config)
    with closing(run.engine):
        recorder = Recorder.create(run, path)
        with recorder.folder.locked():
            return learn(run, recorder)


@torch.inference_mode(False)
def resume(run_dir: str | Path, *, steps: int | str | None = None) -> Result:
    """Resume a run from its last valid checkpoint. It reaches the numbers of an uninterrupted run.

    Args:
        run_dir: the folder of the run.
        steps: a new number of steps, or ``"+60"`` for so many more, which a finished run needs. Its model is then kept
            as ``model-STEPS``.

    Raises:
        UsageError: a folder that is not a run, or that another process trains; a finished run without ``steps``, too
            few steps.
        RunError: as ``train`` does.
    """
    folder = RunFolder(path := Path(run_dir))
    command = f"grpo_env train --resume {path}"
    folder.config()  # before a file of it is locked
    with folder.locked():  # before the run is read, and servers get weights
        config, mixture = folder.config(), load_mixture(path / TASK)
        if (path / MODEL).exists() and (reason := end_reason(config.eval, folder.evaluations())):
            raise UsageError(
                f"{path}: an evaluation has ended this run: {reason}. To go on with it, change that in "
                f"{path / 'config.yaml'}, then: {command} steps=+N"
            )
        if steps is not None:
            config = config.model_copy(update={"steps": folder.more_steps(config.steps, steps)})
        elif (path / MODEL).exists():
            raise UsageError(f"{path}: this run is finished; to go on with it: {command} steps=+{config.steps or 1}")
        run = Run.load(mixture, config)
        with closing(run.engine):
            if steps is not None and folder.writes:
                folder.extend(config)
            return learn(run, Recorder.reopen(run, folder))


def learn(run: Run, recorder: Recorder) -> Result:
    """The training loop. A checkpoint is always taken at the end of a step."""
    policy, config, progress = run.policy, run.config, Progress(run, recorder.start)
    print_start(run, recorder.folder.path, recorder.start)
    try:
        for step in steps(run, recorder):
            began = time.perf_counter()

            # Sample G completions of each of P prompts, and score them.
            groups = sample_groups(policy, config, run.samplers, step)
            check_unscored(run, groups, step)
            rollouts = groups[: config.prompts_per_step * config.group_size]  # the groups to train on
            values, cost = step_values(policy, run.tasks, rollouts, config, step)
            sampled = time.perf_counter()

            # Rewards become one advantage per token.
            rewards = scored_groups(policy, rollouts, config, values)
            advantages = token_advantages(rewards, config)

            # Divide the step into mini-batches, and pack the rows that have a gradient into micro-batches.
            batches = pack_batches(policy, rollouts, advantages, config, progress.micro_batch_tokens)

            # Update the policy on each mini-batch: loss, backward, optimizer.
            run.engine.sleep()
            with uninterrupted():
                if run.reference is not None:
                    add_reference_logp(policy, run.reference, batches, config.sampling.temperature)
                stats = update(policy, run.optimizer, batches, config, step)
                sync_if_due(run.reference, policy, config.kl, step + 1)
                progress.end_step(batches)
                seconds = {"sample_seconds": sampled - began, "update_seconds": time.perf_counter() - sampled}
                recorder.step(step, groups, advantages, stats, {**seconds, **cost})
        return finish(run, recorder, progress.updates)
    except (KeyboardInterrupt, GrpoEnvError) as error:
        raise stopped(run, recorder, progress, error) from error
    except Exception as error:  # unforeseen, so its traceback matters
        error.add_note(str(stopped(run, recorder, progress, error)))
        raise
    finally:
        pool.close_idle()
        finish_tracker(recorder.tracker)


def steps(run: Run, recorder: Recorder) -> Iterator[int]:
    """The steps of a run, and around them what the weights until then are used for: evaluations and checkpoints.

    An evaluation may end them early (``eval.stop_at``, ``eval.patience``).
    """
    for step in range(recorder.start, run.config.steps + 1):
        run.engine.update_weights(run.policy, step)
        if step < run.config.steps:
            update_reward_model(run, recorder.folder, step)
        if reason := evaluate_if_due(run, recorder, step):
            run.console.print(f"stopped    after {step} steps: {reason}")
            return
        if step < run.config.steps:
            recorder.save_if_due(step)
            yield step
