"""Where the tagged blocks of a completion are. Every verifier that looks at tags looks through here."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from grpo_env.core import Completion, Format

Where: TypeAlias = Literal["reasoning", "answer", "all"]

_LOOKS_LIKE_SPACE = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols that print nothing


class Tag(NamedTuple):
    """One tag in a text: characters ``[start, end)``."""

    name: str
    closing: bool
    start: int
    end: int

    def __str__(self) -> str:
        return f"</{self.name}>" if self.closing else f"<{self.name}>"


class Block(NamedTuple):
    """The inside of a tagged block: characters ``[start, end)``, and where its closing tag ends if there is one."""

    start: int
    end: int
    closed_at: int | None


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
    found = _tags_named(names).finditer(text) if names else ()
    return [Tag(match[2], bool(match[1]), match.start(), match.end()) for match in found]


@lru_cache
def _tags_named(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("<(/?)(" + "|".join(map(re.escape, names)) + ")>")


def reasoning_span(text: str, format: Format) -> tuple[int, int] | None:
    """Characters ``[start, end)`` inside the first reasoning block, to the end of the text if it is not closed."""
    block = first_block(text, format.reasoning) if format.reasoning else None
    return block and (block.start, block.end)


def first_block(text: str, name: str) -> Block | None:
    """The first block with this tag, to the end of the text if it is not closed; ``None`` if none is opened."""
    tags = find_tags(text, name)
    opening = next((tag for tag in tags if not tag.closing), None)
    if opening is None:
        return None
    closing = next((tag for tag in tags if tag.closing and tag.start >= opening.end), None)
    return Block(opening.end, closing.start, closing.end) if closing else Block(opening.end, len(text), None)


def passage(where: Where, format: Format, completion: Completion) -> str | None:
    """What the model wrote ``where``, or ``None`` if the format asks for that block and the text has none.

    A block is the first of its name, to the end of the text if it is not closed. Where the format names no tag for
    it, and for ``all``, this is the whole text without its tags. A prefill is left out: the model did not write it.
    """
    text, written = whole_turn(format, completion)
    name = {"reasoning": format.reasoning, "answer": format.answer, "all": None}[where]
    if name:
        block = first_block(text, name)
        return text[max(block.start, written) : block.end] if block else None
    pieces, end = [], written
    for tag in find_tags(text, *tag_names(format)):
        pieces.append(text[end : tag.start])
        end = max(end, tag.end)
    return " ".join([*pieces, text[end:]])


def is_blank(text: str) -> bool:
    """Whether nothing in a text can be seen: spaces, zero-width characters and their like."""
    return not any(one.isprintable() and not one.isspace() and one not in _LOOKS_LIKE_SPACE for one in text)
