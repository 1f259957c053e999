"""``grpo_env reward-model train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import (
    Model,
    Segments,
    Separator,
    TaskKeys,
    TaskName,
    VerifierFiles,
    console,
    ending_by_sigterm,
    say,
    task_keys,
)
from .training import quiet_libraries

reward_model_app = typer.Typer(help="Label steps, and train reward models.", no_args_is_help=True)


@reward_model_app.callback()
def reward_model() -> None:
    """Label steps, and train reward models."""


@reward_model_app.command("train")
def train(
    task: TaskName,
    file: Annotated[Path, typer.Argument(help="Score file, of `score` or `label-steps`, or the folder of a run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="New folder for the model.")],
    overrides: TaskKeys = None,
    model: Model = None,
    process: Annotated[
        bool, typer.Option("--process", help="A process reward model, on labels of steps; else of whole completions.")
    ] = False,
    part: Annotated[
        str | None,
        typer.Option(help="The part with the labels. Default: the metric; with --process, that of label-steps."),
    ] = None,
    hard: Annotated[bool, typer.Option("--hard", help="Labels are 1 if above 0, else 0.")] = False,
    segments: Segments = "line",
    separator: Separator = "",
    held_out: Annotated[float, typer.Option(min=0.01, max=0.99, help="Fraction of the prompts for the figures.")] = 0.2,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the data.")] = 4,
    learning_rate: Annotated[
        float | None, typer.Option(min=0, help="Default: 5e-4 for a bundled model, 1e-5 for others.")
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Completions of an update.")] = 32,
    rows_at_once: Annotated[
        int, typer.Option(min=1, help="Completions of a forward pass; fewer take less memory.")
    ] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Determines the held-out prompts, the order and a new head.")] = 0,
    verifiers: VerifierFiles = None,
) -> None:
    """Train a model for the verifier `reward_model`, or with --process for `process_reward_model`.

    Prints how well it predicts held-out prompts, and writes the same to held_out.json in the folder.
    """
    quiet_libraries()
    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.commands.reward_model import Request, figure_lines, train_reward_model
    from grpo_env.trainer.reward_models.fit import FitSettings

    request = Request(process, part, segments, separator, hard, held_out)
    with ending_by_sigterm():
        figures = train_reward_model(
            load_task(task, task_keys(overrides)),
            file,
            out,
            request,
            FitSettings(epochs, learning_rate, batch_size, rows_at_once, seed),
            model=model,
            console=console,
        )
    for line in figure_lines(figures):
        print(line)
    say(f"Wrote {out}. As a verifier: {request.yaml(out)}")
