"""Where the tagged blocks of a completion are. Every verifier that looks at tags looks through here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grpo_env.core import Completion, Format


@dataclass(frozen=True)
class Tag:
    """One tag in a text: characters ``[start, end)``."""

    name: str
    closing: bool
    start: int
    end: int

    def __str__(self) -> str:
        return f"</{self.name}>" if self.closing else f"<{self.name}>"


def whole_turn(format: Format, completion: Completion) -> tuple[str, int]:
    """The model's whole turn, prefill included, and the length of the prefill in front of ``completion.text``.

    A completion that knows its own prefill is believed. Else the format's prefill counts as written, unless the
    text starts with it already, as in files that keep the whole turn.
    """
    prefill = completion.prefill
    if not prefill and format.prefill and not completion.text.startswith(format.prefill.rstrip()):
        prefill = format.prefill
    return prefill + completion.text, len(prefill)


def tag_names(format: Format) -> tuple[str, ...]:
    """The names of the blocks that the format asks for, in order."""
    return tuple(name for name in (format.reasoning, format.answer) if name)


def find_tags(text: str, *names: str) -> list[Tag]:
    """All tags with these names, in order of appearance. Only ``<name>`` and ``</name>`` exactly are tags."""
    if not names:
        return []
    pattern = "<(/?)(" + "|".join(re.escape(name) for name in names) + ")>"
    return [Tag(match[2], bool(match[1]), match.start(), match.end()) for match in re.finditer(pattern, text)]


def reasoning_span(text: str, format: Format) -> tuple[int, int] | None:
    """Characters ``[start, end)`` inside the first reasoning block, to the end of the text if it is not closed."""
    tags = find_tags(text, format.reasoning) if format.reasoning else []
    start = next((tag.end for tag in tags if not tag.closing), None)
    if start is None:
        return None
    end = next((tag.start for tag in tags if tag.closing and tag.start >= start), len(text))
    return start, end
