"""The console that texts of users, models and files are printed on."""

from __future__ import annotations

from typing import Any

from rich.console import Console


def plain_console(**options: Any) -> Console:
    """A console that prints texts as they are, also in tables: no markup, no emoji codes, no highlighting."""
    return Console(markup=False, emoji=False, highlight=False, **options)
