"""``grpo_env serve``: starts the scoring server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from grpo_env.errors import UsageError

from .options import VerifierFiles, require_extra

TOKEN = "GRPO_ENV_TOKEN"


def serve(
    tasks: Annotated[list[str], typer.Argument(metavar="TASK...", help="Names or files of tasks.")],
    host: Annotated[str, typer.Option(help="Address to listen on. A public one requires a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=0, help="Number of scoring processes; 0 for one per core.")] = 0,
    deadline: Annotated[
        float, typer.Option(min=0.1, max=86_400, metavar="SECONDS", help="Time limit for a request.")
    ] = 60.0,
    token_file: Annotated[
        Path | None, typer.Option(help=f"File with the token that clients must send. Default: ${TOKEN}.")
    ] = None,
    verifiers: VerifierFiles = None,
) -> None:
    """Score completions over HTTP. On SIGTERM it finishes the requests in progress and exits."""
    require_extra("serve")
    from grpo_env.serving.server import serve
    from grpo_env.taskfile.task import load_task

    served = [load_task(task) for task in tasks]
    serve(served, host, port, workers=workers, deadline=deadline, token=read_token(token_file))


def read_token(file: Path | None) -> str | None:
    """The token in a file, or in the environment. Raises ``UsageError``."""
    if file is None:
        where, token = TOKEN, os.environ.get(TOKEN)
    else:
        try:
            where, token = str(file), file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: cannot be read ({error})") from error
    if token is not None and not (token.isascii() and token.isprintable() and token and " " not in token):
        raise UsageError(f"{where}: a token must be ASCII letters, digits and punctuation, without spaces")
    return token
