"""What the commands share: the console, options that several of them take, and writing a new file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from grpo_env.errors import UsageError, nearest

talk = Console(stderr=True, highlight=False)

Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Settings, e.g. steps=20, or task keys, e.g. dataset.path=train.jsonl"),
]


def _load_verifiers(paths: list[Path] | None) -> list[Path] | None:
    from grpo_env.registry import load_file

    for path in paths or []:
        load_file(path)
    return paths


VerifierFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--verifiers", metavar="FILE", callback=_load_verifiers, help="A Python file with verifiers of your own."
    ),
]


def task_keys(overrides: list[str] | None) -> dict[str, Any]:
    """``key=value`` arguments of a command that has no settings of its own."""
    from grpo_env.taskfile.schema import SECTIONS

    keys, settings = split_overrides(overrides)
    for key in settings:
        raise UsageError(f"{key}: not a key of a task; {nearest(key.split('.')[0], SECTIONS)}")
    return keys


def split_overrides(overrides: list[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """``key=value`` arguments as task keys and training settings. Values are YAML, or begin with a template."""
    import yaml

    from grpo_env.taskfile.schema import SECTIONS

    keys: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for override in overrides or []:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise UsageError(f"{override!r}: expected KEY=VALUE, e.g. steps=20")
        try:
            # In YAML that is a mapping whose key is a mapping, which cannot be.
            value = text if text.startswith(("{{", "{%")) else yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise UsageError(f"{override!r}: the value is not valid YAML") from error
        (keys if key.split(".")[0] in SECTIONS and key != "train" else settings)[key] = value
    return keys, settings


def write_new(file: Path, text: str) -> None:
    """Write a file that is not there yet. Raises ``UsageError``."""
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as error:
        raise UsageError(f"{file}: exists already; it was left as it is") from error
    except OSError as error:
        raise UsageError(f"{file}: cannot be written ({error.strerror})") from error
