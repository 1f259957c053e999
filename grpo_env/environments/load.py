"""Loads the class that a task names as its environment, and finds its tools."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.registry import load_named

NOT_TOOLS = frozenset({"reset", "get_reward", "reply"})


def load_environment(use: str, folder: Path, where: str) -> type[Any]:
    """The class that ``FILE.py:Class``, relative to ``folder``, or ``module:Class`` names.

    Raises ``UsageError``, beginning with ``where``, for one that cannot be loaded, or cannot be an environment.
    """
    cls = load_named(use, folder, where, "Class")
    if not isinstance(cls, type):
        raise UsageError(f"{where} {use!r} is not a class")
    if not callable(getattr(cls, "reset", None)):
        raise UsageError(f"{where} {use!r} has no method reset(self, **row), which begins an episode")
    _check_no_arguments(cls, f"{where} {use!r}")
    if not tools_of(cls) and not callable(getattr(cls, "reply", None)):
        raise UsageError(f"{where} {use!r} has neither a tool (a public method) nor a method reply(self, text)")
    return cls


def tools_of(cls: type[Any]) -> dict[str, Callable[..., Any]]:
    """The public methods of a class, which are its tools, by name and in the order of their names."""
    methods = inspect.getmembers(cls, callable)
    return {name: method for name, method in methods if not name.startswith("_") and name not in NOT_TOOLS}


def _check_no_arguments(cls: type[Any], where: str) -> None:
    try:
        inspect.signature(cls).bind()
    except TypeError as error:
        raise UsageError(f"{where} must be made without arguments ({error}); take the row in reset(**row)") from error
