"""``grpo_env tasks``, ``check`` and ``audit``: list tasks, show one, start a new one, check one, attack one."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from grpo_env.errors import UsageError

from .options import Overrides, VerifierFiles, talk, task_keys, write_new

tasks_app = typer.Typer(help="List tasks, show one, start a new one.", invoke_without_command=True)


@tasks_app.callback()
def tasks(context: typer.Context) -> None:
    """List the tasks that can be found by name."""
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table

    from grpo_env.taskfile.mixture import parse_mixture
    from grpo_env.taskfile.schema import parse_task, read_yaml
    from grpo_env.taskfile.task import task_files

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
    from grpo_env.docgen.task_summary import describe
    from grpo_env.taskfile.task import load_task

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
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Count prompts in this model's tokens; else characters.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Check the first so many rows of each split.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON, with all findings.")] = False,
    verifiers: VerifierFiles = None,
) -> None:
    """Check a task without a model: its cases, its data, that gold answers are paid in full and changed ones not."""
    from grpo_env.check import check as check_task
    from grpo_env.taskfile.task import load_task

    report = check_task(load_task(task, task_keys(overrides)), model, limit)
    _show(report, as_json)
    if not report.ok:
        raise typer.Exit(1)


def audit(
    task: Annotated[str, typer.Argument(help="A task's name or file.")],
    overrides: Overrides = None,
    split: Annotated[str, typer.Option(help="train or eval.")] = "train",
    limit: Annotated[int, typer.Option(min=1, help="Attack the first so many examples.")] = 50,
    only: Annotated[list[str] | None, typer.Option(help="A family of hacks; may be given several times.")] = None,
    fail_on: Annotated[
        str | None, typer.Option(help="Exit code 1 for an exploit, or for any problem: exploit or problem.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole scoreboard as JSON.")] = False,
    hacks: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="A Python file with hacks of your own.")
    ] = None,
    verifiers: VerifierFiles = None,
) -> None:
    """Attack a task's reward: what lazy strategies earn beside an honest answer, and which of them are exploits."""
    from grpo_env.audit import audit as audit_task
    from grpo_env.audit import load_hacks
    from grpo_env.taskfile.task import load_task

    keys = task_keys(overrides)
    if split not in ("train", "eval"):
        raise UsageError(f"--split {split}: expected train or eval")
    if fail_on not in (None, "exploit", "problem"):
        raise UsageError(f"--fail-on {fail_on}: expected exploit or problem")
    for file in hacks or []:
        load_hacks(file)
    report = audit_task(load_task(task, keys), split, limit, only or ())  # type: ignore[arg-type]
    _show(report, as_json)
    if (fail_on == "exploit" and report.exploits) or (fail_on == "problem" and report.problems):
        raise typer.Exit(1)


def _show(report: Any, as_json: bool) -> None:
    # Texts of the data and of attacks may hold anything; a terminal gets no control characters.
    if as_json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        print("".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in str(report)))
