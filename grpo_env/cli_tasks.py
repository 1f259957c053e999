"""``grpo_env tasks`` and ``check``: list tasks, show one, start a new one, check one."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grpo_env.cli_options import Overrides, VerifierFiles, talk, task_keys, write_new
from grpo_env.errors import UsageError

tasks_app = typer.Typer(help="List tasks, show one, start a new one.", invoke_without_command=True)


@tasks_app.callback()
def tasks(context: typer.Context) -> None:
    """List the tasks that can be found by name."""
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table

    from grpo_env.mixture import parse_mixture
    from grpo_env.schema import parse_task, read_yaml
    from grpo_env.task import task_files

    table = Table("task", "description", "file", box=None, header_style="bold")
    for path in task_files():
        data = read_yaml(path)
        spec = parse_mixture(data, str(path)) if "mixture" in data else parse_task(data, str(path))
        table.add_row(path.stem, spec.description, str(path))
    Console().print(table)


@tasks_app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="A task's name or file.")],
    overrides: Overrides = None,
    split: Annotated[str, typer.Option(help="train or eval.")] = "train",
    verifiers: VerifierFiles = None,
) -> None:
    """Print a task's first example: its prompt as the model sees it, its gold answer, its verifiers."""
    from grpo_env.summary import describe
    from grpo_env.task import load_task

    keys = task_keys(overrides)
    if split not in ("train", "eval"):
        raise UsageError(f"--split {split}: expected train or eval")
    print(describe(load_task(name, keys), split))  # type: ignore[arg-type]


@tasks_app.command("new")
def new(file: Annotated[Path, typer.Argument(help="The file to write, ending in .yaml.")]) -> None:
    """Write a commented task file to start from."""
    if file.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{file}: a task file ends in .yaml")
    template = files("grpo_env.tasks").joinpath("template.txt").read_text(encoding="utf-8")
    write_new(file, template.replace("TASK_NAME", file.stem))
    talk.print(f"Wrote {file}. Next: grpo_env tasks show {file}")


def check(
    task: Annotated[str, typer.Argument(help="A task's name or file.")],
    overrides: Overrides = None,
    verifiers: VerifierFiles = None,
) -> None:
    """Check a task without a model: its cases hold, its data loads, its gold answers can be judged."""
    from grpo_env.check import failed_cases
    from grpo_env.task import load_task

    loaded = load_task(task, task_keys(overrides))
    failed = list(failed_cases(loaded))
    for line in failed:
        talk.print(line, style="red", markup=False, soft_wrap=True)
    talk.print(f"{len(loaded.spec.cases)} cases, {len(failed)} values wrong")
    for split in loaded.spec.dataset.split:
        talk.print(f"{split}: {len(loaded.examples(split)):,} examples")
    if failed:
        raise typer.Exit(1)
