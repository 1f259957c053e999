"""The ``grpo_env`` command. Data goes to stdout, talk to stderr; exit code 2 is wrong usage, 1 a failure."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grpo_env import __version__
from grpo_env.errors import GrpoEnvError, UsageError

from .options import Overrides, VerifierFiles, split_overrides, talk
from .runs import plot, watch
from .scores import compare, export, report, score
from .serve import serve
from .tasks import audit, check, tasks_app
from .verifiers import verifiers_app

# Everything heavier than typer is imported inside the command that needs it, so that help stays instant.

app = typer.Typer(
    name="grpo_env",
    help="Verifiers, tasks and a compact trainer for GRPO.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(tasks_app, name="tasks")
app.add_typer(verifiers_app, name="verifiers")
app.command()(score)
app.command()(serve)
app.command()(report)
app.command()(compare)
app.command()(export)
app.command()(check)
app.command()(audit)
app.command()(watch)
app.command()(plot)

DEFAULT_TASK = "arithmetic"


def main() -> None:
    """Run the command; an error that a user can meet is one line."""
    try:
        app()
    except GrpoEnvError as error:
        talk.print(f"grpo_env: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(error.exit_code)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"grpo_env {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def train(
    task: Annotated[str, typer.Argument(help="A task's name or file, or a file that mixes several.")] = DEFAULT_TASK,
    overrides: Overrides = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Hub id or folder; default: the bundled model.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A YAML file of training settings.")] = None,
    run_dir: Annotated[
        Path | None, typer.Option("--run", help="Where the run goes; default: runs/TASK-DATE-N.")
    ] = None,
    resume: Annotated[Path | None, typer.Option("--resume", help="Go on with this run folder.")] = None,
    verifiers: VerifierFiles = None,
) -> None:
    """Train a model on a task, or several, by GRPO.

    Settings come from the task's train section, then the --config file, then KEY=VALUE; `grpo_env settings`
    lists them.
    """
    if resume is not None:
        if task != DEFAULT_TASK or overrides or model or config or run_dir:
            raise UsageError("--resume goes on with the run's own settings; give nothing else with it")
        _quiet_libraries()
        from grpo_env.trainer import loop

        loop.resume(resume)
        return
    from grpo_env.taskfile.mixture import load_mixture
    from grpo_env.taskfile.schema import read_yaml
    from grpo_env.trainer.config import flatten

    if "=" in task:
        task, overrides = DEFAULT_TASK, [task, *(overrides or [])]
    keys, settings = split_overrides(overrides)
    if config is not None:
        settings = {**flatten(read_yaml(config), str(config)), **flatten(settings)}
    if model is not None:
        settings["model"] = model
    loaded = load_mixture(task, keys)
    _quiet_libraries()
    from grpo_env.trainer import loop

    loop.train(loaded, run_dir=run_dir, **settings)


@app.command("eval")
def evaluate(
    task: Annotated[str, typer.Argument(help="A task's name or file.")],
    overrides: Overrides = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Hub id or folder; default: the bundled model.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Samples per problem, for pass@k.")] = 8,
    limit: Annotated[int | None, typer.Option(min=1, help="Evaluate on the first so many problems.")] = None,
    verifiers: VerifierFiles = None,
) -> None:
    """Greedy accuracy and unbiased pass@k of a model on a task's eval split, as JSON."""
    _quiet_libraries()
    import json

    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.evaluate import run_eval

    keys, settings = split_overrides(overrides)
    result = run_eval(load_task(task, keys), model=model, samples=samples, limit=limit, **settings)
    print(json.dumps(result, indent=2))


@app.command("settings")
def list_settings(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="A page of them, and of the keys of a task file.")
    ] = False,
) -> None:
    """List the settings of `grpo_env train` with their defaults."""
    if markdown:
        from grpo_env.docgen.reference import page

        print(page(), end="")
        return
    from grpo_env.docgen.task_summary import settings

    Console().print(settings())


def _quiet_libraries() -> None:
    # Progress bars and hints of the model libraries would tear the live table; errors still show.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
