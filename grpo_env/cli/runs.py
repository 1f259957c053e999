"""``grpo_env watch`` and ``grpo_env plot``: runs seen from their folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import talk


def watch(run: Annotated[Path, typer.Argument(help="A run's folder.")]) -> None:
    """Show a running or finished run: a live table in a terminal, else lines. Ctrl-C ends it."""
    from grpo_env.trainer.run.watch import watch

    watch(run)


def plot(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture, a .png file.")] = Path("compare.png"),
) -> None:
    """Compare runs in one picture: accuracy and reward against steps and against seconds."""
    from grpo_env.trainer.run.plot import compare

    compare(runs, output, talk)
