"""What mathematics can be: a number, several parts, a formula for algebra; or words, which are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..quantities.number import Number
from ..quantities.units import Unit


@dataclass(frozen=True)
class Group:
    r"""An answer of several parts.

    ``kind`` is a pair of brackets (``()``, ``[]``, ``(]``, ``[)``, ``<>``), ``set``, ``union``, ``matrix`` and its
    ``row``, ``ratio`` (all but the last part, each divided by the last) or ``chain`` (the sides of ``2+3=5``).
    """

    kind: str
    items: tuple[ParsedAnswer, ...]


@dataclass(frozen=True)
class Words:
    """Text that is not mathematics."""

    text: str


@dataclass(frozen=True)
class Formula:
    """A formula for computer algebra, in normal LaTeX."""

    text: str
    unit: Unit = ()


Content: TypeAlias = Number | Group | Words | Formula


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
