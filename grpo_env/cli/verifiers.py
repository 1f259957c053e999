"""``grpo_env verifiers``: list verifiers, show one, start a new one, check your own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grpo_env.errors import UsageError

from .options import VerifierFiles, talk, write_new

verifiers_app = typer.Typer(
    help="List verifiers, show one, start a new one, check your own.", invoke_without_command=True
)


@verifiers_app.callback()
def list_verifiers(context: typer.Context) -> None:
    """List the verifiers that a task can use by name."""
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table
    from rich.text import Text

    from grpo_env.docgen.catalogue import summary
    from grpo_env.docgen.options import options
    from grpo_env.registry import find, names

    table = Table("verifier", "value", "options", box=None, header_style="bold")
    for name in names():
        cls = find(name)
        table.add_row(
            name, Text(summary(cls).replace("``", "")), Text(", ".join(option.name for option in options(cls)))
        )
    Console().print(table)


@verifiers_app.command("show")
def show_verifier(
    name: Annotated[str, typer.Argument(help="A verifier's name.")] = "",
    all: Annotated[bool, typer.Option("--all", help="The catalogue of all built-in verifiers.")] = False,
    verifiers: VerifierFiles = None,
) -> None:
    """Print what a verifier says, its options and its cases, as Markdown."""
    from grpo_env.docgen.catalogue import catalogue, entry

    if all == bool(name):
        raise UsageError("give the name of one verifier, or --all")
    print(catalogue() if all else entry(name), end="")


@verifiers_app.command("new")
def new_verifier(name: Annotated[str, typer.Argument(help="The name for tasks, such as no_shouting.")]) -> None:
    """Write a Python file with a verifier to start from."""
    if not name.isidentifier() or not name.islower():
        raise UsageError(f"{name!r}: a verifier's name is a Python name in lower case, such as no_shouting")
    from grpo_env.registry import names

    if name in names():
        raise UsageError(f"there is a verifier {name!r} already; choose another name")
    file = Path(f"{name}.py")
    template = files("grpo_env.verifiers").joinpath("template.txt").read_text(encoding="utf-8")
    class_name = "".join(map(str.capitalize, name.split("_")))
    for placeholder, text in (("VERIFIER_NAME", name), ("CLASS_NAME", class_name), ("FILE_NAME", str(file))):
        template = template.replace(placeholder, text)
    write_new(file, template)
    talk.print(f"Wrote {file}. Next: grpo_env verifiers check {file}")


@verifiers_app.command("check")
def check_verifiers(file: Annotated[Path, typer.Argument(help="A Python file with verifiers of your own.")]) -> None:
    """Run the cases of the verifiers in a file."""
    from grpo_env.docgen.cases import failed_cases
    from grpo_env.registry import find, load_file

    names = load_file(file)
    failed = [line for name in names for line in failed_cases(name)]
    for line in failed:
        talk.print(line, style="red", markup=False, soft_wrap=True)
    for name in names:
        talk.print(f"{name}: {len(find(name).cases)} cases")
    talk.print(f"{len(failed)} cases wrong")
    if failed:
        raise typer.Exit(1)
