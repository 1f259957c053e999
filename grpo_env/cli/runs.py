"""``grpo_env watch`` and ``grpo_env plot``: commands on the folders of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import console


def watch(run: Annotated[Path, typer.Argument(help="Folder of a run.")]) -> None:
    """Show a running or finished run: a live table in a terminal, lines otherwise. Press Ctrl-C to stop."""
    from grpo_env.trainer.run.watch import watch

    watch(run)


def plot(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .png file to write.")] = Path("compare.png"),
) -> None:
    """Plot accuracy and reward of runs against steps and seconds in one picture."""
    from grpo_env.trainer.run.plot import plot_runs

    plot_runs(runs, output, console)
