"""Imports the packages of extras, which the core installation does not have."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from grpo_env.errors import UsageError, install


def optional_package(module: str, extra: str, needed_by: str) -> Any:
    """The module. Raises ``UsageError`` that names the extra if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise UsageError(f"{needed_by} needs {package}: {install(extra)}") from error
