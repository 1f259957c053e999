"""What an answer can be: a number, several things together, a time, words, or a formula for computer algebra."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .exact import Number
from .units import Unit


@dataclass(frozen=True)
class Group:
    r"""Several things together.

    ``kind`` is a pair of brackets (``()``, ``[]``, ``(]``, ``[)``, ``<>``), ``set``, ``union``, ``matrix`` and its
    ``row``, ``ratio`` (all but the last part, each divided by the last) or ``chain`` (the sides of ``2+3=5``).
    """

    kind: str
    items: tuple[Reading, ...]


@dataclass(frozen=True)
class Clock:
    """A time of day. ``sure`` if the half of the day is known; else ``3:30`` may also be a ratio."""

    seconds: int
    sure: bool
    ratio: Shape | None


@dataclass(frozen=True)
class Words:
    """Text that is no mathematics; ``choice`` and ``rest`` are the two parts of ``(C) 42``."""

    text: str
    choice: str = ""
    rest: str = ""


@dataclass(frozen=True)
class Formula:
    """Something for computer algebra, in normal LaTeX."""

    text: str
    unit: Unit = ()


Shape: TypeAlias = Number | Group | Clock | Words | Formula


@dataclass(frozen=True)
class Reading:
    """An answer as it was understood: its shape, and for ``x = ...`` the name and what stands right of it."""

    text: str
    shape: Shape
    variable: str | None = None
    right_side: str = ""

    def formulas(self) -> Iterator[Formula]:
        """All formulas in it, at any depth."""
        if isinstance(self.shape, Formula):
            yield self.shape
        elif isinstance(self.shape, Group):
            for item in self.shape.items:
                yield from item.formulas()
