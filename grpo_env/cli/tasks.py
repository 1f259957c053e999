"""``grpo_env tasks``, ``grpo_env check`` and ``grpo_env audit``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grpo_env.console import plain_console
from grpo_env.errors import UsageError
from grpo_env.rows.writer import check_free
from grpo_env.terminal import escape_controls, printable

from .options import Split, TaskKeys, TaskName, VerifierFiles, loaded_task, say, status, write_new

if TYPE_CHECKING:
    from grpo_env.audit import AuditRequest
    from grpo_env.audit.scoreboard import Audit
    from grpo_env.check import CheckResult
    from grpo_env.taskfile.task import Task

tasks_app = typer.Typer(help="List, show, write, check, attack and play tasks.", invoke_without_command=True)


@tasks_app.callback()
def tasks(context: typer.Context) -> None:
    """Work with tasks; without a command, list them."""
    if context.invoked_subcommand is None:
        list_tasks()


@tasks_app.command("list")
def list_tasks(
    as_json: Annotated[bool, typer.Option("--json", help="Print names, descriptions and files as JSON.")] = False,
) -> None:
    """List the tasks that are available by name."""
    from rich.table import Table

    from grpo_env.taskfile.mixture import MixtureSpec
    from grpo_env.taskfile.schema import TaskSpec
    from grpo_env.taskfile.task import task_files
    from grpo_env.taskfile.validation import validate
    from grpo_env.taskfile.yaml_file import read_yaml

    found: list[dict[str, str]] = []
    problems: list[UsageError] = []
    for path in task_files():
        try:
            data = read_yaml(path)
            spec: TaskSpec | MixtureSpec
            spec = validate(MixtureSpec, data, str(path)) if "mixture" in data else validate(TaskSpec, data, str(path))
        except UsageError as error:  # the others can be used nonetheless
            problems.append(error)
            continue
        found.append({"task": path.stem, "description": spec.description, "file": str(path)})
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        table = Table("task", "description", "file", box=None, header_style="bold")
        for row in found:
            table.add_row(*row.values())
        plain_console().print(table)
    for problem in problems:
        say(f"grpo_env: {problem}", "red")
    if problems:
        raise typer.Exit(2)


@tasks_app.command("show")
def show(name: TaskName, overrides: TaskKeys = None, split: Split = "train", verifiers: VerifierFiles = None) -> None:
    """Print a task's first example (the prompt as the model sees it, the gold answer) and its verifiers."""
    from grpo_env.docgen.task_summary import describe

    print(escape_controls(describe(loaded_task(name, overrides), split)))


@tasks_app.command("new")
def new(
    file: Annotated[Path, typer.Argument(help="The .yaml file to write.")],
    environment: Annotated[
        bool, typer.Option("--environment", help="A task of several turns, and a .py file with its tools beside it.")
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="A table of questions and answers, to write the task for: file, folder of shards, hub id.",
        ),
    ] = None,
    question: Annotated[str | None, typer.Option(help="With --data: the column of the question.")] = None,
    answer: Annotated[str | None, typer.Option(help="With --data: the column of the gold answer.")] = None,
) -> None:
    """Write a commented task file to start from, or one for a table of questions and answers (--data)."""
    from grpo_env.taskfile.schema import NAME
    from grpo_env.taskfile.yaml_file import parse_yaml

    if file.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{file}: the name of a task file must end in .yaml")
    if not re.fullmatch(NAME, file.stem) or parse_yaml(file.stem, str(file)) != file.stem:
        allowed = "letters, digits and, after the first, '_', '-' and '.'; no number, and no word of YAML such as yes"
        raise UsageError(f"{file}: {file.stem!r} is no name of a task: {allowed}")
    if environment:
        _new_environment(file)
        return
    if data is not None:
        from grpo_env.taskfile.draft import draft_task

        check_free(file, overwrite=None)
        draft = draft_task(file, data, question, answer)
        for note in draft.notes:
            say(note)
        write_new(file, draft.text)
        say(f"Wrote {file}. Next: grpo_env check {file}")
        return
    template = files("grpo_env.tasks").joinpath("template.txt").read_text(encoding="utf-8")
    write_new(file, template.replace("TASK_NAME", file.stem))
    say(f"Wrote {file}. Next: grpo_env tasks show {file}")


def _new_environment(file: Path) -> None:
    if not file.stem.isidentifier():
        raise UsageError(f"{file}: with --environment, expected a Python name, such as my_shop.yaml")
    code = file.with_suffix(".py")
    check_free(file, overwrite=None)
    class_name = "".join(map(str.capitalize, file.stem.split("_")))
    for path, template in ((code, "class.txt"), (file, "task.txt")):
        text = files("grpo_env.environments").joinpath("templates", template).read_text(encoding="utf-8")
        write_new(path, text.replace("TASK_NAME", file.stem).replace("CLASS_NAME", class_name))
    say(f"Wrote {file} and {code}. Next: grpo_env tasks play {file}")


def check(
    task: TaskName,
    overrides: TaskKeys = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Measure prompts in this model's tokens, not characters.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Check only the first N rows of each split.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, with all findings.")] = False,
    verifiers: VerifierFiles = None,
) -> None:
    """Check a task without a model: cases, data, and that gold answers score 1 and perturbed ones 0."""
    from grpo_env.check import check as check_task

    result = check_task(loaded_task(task, overrides), model, limit)
    _print_result(result, as_json)
    if not result.ok:
        raise typer.Exit(1)


def audit(
    task: Annotated[str, typer.Argument(help="Name or file of a task; with --data a function, FILE.py:NAME.")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Task keys; with --data more functions, whose values are added up."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rows for functions; columns and format are inferred.")
    ] = None,
    split: Split = "train",
    limit: Annotated[int, typer.Option(min=1, help="Attack the first N examples.")] = 50,
    only: Annotated[
        list[str] | None, typer.Option(help="Try only this family of hacks, or this hack; can be repeated.")
    ] = None,
    fail_on: Annotated[
        Literal["exploit", "problem", "never"],
        typer.Option(help="When to exit with code 1; a problem is also what is unstable, slow or failed."),
    ] = "exploit",
    budget: Annotated[float, typer.Option(help="Seconds after which no other hack is tried.")] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print all results as JSON.")] = False,
    hacks: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="Python file with your own hacks.")] = None,
    verifiers: VerifierFiles = None,
) -> None:
    """Look for exploits in a task's reward, or in that of others: score hacks, texts that should not be rewarded.

    An environment is played by scripted agents first, through its real tools. The exit code is 1 if there are exploits.
    """
    from grpo_env.audit import AuditRequest, audit_foreign, load_hacks

    for file in hacks or []:
        load_hacks(file)
    request = AuditRequest(limit, only or [], budget)
    with status("reading data") as progress:
        if data is not None:
            functions = [task, *(overrides or [])]
            results = {"texts": audit_foreign(functions, data, request, progress=progress)}
        elif re.fullmatch(r".+\.py:[\w,]+", task):
            raise UsageError(f"{task}: a function needs rows to be audited on; add --data FILE")
        else:
            results = _audits(loaded_task(task, overrides), request, split, progress)
    if as_json and len(results) > 1:
        print(json.dumps({name: result.to_dict() for name, result in results.items()}, indent=2))
    else:
        for result in results.values():
            _print_result(result, as_json)
    found = [result.problems if fail_on == "problem" else result.exploits for result in results.values()]
    if fail_on != "never" and any(found):
        raise typer.Exit(1)


def _audits(task: Task, request: AuditRequest, split: Split, progress: Callable[[str], None]) -> dict[str, Audit]:
    """The audit of a task's texts, and of its episodes if it has an environment."""
    from grpo_env.audit import audit, audit_episodes
    from grpo_env.audit.episode_attack import FAMILIES, last_turn_only

    if task.spec.environment is None:
        return {"texts": audit(task, request, split=split, progress=progress)}
    results: dict[str, Audit] = {}
    only, texts = request.families, last_turn_only(task)
    of_episodes = replace(request, families=[family for family in only if texts is None or family in FAMILIES])
    of_texts = replace(request, families=[family for family in only if family not in FAMILIES])
    if of_episodes.families or not only:
        results["episodes"] = audit_episodes(task, of_episodes, split=split, progress=progress)
    if texts is not None and (of_texts.families or not only):
        results["texts"] = audit(texts, of_texts, split=split, progress=progress)
    return results


def export_env(name: str, to: str, out: Path) -> None:
    """Write a task as a folder for another trainer, with the results of ``check`` and ``audit``."""
    from grpo_env.audit import AuditRequest
    from grpo_env.check import check as check_task
    from grpo_env.integrations.package import export_package

    task = loaded_task(name, None)

    def results() -> dict[str, str]:
        checked = check_task(task)
        if not checked.ok:
            say("note: check finds errors; they are in the README", "yellow")
        with status("attacking the reward") as progress:  # as audit does by default
            audits = map(str, _audits(task, AuditRequest(), "train", progress).values())
        texts = {"check": str(checked), "audit": "\n\n".join(audits)}
        return {key: printable(text).replace(f"{task.folder.absolute()}/", "") for key, text in texts.items()}

    left_out = export_package(task, to, out, results)
    say(f"Wrote {out}; its README.md says how to use it")
    if left_out:
        say(f"note: {', '.join(left_out)}: too large, not copied; the README says so", "yellow")


def _print_result(result: CheckResult | Audit, as_json: bool) -> None:
    print(json.dumps(result.to_dict(), indent=2) if as_json else printable(str(result)))
