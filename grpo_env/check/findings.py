"""What a check says when something is not as it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: which ``check`` found it, ``where`` (row, case), what it is, what to do about it."""

    severity: Literal["error", "warning"]
    check: str
    where: str
    what: str
    todo: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.check}: {self.where}: {self.what}; {self.todo}"


def error(check: str, where: str, what: str, todo: str) -> Finding:
    """A finding that fails the check."""
    return Finding("error", check, where, what, todo)


def warning(check: str, where: str, what: str, todo: str) -> Finding:
    """A finding to look at."""
    return Finding("warning", check, where, what, todo)
