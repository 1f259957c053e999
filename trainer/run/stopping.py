"""How a run ends: finished, with too many unscored completions, interrupted, or by an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_env.errors import DivergedError, GrpoEnvError, InterruptedRunError, RunError

from ..engine.sharding import is_sharded
from ..shared_types import ScoredRollout
from .folder import BEST, MODEL, SAMPLES, TASK, uninterrupted
from .recorder import Recorder
from .run import Progress, Run


@dataclass(frozen=True)
class Result:
    """The result of a run: its folder, and the metrics of the first and the last evaluation."""

    run_dir: Path
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def check_unscored(run: Run, rollouts: Sequence[ScoredRollout], step: int) -> None:
    """Raises ``RunError``, with the first reason, if more than ``max_unscored_fraction`` are unscored."""
    unscored = [rollout for rollout in rollouts if not rollout.score.scored]
    if len(unscored) > run.config.max_unscored_fraction * len(rollouts):
        first = unscored[0]
        raise RunError(
            f"step {step}: {len(unscored)} of {len(rollouts)} completions cannot be scored, more than "
            f"max_unscored_fraction={run.config.max_unscored_fraction:g}; first: example {first.example.name}: "
            f"{first.score.status}: {first.score.explanation}"
        )


def finish(run: Run, recorder: Recorder, updates: int) -> Result:
    """Save the model and the last checkpoint, after ``updates``, and print where they are."""
    console, path, tasks = run.console, recorder.folder.path, run.mixture.tasks
    recorder.folder.save(run, updates)
    recorder.folder.save_model(run.policy)
    for kept in path.glob(f"{BEST}-*"):
        console.print(f"best       {kept}")
    console.print(f"saved      {path / MODEL}, {path / SAMPLES}")
    # The run's copy has the overrides and the files of verifiers; that of a mixture is none of its tasks.
    task = path / TASK if len(tasks) == 1 else tasks[0].command_line_name
    console.print(f"next       grpo_env eval {task} --model {path / MODEL}")
    return Result(path, recorder.evaluations[0], recorder.evaluations[-1])


def stopped(run: Run, recorder: Recorder, progress: Progress, error: BaseException) -> RunError:
    """Save the state after the last complete step, if it is sound; returns the error to raise: how to resume.

    It is not sound in the middle of an update, nor if the model has diverged.
    """
    path, interrupted, updates = recorder.folder.path, isinstance(error, KeyboardInterrupt), progress.updates
    foreseen = interrupted or isinstance(error, GrpoEnvError)
    reason = str(error) or ("interrupted" if interrupted else type(error).__name__)
    command = f"grpo_env train --resume {path}"
    # One process cannot gather shards alone, nor can it know that the others fail too.
    alone = is_sharded(run.policy) or (run.policy.accelerator.num_processes > 1 and not foreseen)
    if isinstance(error, DivergedError) or progress.mid_update or alone:
        kind = InterruptedRunError if interrupted else RunError
        return kind(f"after {updates} steps: {reason}. Resume from the last checkpoint with: {command}")
    with uninterrupted():
        try:
            recorder.folder.save(run, updates)
        except Exception as unsaved:  # after an unforeseen error, anything may fail
            if str(unsaved) == str(error) and isinstance(unsaved, RunError):
                return unsaved
            return RunError(f"{reason}; and the state could not be saved: {unsaved}")
    if interrupted:
        return InterruptedRunError(
            f"interrupted; {updates} of {run.config.steps} steps are saved. Resume with: {command}"
        )
    if not foreseen:
        return RunError(f"{updates} of {run.config.steps} steps are saved. Resume with: {command}")
    files = f"the settings are in {path / 'config.yaml'}, the task with its verifiers in {path / TASK}"
    return RunError(f"{error}. The state after {updates} steps is saved; {files}. Change what is wrong, then {command}")
