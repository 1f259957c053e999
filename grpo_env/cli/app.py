"""The ``grpo_env`` command. Data go to stdout, messages to stderr. Exit code 1 is a failure, 2 wrong usage."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from grpo_env import __version__
from grpo_env.errors import GrpoEnvError

from .calibrate import calibrate
from .options import say
from .play import play
from .reward_model import reward_model_app
from .scores import compare, export, report, score
from .serve import serve
from .tasks import audit, check, tasks_app
from .training import evaluate, generate, train
from .verifiers import verifiers_app
from .view import view_app

# Commands import everything heavier than typer themselves, so that --help is instant.

TASKS, COMPLETIONS, TRAINING, SERVE = "Tasks", "Completions", "Training", "Serve"
FIRST = ("tasks", "verifiers")


class Commands(TyperGroup):
    """Lists ``FIRST`` before the commands, as a user meets them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: name not in FIRST)


app = typer.Typer(
    name="grpo_env",
    cls=Commands,
    help="Verifiers, tasks and a compact trainer for GRPO.",
    epilog="`check` and `audit` are short for `tasks check` and `tasks audit`. `reward-model` trains reward models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(tasks_app, name="tasks", rich_help_panel=TASKS)
app.add_typer(verifiers_app, name="verifiers", rich_help_panel=TASKS)
app.command(hidden=True)(check)
app.command(hidden=True)(audit)
app.command(rich_help_panel=COMPLETIONS)(generate)
app.command(rich_help_panel=COMPLETIONS)(score)
app.add_typer(view_app, name="view", rich_help_panel=COMPLETIONS)
app.command(rich_help_panel=COMPLETIONS)(compare)
app.command(rich_help_panel=COMPLETIONS)(export)
app.command(rich_help_panel=TRAINING)(train)
app.command("eval", rich_help_panel=TRAINING)(evaluate)
app.add_typer(reward_model_app, name="reward-model", hidden=True)
app.command(rich_help_panel=SERVE)(serve)
tasks_app.command()(check)
tasks_app.command()(audit)
tasks_app.command()(play)
view_app.command()(report)
view_app.command()(calibrate)


def main() -> None:
    """Run the command. Errors of the package are printed on one line, without a traceback."""
    try:
        app()
    except GrpoEnvError as error:
        say(f"grpo_env: {error}", "red")
        sys.exit(error.exit_code)


def _show_version(show: bool) -> None:
    if show:
        print(f"grpo_env {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
