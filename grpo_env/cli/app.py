"""The ``grpo_env`` command. Data go to stdout, messages to stderr. Exit code 1 is a failure, 2 wrong usage."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from grpo_env import __version__
from grpo_env.errors import GrpoEnvError
from grpo_env.terminal import escape_controls

from .calibrate import calibrate
from .options import console
from .play import play
from .reward_model import reward_model_app
from .scores import compare, export, report, score
from .serve import serve
from .step_labels import label_steps
from .tasks import audit, check, tasks_app
from .training import evaluate, generate, list_settings, train
from .verifiers import verifiers_app
from .view import view

# Commands import everything heavier than typer themselves, so that --help is instant.

app = typer.Typer(
    name="grpo_env",
    help="Verifiers, tasks and a compact trainer for GRPO.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(tasks_app, name="tasks")
app.add_typer(verifiers_app, name="verifiers")
app.add_typer(reward_model_app, name="reward-model")
app.command()(generate)
app.command()(score)
app.command()(serve)
app.command()(report)
app.command()(compare)
app.command()(view)
app.command()(export)
app.command()(check)
app.command()(audit)
app.command()(play)
app.command()(calibrate)
app.command()(train)
app.command("eval")(evaluate)
app.command("label-steps")(label_steps)
app.command("settings")(list_settings)


def main() -> None:
    """Run the command. Errors of the package are printed on one line, without a traceback."""
    try:
        app()
    except GrpoEnvError as error:
        console.print(f"grpo_env: {escape_controls(str(error))}", style="red", markup=False, soft_wrap=True)
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
