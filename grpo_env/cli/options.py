"""What the commands share: the console for messages, common arguments and options, and writing new files."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer
from rich.text import Text

from grpo_env.console import plain_console
from grpo_env.errors import UsageError, install, nearest
from grpo_env.rows.writer import new_file
from grpo_env.terminal import escape_controls

from .hub_offline import set_if_unreachable

if TYPE_CHECKING:
    from grpo_env.taskfile.task import Task

EXTRAS = {"serve": ("fastapi", "uvicorn"), "view": ("duckdb", "starlette", "uvicorn")}

console = plain_console(stderr=True)  # messages; stdout is for data


def say(text: str, style: str | None = None) -> None:
    """Print a message as it is, on one line however long; texts of models and files cannot steer the terminal."""
    console.print(escape_controls(text), style=style, soft_wrap=True)


@contextmanager
def status(start: str) -> Iterator[Callable[[str], None]]:
    """Shows on a terminal what the block is doing: ``start``, then what it calls the function with."""
    with console.status(start) as shown:
        yield lambda text: shown.update(Text(escape_controls(text)))


def _load_verifiers(paths: list[Path] | None) -> list[Path] | None:
    from grpo_env.registry import load_file

    for path in paths or []:
        load_file(path)
    return paths


TaskName = Annotated[str, typer.Argument(help="Name or file of a task.")]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Settings (steps=20) or task keys (dataset.path=train.jsonl)."),
]
TaskKeys = Annotated[
    list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Task keys, such as dataset.path=train.jsonl.")
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", help="Hub id or folder of a model. Default: the task's train.model, if it names one."
    ),
]
TrainedModel = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Hub id or folder of a model. Default: the task's, else the bundled one."),
]
Split = Annotated[Literal["train", "eval"], typer.Option(help="Split of the task's data.")]
AnySplit = Annotated[Literal["train", "eval", "all"], typer.Option(help="Split of the task's data.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output file if it exists.")]
VerifierFiles = Annotated[
    list[Path] | None,
    typer.Option("--verifiers", metavar="FILE", callback=_load_verifiers, help="Python file with your own verifiers."),
]


def task_keys(overrides: list[str] | None) -> dict[str, Any]:
    """The ``KEY=VALUE`` arguments of a command that has no training settings. Raises ``UsageError``."""
    from grpo_env.taskfile.schema import SECTIONS

    keys, settings = split_overrides(overrides)
    for key in settings:
        raise UsageError(f"{key}: not a key of a task; {nearest(key.split('.')[0], SECTIONS)}")
    return keys


def loaded_task(name: str, overrides: list[str] | None) -> Task:
    """The task of a command that has no training settings. Raises ``UsageError``."""
    from grpo_env.taskfile.task import load_task

    task = load_task(name, task_keys(overrides))
    if task.is_from_hub or any(cls.path_options for cls in task.verifier_classes):
        set_if_unreachable()
    return task


def repeated(overrides: list[str] | None, verifiers: list[Path] | None) -> str:
    """The task keys and files of verifiers of a command, as another one on the same task has to repeat them."""
    from grpo_env.taskfile.schema import SECTIONS

    words = [word for word in overrides or [] if word.partition("=")[0].split(".")[0] in {*SECTIONS} - {"train"}]
    words += [word for file in verifiers or [] for word in ("--verifiers", str(file))]
    return "".join(f" {shlex.quote(word)}" for word in words)


def split_overrides(overrides: list[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split ``KEY=VALUE`` arguments into task keys and training settings. Values are YAML or start with a template."""
    from grpo_env.taskfile.schema import SECTIONS
    from grpo_env.taskfile.yaml_file import parse_yaml

    keys: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for override in overrides or []:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise UsageError(f"{override!r}: expected KEY=VALUE, e.g. steps=20")
        # To YAML, {{ x }} is a mapping with a mapping as its key, which is an error.
        value = text if text.startswith(("{{", "{%")) else parse_yaml(text, key)
        (keys if key.split(".")[0] in SECTIONS and key != "train" else settings)[key] = value
    return keys, settings


def require_extra(extra: str) -> None:
    """Raises ``UsageError`` unless the packages of an extra, which is called as its command, are installed."""
    if any(find_spec(name) is None for name in EXTRAS[extra]):
        raise UsageError(f"grpo_env {extra} needs packages that are not installed: {install(extra)}")


def write_new(file: Path, text: str, *, overwrite: bool | None = None) -> None:
    """Write a new file. Raises as ``new_file`` does."""
    with new_file(file, overwrite=overwrite) as out:
        out.write(text.encode())


class _TerminatedError(BaseException):
    """SIGTERM arrived. No ``SystemExit``, which is a failure of the verifier that it passes through."""


@contextmanager
def ending_by_sigterm() -> Iterator[None]:
    """SIGTERM unwinds the stack as Ctrl-C does, so that work is saved; exit code 143, as for programs ended by it."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        say("ended by SIGTERM", "red")
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except _TerminatedError:
        sys.exit(128 + signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
