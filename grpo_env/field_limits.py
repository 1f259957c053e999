"""The bounds of a pydantic field in words, for messages and for the reference pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from typing import Any

WORDS = {
    "gt": "above {}",
    "ge": "of at least {}",
    "lt": "below {}",
    "le": "of at most {}",
    "multiple_of": "divisible by {}",
    "min_length": "of length {} or more",
    "max_length": "of length {} or less",
}


def bounds(metadata: Iterable[Any]) -> str:
    """The bounds among a field's metadata: `` of at least 0 and below 1``; empty without bounds."""
    limits = [
        limit
        for each in metadata
        if is_dataclass(each) and not isinstance(each, type)
        for limit in asdict(each).items()
    ]
    phrases = [WORDS[key].format(_number(value)) for key, value in limits if key in WORDS]
    if len(phrases) > 1:  # of at least 0 and at most 1
        phrases[1:] = [phrase.removeprefix("of ") for phrase in phrases[1:]]
    return f" {' and '.join(phrases)}" if phrases else ""


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
