"""``grpo_env reward-model label-steps``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import (
    Model,
    Overrides,
    Overwrite,
    TaskName,
    VerifierFiles,
    console,
    ending_by_sigterm,
    say,
    split_overrides,
)
from .training import quiet_libraries


def label_steps(
    task: TaskName,
    completions: Annotated[Path, typer.Argument(help="File of completions, as for `grpo_env score`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="JSONL file for the labels.")],
    overrides: Overrides = None,
    model: Model = None,
    rollouts: Annotated[int, typer.Option(min=1, help="Continuations from the end of each step.")] = 8,
    segments: Annotated[str, typer.Option(help="Where a step ends: line, paragraph, sentence or marker.")] = "line",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N rows.")] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Discard the work of an interrupted run.")] = False,
    overwrite: Overwrite = False,
    verifiers: VerifierFiles = None,
) -> None:
    """Label the steps of completions by how often a model reaches the correct answer from their ends (Math-Shepherd).

    Writes score rows with the labels, for `grpo_env export prm --part rollouts` and `grpo_env view report`.
    An interrupted run resumes.
    """
    quiet_libraries()
    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.commands.label_steps import Request
    from grpo_env.trainer.commands.label_steps import label_steps as label
    from grpo_env.trainer.config import TrainConfig

    keys, settings = split_overrides(overrides)
    steps = {"step_values.segments": segments}
    with ending_by_sigterm():
        summary = label(
            load_task(task, keys),
            completions,
            out,
            Request(rollouts, TrainConfig.from_mapping(steps, "label-steps").step_values.segments, limit),
            model=model,
            restart=restart,
            overwrite=overwrite,
            console=console,
            **settings,
        )
    if summary.completions and summary.statuses["steps"]["good"]:
        hint = f"Next: grpo_env reward-model train {task} {out} --process --out FOLDER"
        say(f"Wrote {out}. {hint}")
    elif summary.completions:
        why = "No step has a correct continuation, so there is nothing for a reward model to tell apart"
        advice = "use easier questions, a stronger --model or more --rollouts"
        say(f"Wrote {out}. {why}; {advice}", "yellow")
    if summary.bad_rows:
        raise typer.Exit(1)
