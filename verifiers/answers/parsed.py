"""What a parsed answer can be: a number, several parts, a date or time, words, a code, or a formula for algebra."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .quantities.number import Number
from .quantities.units import Unit
from .times.clock import TimeOfDay
from .times.dates import Date


@dataclass(frozen=True)
class Group:
    r"""An answer of several parts.

    ``kind`` is a pair of brackets (``()``, ``[]``, ``(]``, ``[)``, ``<>``), ``set``, ``union``, ``matrix`` and its
    ``row``, ``ratio`` (all but the last part, each divided by the last), ``chain`` (the sides of ``2+3=5``) or
    ``residue`` (of a congruence, and its modulus).
    """

    kind: str
    items: tuple[ParsedAnswer, ...]


@dataclass(frozen=True)
class Clock:
    """A time of day; without am or pm, ``3:30`` may also be a ratio."""

    time: TimeOfDay
    ratio: Content | None = None


@dataclass(frozen=True)
class Words:
    """Text that is not mathematics; ``choice`` and ``rest`` are the two parts of ``(C) 42``."""

    text: str
    choice: str = ""
    rest: str = ""


@dataclass(frozen=True)
class Formula:
    """A formula for computer algebra, in normal LaTeX."""

    text: str
    unit: Unit = ()


@dataclass(frozen=True)
class Code:
    """Text that is compared as it is written, in the spelling of ``codes.plain``."""

    text: str


@dataclass(frozen=True)
class JsonText:
    """A JSON text, compared by value."""

    text: str


Content: TypeAlias = Number | Group | Clock | Words | Formula | Code | JsonText | Date


@dataclass(frozen=True)
class ParsedAnswer:
    """An answer as it was understood: its content, and for ``x = ...`` also the name and the right-hand side."""

    text: str
    content: Content
    variable: str | None = None
    right_side: str = ""

    def formulas(self) -> Iterator[Formula]:
        """All formulas in it, at any depth."""
        if isinstance(self.content, Formula):
            yield self.content
        elif isinstance(self.content, Group):
            for item in self.content.items:
                yield from item.formulas()
