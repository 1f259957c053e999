"""``grpo_env verifiers``: list verifiers, show one, start a new one, check your own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from grpo_env.console import plain_console
from grpo_env.errors import UsageError

from .options import VerifierFiles, say, write_new

verifiers_app = typer.Typer(
    help="List verifiers, show one, start a new one, or check your own.", invoke_without_command=True
)


@verifiers_app.callback()
def list_verifiers(context: typer.Context) -> None:
    """List the verifiers that tasks can use by name."""
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table

    from grpo_env.docgen.catalogue import summary
    from grpo_env.docgen.documented_fields import options
    from grpo_env.registry import find, names

    table = Table("verifier", "value", "options", box=None, header_style="bold")
    for name in names():
        cls = find(name)
        option_names = ", ".join(option.name for option in options(cls))
        table.add_row(name, summary(cls).replace("``", ""), option_names)
    plain_console().print(table)


@verifiers_app.command("show")
def show_verifier(
    name: Annotated[str, typer.Argument(help="Name of a verifier.")] = "",
    all: Annotated[bool, typer.Option("--all", help="Print the catalogue of all built-in verifiers.")] = False,
    verifiers: VerifierFiles = None,
) -> None:
    """Print a verifier's documentation, options and cases as Markdown."""
    from grpo_env.docgen.catalogue import catalogue, entry

    if all == bool(name):
        raise UsageError("expected the name of a verifier, or --all")
    print(catalogue() if all else entry(name), end="")


@verifiers_app.command("new")
def new_verifier(
    name: Annotated[str, typer.Argument(help="Name of the verifier in task files, such as no_shouting.")],
    steps: Annotated[bool, typer.Option("--steps", help="One that scores the steps of a completion.")] = False,
) -> None:
    """Write a Python file with a verifier to start from."""
    if not name.isidentifier() or not name.islower():
        raise UsageError(f"{name!r}: expected a Python name in lower case, such as no_shouting")
    from grpo_env.registry import names

    if name in names():
        raise UsageError(f"verifier {name!r} already exists; choose another name")
    file = Path(f"{name}.py")
    source = "template_steps.txt" if steps else "template.txt"
    template = files("grpo_env.verifiers").joinpath(source).read_text(encoding="utf-8")
    class_name = "".join(map(str.capitalize, name.split("_")))
    for placeholder, text in (("VERIFIER_NAME", name), ("CLASS_NAME", class_name), ("FILE_NAME", str(file))):
        template = template.replace(placeholder, text)
    write_new(file, template)
    say(f"Wrote {file}. Next: grpo_env verifiers check {file}")


@verifiers_app.command("check")
def check_verifiers(file: Annotated[Path, typer.Argument(help="Python file with your own verifiers.")]) -> None:
    """Run the cases of the verifiers in a file."""
    from grpo_env.docgen.cases import failed_cases
    from grpo_env.registry import find, load_file

    names = load_file(file)
    if not any(find(name).cases for name in names):
        raise UsageError(f"{file}: there are no cases; add them to the class, as grpo_env verifiers new NAME does")
    failures = [line for name in names for line in failed_cases(name)]
    for line in failures:
        say(line, "red")
    for name in names:
        say(f"{name}: {len(find(name).cases)} cases")
    say(f"{len(failures)} cases failed")
    if failures:
        raise typer.Exit(1)
