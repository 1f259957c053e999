"""Texts of models and files for a terminal."""

from __future__ import annotations

import re

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    """The text, with escapes for what would steer a terminal: escape sequences, directions of writing."""
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)
