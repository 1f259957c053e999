"""``grpo_env reward-model``: labels steps, and trains reward models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import (
    Model,
    Overrides,
    Overwrite,
    TaskKeys,
    TaskName,
    TrainedModel,
    VerifierFiles,
    console,
    ending_by_sigterm,
    say,
    split_overrides,
    task_keys,
)
from .training import quiet_libraries

reward_model_app = typer.Typer(help="Label steps, and train reward models.", no_args_is_help=True)


@reward_model_app.command("train")
def train(
    task: TaskName,
    file: Annotated[Path, typer.Argument(help="Score file, of `score` or `label-steps`, or the folder of a run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="New folder for the model.")],
    overrides: TaskKeys = None,
    model: TrainedModel = None,
    process: Annotated[
        bool, typer.Option("--process", help="A process reward model, on labels of steps; else of whole completions.")
    ] = False,
    part: Annotated[
        str | None,
        typer.Option(help="The part with the labels. Default: the metric; with --process, that of label-steps."),
    ] = None,
    hard: Annotated[bool, typer.Option("--hard", help="Labels are 1 if above 0, else 0.")] = False,
    segments: Annotated[
        str, typer.Option(help="Where a step ends: line, paragraph, sentence, marker or a tag.")
    ] = "line",
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

    request = Request(process, part, segments, hard, held_out, model)
    with ending_by_sigterm():
        figures = train_reward_model(
            load_task(task, task_keys(overrides)),
            file,
            out,
            request,
            FitSettings(epochs, learning_rate, batch_size, rows_at_once, seed),
            console=console,
        )
    for line in figure_lines(figures):
        print(line)
    say(f"Wrote {out}. As a verifier: {request.yaml(out)}")


@reward_model_app.command("label-steps")
def label_steps(
    task: TaskName,
    completions: Annotated[Path, typer.Argument(help="File of completions, as for `grpo_env score`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="JSONL file for the labels.")],
    overrides: Overrides = None,
    model: Model = None,
    rollouts: Annotated[int, typer.Option(min=1, help="Continuations from the end of each step.")] = 8,
    segments: Annotated[
        Literal["line", "paragraph", "sentence", "marker"], typer.Option(help="Where a step ends.")
    ] = "line",
    restart: Annotated[bool, typer.Option("--restart", help="Discard the work of an interrupted run.")] = False,
    overwrite: Overwrite = False,
    verifiers: VerifierFiles = None,
) -> None:
    """Label the steps of completions by how often a model reaches the correct answer from their ends (Math-Shepherd).

    Writes score rows with the labels, for `grpo_env export prm --part rollouts` and `grpo_env view report`.
    An interrupted run resumes.
    """
    quiet_libraries()
    from grpo_env.scoring import OutputFile
    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.commands.label_steps import Request
    from grpo_env.trainer.commands.label_steps import label_steps as label

    keys, settings = split_overrides(overrides)
    with ending_by_sigterm():
        summary = label(
            load_task(task, keys),
            completions,
            OutputFile(out, restart, overwrite),
            Request(rollouts, segments),
            model=model,
            console=console,
            **settings,
        )
    if summary.counts["good"]:
        hint = f"Next: grpo_env reward-model train {task} {out} --process --out FOLDER"
        say(f"Wrote {out}. {hint}")
    elif summary.completions:
        why = "No step has a correct continuation, so there is nothing for a reward model to tell apart"
        advice = "use easier questions, a stronger --model or more --rollouts"
        say(f"Wrote {out}. {why}; {advice}", "yellow")
    if summary.bad_rows:
        raise typer.Exit(1)
