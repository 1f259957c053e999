"""The ``grpo_env`` command. Data goes to stdout, talk to stderr; exit code 2 is wrong usage, 1 a failure."""

from __future__ import annotations

import os
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from grpo_env import __version__
from grpo_env.errors import GrpoEnvError, UsageError, nearest

# Everything heavier than typer is imported inside the command that needs it, so that help stays instant.

app = typer.Typer(
    name="grpo_env",
    help="Verifiers, tasks and a compact trainer for GRPO.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
tasks_app = typer.Typer(help="List tasks, show one, start a new one.", invoke_without_command=True)
app.add_typer(tasks_app, name="tasks")

DEFAULT_TASK = "arithmetic"

talk = Console(stderr=True, highlight=False)

Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Settings, e.g. steps=20, or task keys, e.g. dataset.path=train.jsonl"),
]


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
    task: Annotated[str, typer.Argument(help="A task's name or file.")] = DEFAULT_TASK,
    overrides: Overrides = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Hub id or folder; default: the bundled model.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A YAML file of training settings.")] = None,
    run_dir: Annotated[
        Path | None, typer.Option("--run", help="Where the run goes; default: runs/TASK-DATE-N.")
    ] = None,
    resume: Annotated[Path | None, typer.Option("--resume", help="Go on with this run folder.")] = None,
) -> None:
    """Train a model on a task by GRPO.

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
    from grpo_env.schema import read_yaml
    from grpo_env.task import load_task

    if "=" in task:
        task, overrides = DEFAULT_TASK, [task, *(overrides or [])]
    task_keys, settings = _split_overrides(overrides)
    settings = {**(read_yaml(config) if config else {}), **settings}
    if model is not None:
        settings["model"] = model
    loaded = load_task(task, task_keys)
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
) -> None:
    """Greedy accuracy and unbiased pass@k of a model on a task's eval split, as JSON."""
    _quiet_libraries()
    import json

    from grpo_env.task import load_task
    from grpo_env.trainer.evaluate import run_eval

    task_keys, settings = _split_overrides(overrides)
    result = run_eval(load_task(task, task_keys), model=model, samples=samples, limit=limit, **settings)
    print(json.dumps(result, indent=2))


@app.command()
def score(
    task: Annotated[str, typer.Argument(help="A task's name or file.")],
    file: Annotated[Path, typer.Argument(help="Completions: .jsonl, .json, .csv or .parquet.")],
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write here; default: standard output.")] = None,
    completion: Annotated[
        list[str] | None,
        typer.Option(help="Column, dotted path or template of the completion; several are one group."),
    ] = None,
    answer: Annotated[str | None, typer.Option(help="Column, path or template of the gold answer.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="Column, path or template of the row's id.")] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Column or path of a known verdict (true/false) to compare the metric with."),
    ] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0: one for each core.")] = 0,
) -> None:
    """Score saved completions: one JSON line for each, a summary on stderr."""
    from grpo_env.scoring import Fields
    from grpo_env.summary import score_file
    from grpo_env.task import load_task

    fields = Fields(tuple(completion or ()), answer, id, tuple(label or ()))
    tally = score_file(load_task(task, _task_keys(overrides)), file, out, fields, workers or os.cpu_count() or 1, talk)
    if tally.bad_rows:
        raise typer.Exit(1)


@app.command()
def check(
    task: Annotated[str, typer.Argument(help="A task's name or file.")],
    overrides: Overrides = None,
) -> None:
    """Check a task without a model: its cases hold, its data loads, its gold answers can be judged."""
    from grpo_env.check import failed_cases
    from grpo_env.task import load_task

    loaded = load_task(task, _task_keys(overrides))
    failed = list(failed_cases(loaded))
    for line in failed:
        talk.print(line, style="red", markup=False, soft_wrap=True)
    talk.print(f"{len(loaded.spec.cases)} cases, {len(failed)} values wrong")
    for split in loaded.spec.dataset.split:
        talk.print(f"{split}: {len(loaded.examples(split)):,} examples")
    if failed:
        raise typer.Exit(1)


@app.command("settings")
def list_settings() -> None:
    """List the settings of `grpo_env train` with their defaults."""
    from grpo_env.summary import settings

    Console().print(settings())


@tasks_app.callback()
def tasks(context: typer.Context) -> None:
    """List the tasks that can be found by name."""
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table

    from grpo_env.schema import parse_task, read_yaml
    from grpo_env.task import task_files

    table = Table("task", "description", "file", box=None, header_style="bold")
    for path in task_files():
        spec = parse_task(read_yaml(path), str(path))
        table.add_row(path.stem, spec.description, str(path))
    Console().print(table)


@tasks_app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="A task's name or file.")],
    overrides: Overrides = None,
    split: Annotated[str, typer.Option(help="train or eval.")] = "train",
) -> None:
    """Print a task's first example: its prompt as the model sees it, its gold answer, its verifiers."""
    from grpo_env.summary import describe
    from grpo_env.task import load_task

    task_keys = _task_keys(overrides)
    if split not in ("train", "eval"):
        raise UsageError(f"--split {split}: expected train or eval")
    print(describe(load_task(name, task_keys), split))  # type: ignore[arg-type]


@tasks_app.command("new")
def new(file: Annotated[Path, typer.Argument(help="The file to write, ending in .yaml.")]) -> None:
    """Write a commented task file to start from."""
    if file.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{file}: a task file ends in .yaml")
    template = files("grpo_env.tasks").joinpath("template.txt").read_text(encoding="utf-8")
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(template.replace("TASK_NAME", file.stem))
    except FileExistsError as error:
        raise UsageError(f"{file}: exists already; it was left as it is") from error
    except OSError as error:
        raise UsageError(f"{file}: cannot be written ({error.strerror})") from error
    talk.print(f"Wrote {file}. Next: grpo_env tasks show {file}")


def _task_keys(overrides: list[str] | None) -> dict[str, Any]:
    """``key=value`` arguments of a command that has no settings of its own."""
    from grpo_env.schema import SECTIONS

    task_keys, settings = _split_overrides(overrides)
    for key in settings:
        raise UsageError(f"{key}: not a key of a task; {nearest(key.split('.')[0], SECTIONS)}")
    return task_keys


def _split_overrides(overrides: list[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """``key=value`` arguments as task keys and training settings. Values are YAML."""
    import yaml

    from grpo_env.schema import SECTIONS

    task_keys: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for override in overrides or []:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise UsageError(f"{override!r}: expected KEY=VALUE, e.g. steps=20")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise UsageError(f"{override!r}: the value is not valid YAML") from error
        (task_keys if key.split(".")[0] in SECTIONS and key != "train" else settings)[key] = value
    return task_keys, settings


def _quiet_libraries() -> None:
    # Progress bars and hints of the model libraries would tear the live table; errors still show.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
