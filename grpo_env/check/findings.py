"""A problem that a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """A problem: the ``check`` that found it, ``where`` (row or case), what is wrong, and how to fix it."""

    severity: Literal["error", "warning"]
    check: str
    where: str
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.check}: {self.where}: {self.what}; {self.fix}"


def error(check: str, where: str, what: str, fix: str) -> Finding:
    """A finding that fails the check."""
    return Finding("error", check, where, what, fix)


def warning(check: str, where: str, what: str, fix: str) -> Finding:
    """A finding that does not fail the check."""
    return Finding("warning", check, where, what, fix)


def short(text: str, length: int = 400) -> str:
    """A text without its middle or its end if it is longer than ``length``."""
    if len(text) <= length:
        return text
    return f"{text[: length - 120]} … {text[-100:]}" if length > 200 else f"{text[:length]}…"
