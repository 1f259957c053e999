"""Where the bundled models are; importing this loads neither torch nor transformers."""

from __future__ import annotations

from pathlib import Path

_TRAINER = Path(__file__).parent.parent

BUNDLED = _TRAINER / "bundled"
MODELS = {
    "bundled": BUNDLED,
    "bundled-tools": _TRAINER / "bundled_tools",
    "bundled-search": _TRAINER / "bundled_search",
}
"""Folders by the names that settings have for them."""

TASKS = {"bundled": "arithmetic", "bundled-tools": "till", "bundled-search": "search"}
"""The task of each: a model knows nothing but such problems."""
