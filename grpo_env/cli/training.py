"""``grpo_env train``, ``eval`` and ``generate``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from grpo_env.errors import UsageError

from .hub_offline import set_if_unreachable
from .options import (
    AnySplit,
    Model,
    Overrides,
    Overwrite,
    TaskName,
    TrainedModel,
    VerifierFiles,
    console,
    ending_by_sigterm,
    repeated,
    say,
    split_overrides,
)

DEFAULT_TASK = "arithmetic"

BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="OpenAI-compatible endpoint that has the model, such as http://localhost:8000/v1; --model is its name "
        "there. The key is read from OPENAI_API_KEY.",
    ),
]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests at once to --base-url.")]
Timeout = Annotated[float, typer.Option(min=1.0, help="Seconds that a request to --base-url may take.")]


def _list_settings(show: bool) -> None:
    if show:
        from grpo_env.console import plain_console
        from grpo_env.docgen.task_summary import settings

        plain_console().print(settings())
        raise typer.Exit


def train(
    task: Annotated[str, typer.Argument(help="Name or file of a task or a mixture of tasks.")] = DEFAULT_TASK,
    overrides: Overrides = None,
    model: TrainedModel = None,
    config: Annotated[Path | None, typer.Option("--config", help="YAML file of training settings.")] = None,
    run_dir: Annotated[Path | None, typer.Option("--run", help="Run folder. Default: runs/TASK-DATE-N.")] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="Resume the run in this folder; steps=+N for N more steps.")
    ] = None,
    verifiers: VerifierFiles = None,
    plan: Annotated[bool, typer.Option("--plan", help="Train nothing: print what the run takes on a GPU.")] = False,
    gpu: Annotated[
        float | None,
        typer.Option(
            "--gpu", min=1, help="With --plan: GB of the GPU (24); if given, the exit code is 1 if the run needs more."
        ),
    ] = None,
    list_settings: Annotated[
        bool, typer.Option("--settings", callback=_list_settings, is_eager=True, help="List the settings.")
    ] = False,
) -> None:
    """Train a model with GRPO on a task or a mixture of tasks.

    Settings come from the task's train section, then the --config file, then KEY=VALUE. List them with
    `grpo_env train --settings`.
    """
    if resume is not None:
        words = [*([] if task == DEFAULT_TASK else [task]), *(overrides or [])]
        if len(words) > 1 or not all(word.startswith("steps=") for word in words) or model or config or run_dir:
            raise UsageError("--resume takes no task and no option but steps=N or steps=+N: the run has its own")
        quiet_libraries()
        from grpo_env.trainer import loop

        loop.resume(resume, steps=words[0].removeprefix("steps=") if words else None)
        return
    from grpo_env.taskfile.mixture import load_mixture
    from grpo_env.taskfile.yaml_file import read_yaml
    from grpo_env.trainer.config import TrainConfig, flatten, with_located_code

    if gpu is not None and not plan:
        raise UsageError("--gpu needs --plan, which trains nothing")
    if "=" in task:
        task, overrides = DEFAULT_TASK, [task, *(overrides or [])]
    (keys, settings), source = split_overrides(overrides), "settings"
    if config is not None:
        in_file = with_located_code(flatten(read_yaml(config), str(config)), config.parent)
        source, settings = f"{config} and the command line" if settings else str(config), in_file | flatten(settings)
    if model is not None:
        settings["model"] = model
    mixture = load_mixture(task, keys)
    TrainConfig.from_mapping(settings, source, defaults=mixture.defaults)
    quiet_libraries()
    if plan:
        from grpo_env.trainer.commands.plan import plan_lines

        for line in plan_lines(mixture, gpu, settings):
            typer.echo(line)
        return
    from grpo_env.check import gain_warning
    from grpo_env.trainer import loop
    from grpo_env.trainer.run.folder import is_first_process

    for line in filter(None, map(gain_warning, mixture.tasks if is_first_process() else ())):
        say(f"warning: {line}", "yellow")
    loop.train(mixture, run_dir=run_dir, **settings)


def evaluate(
    task: TaskName,
    overrides: Overrides = None,
    model: Model = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = 8,
    timeout: Timeout = 600.0,
    samples: Annotated[int, typer.Option(min=1, help="Samples per problem for pass@k.")] = 8,
    limit: Annotated[int | None, typer.Option(min=1, help="Evaluate only the first N problems.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="JSONL file for the sampled completions with their scores.")
    ] = None,
    overwrite: Overwrite = False,
    verifiers: VerifierFiles = None,
) -> None:
    """Evaluate a model on a task's eval split: greedy accuracy and unbiased pass@k, as JSON."""
    quiet_libraries()
    import json

    from grpo_env.scoring import OutputFile
    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.commands.evaluate import run_eval
    from grpo_env.trainer.commands.served_model import ServedModel

    keys, settings = split_overrides(overrides)
    loaded = load_task(task, keys)
    chosen = model if base_url is None else ServedModel.at(base_url, model, concurrency, timeout)
    output = None if out is None else OutputFile(out, overwrite=overwrite)
    result = run_eval(loaded, chosen, samples=samples, limit=limit, out=output, console=console, **settings)
    print(json.dumps(result, indent=2))


def generate(
    task: TaskName,
    out: Annotated[Path, typer.Option("--out", "-o", help="JSONL file for the completions.")],
    overrides: Overrides = None,
    model: Model = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = 8,
    timeout: Timeout = 600.0,
    samples: Annotated[int, typer.Option(min=1, help="Completions of each prompt.")] = 8,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="One completion of each prompt, of the most likely tokens.")
    ] = False,
    split: AnySplit = "eval",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N prompts.")] = None,
    batch: Annotated[
        int, typer.Option(min=1, help="Completions to sample at once; an interruption loses no more than these.")
    ] = 128,
    restart: Annotated[bool, typer.Option("--restart", help="Discard the work of an interrupted run.")] = False,
    overwrite: Overwrite = False,
    verifiers: VerifierFiles = None,
) -> None:
    """Sample completions of a task's prompts from a model, for `grpo_env score`. An interrupted run resumes."""
    quiet_libraries()
    from grpo_env.scoring import OutputFile
    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.commands.generate import Request
    from grpo_env.trainer.commands.generate import generate as sample_into
    from grpo_env.trainer.commands.served_model import ServedModel

    keys, settings = split_overrides(overrides)
    loaded = load_task(task, keys)
    request = Request(split, samples, greedy, limit, batch)
    chosen = model if base_url is None else ServedModel.at(base_url, model, concurrency, timeout)
    output = OutputFile(out, restart, overwrite)
    with ending_by_sigterm():
        sample_into(loaded, output, request, model=chosen, console=console, **settings)
    command = f"grpo_env score {loaded.command_line_name} {out}{repeated(overrides, verifiers)} --out scores.jsonl"
    say(f"Wrote {out}. Next: {command}")


def quiet_libraries() -> None:
    """Before the model libraries are imported."""
    # Progress bars and warnings of the model libraries would stand between a run's lines; errors are still shown.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    set_if_unreachable()
