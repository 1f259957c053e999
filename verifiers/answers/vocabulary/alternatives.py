"""Tables of words as alternatives for patterns."""

from __future__ import annotations


def alternatives(table: str) -> str:
    """The words of a table, which white space separates, for a pattern. ``_`` stands for a space."""
    return "|".join(table.split()).replace("_", " ")
