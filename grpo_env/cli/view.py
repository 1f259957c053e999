"""``grpo_env view``: reads completions of score files and runs in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .options import require_extra
from .serve import read_token

OPEN = "open"


class OpenByDefault(TyperGroup):
    """A group whose arguments are those of ``open`` if they do not begin with another of its commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = args[:1] == ["--help"] or (args and args[0] in self.commands)
        return super().parse_args(ctx, args if known or not args else [OPEN, *args])


view_app = typer.Typer(
    cls=OpenByDefault,
    help="Read completions in a browser (`view FILE`), in the terminal or as a report; measure its errors.",
    no_args_is_help=True,
)


@view_app.command()
def show(
    scores: Annotated[Path, typer.Argument(help="File written by grpo_env score.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Number of completions to print.")] = 5,
    reason: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Print completions whose reason contains this, right or wrong.")
    ] = None,
    disagrees: Annotated[
        bool, typer.Option("--disagrees", help="Print completions whose verdict is not their label (score --label).")
    ] = False,
) -> None:
    """Print completions that are not right in the terminal, by their reasons, the most frequent first."""
    from grpo_env.results.excerpts import excerpts
    from grpo_env.results.rows import read_scores

    for line in excerpts(read_scores(scores), limit, reason, disagrees=disagrees):
        print(line)


@view_app.command(OPEN)
def view(
    path: Annotated[Path, typer.Argument(metavar="FILE|RUN", help="File of grpo_env score, or folder of a run.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 8001,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token of the address. Default: a new token.")
    ] = None,
) -> None:
    """Read completions in a browser: search, filter and sort them. Pages are for this machine only."""
    require_extra("view")
    from grpo_env.view.server import view

    view(path, port, read_token(token_file) if token_file else None)
