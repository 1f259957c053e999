"""Users' own hacks: the decorator that adds a function to the table, and loading a file of them."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

from grpo_env.errors import UsageError

from .hack import Build, Hack, Knows, Rule
from .hacks import HACKS


def hack(
    family: str, *, knows: Knows = "gold", rule: Rule = "undeserved", max_examples: int | None = None
) -> Callable[[Build], Build]:
    """Decorator: add a function to the hacks, named after it. Raises ``UsageError`` if the name is taken."""

    def register(build: Build) -> Build:
        name = getattr(build, "__name__", "")
        if name in HACKS:
            raise UsageError(f"hack {name!r} already exists; rename the function")
        HACKS[name] = Hack(name, family, knows=knows, rule=rule, max_examples=max_examples, build=build)
        return build

    return register


def load_hacks(file: Path) -> list[str]:
    """Run a Python file and return the names of the hacks that it adds. Raises ``UsageError``."""
    if not file.is_file():
        raise UsageError(f"{file}: no such file; expected a Python file with hacks")
    before = set(HACKS)
    try:
        runpy.run_path(str(file))
    except Exception as error:
        raise UsageError(f"{file}: cannot be loaded: {type(error).__name__}: {error}") from error
    names = sorted(set(HACKS) - before)
    if not names:
        raise UsageError(f'{file}: defines no hacks; decorate a function with @hack("FAMILY")')
    return names
