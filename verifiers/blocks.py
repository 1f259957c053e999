"""Finds the tagged blocks of a completion, for every verifier that needs them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from grpo_env.core import Completion, Format
from grpo_env.lazy_regex import lazy_compile

Where: TypeAlias = Literal["reasoning", "answer", "all"]

# What tokenizers call the end of a turn or of the text, padding and the like: <|im_end|>, </s>, <eos>, [EOS].
_SPECIAL_TOKEN = lazy_compile(
    r"(?:<\|[A-Za-z][\w./-]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>|<(?P<tag>/?s|eos|bos|pad|unk|eot|eod|sep|cls|mask)>"  # noqa: RUF001
    r"|</?(?:end|start)_?of_?(?:turn|text|sentence|utterance|message)>|<endoftext>"
    r"|\[(?:EOS|BOS|PAD|SEP|CLS|UNK|end of text|/?INST)\])\Z"
)
_LONGEST_TOKEN = 48
_LOOKS_LIKE_SPACE = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols without a visible glyph


class Tag(NamedTuple):
    """A tag at characters ``[start, end)`` of a text."""

    name: str
    closing: bool
    start: int
    end: int

    def __str__(self) -> str:
        return f"</{self.name}>" if self.closing else f"<{self.name}>"


class Block(NamedTuple):
    """The content of a tagged block, characters ``[start, end)``, and the end of its closing tag if there is one."""

    start: int
    end: int
    closed_at: int | None


def whole_turn(format: Format, completion: Completion) -> tuple[str, int]:
    """The model's whole turn, including the prefill, and the length of the prefill before ``completion.text``.

    A completion's own prefill takes precedence. Otherwise the format's prefill is prepended, unless the text already
    starts with it, as in files that contain the whole turn. Special tokens at the end of the text are left out.
    """
    prefill, text = completion.prefill, completion.text
    if not prefill and format.prefill and not text.startswith(format.prefill.rstrip()):
        prefill = format.prefill
    return prefill + without_special_tokens(text, format), len(prefill)


def without_special_tokens(text: str, format: Format) -> str:
    """The text without the special tokens at its end, which say that it ends and are no part of what it says.

    Files of completions often keep them. They are recognized by their form, so that no tokenizer is needed.
    """
    end = len(text)
    while True:
        stop = end
        while stop and text[stop - 1].isspace():
            stop -= 1
        if not stop or text[stop - 1] not in ">]":
            break
        token = _SPECIAL_TOKEN.search(text, max(0, stop - _LONGEST_TOKEN), stop)
        if token is None or (token["tag"] or "").strip("/") in tag_names(format):
            break
        end = token.start()
    return text if end == len(text) else text[:end]


def tag_names(format: Format) -> tuple[str, ...]:
    """The names of the blocks that the format asks for, in order."""
    return tuple(name for name in (format.reasoning, format.answer) if name)


def find_tags(text: str, *names: str) -> list[Tag]:
    """All tags with these names, in order. Tags are exactly ``<name>`` and ``</name>``."""
    matches = _tag_pattern(names).finditer(text) if names else ()
    return [Tag(match[2], bool(match[1]), match.start(), match.end()) for match in matches]


@lru_cache
def _tag_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("<(/?)(" + "|".join(map(re.escape, names)) + ")>")


def reasoning_span(text: str, format: Format) -> tuple[int, int] | None:
    """Characters ``[start, end)`` in the first reasoning block, up to the end of the text if it is not closed."""
    block = first_block(text, format.reasoning) if format.reasoning else None
    return block and (block.start, block.end)


def first_block(text: str, name: str) -> Block | None:
    """The first block with this tag, up to the end of the text if it is not closed; ``None`` if there is none."""
    tags = find_tags(text, name)
    opening = next((tag for tag in tags if not tag.closing), None)
    if opening is None:
        return None
    closing = next((tag for tag in tags if tag.closing and tag.start >= opening.end), None)
    return Block(opening.end, closing.start, closing.end) if closing else Block(opening.end, len(text), None)


def after_block(text: str, name: str | None) -> str | None:
    """What follows the last block with this tag: all of the text without one, ``None`` if it is not closed."""
    tags = find_tags(text, name) if name and "<" in text else []
    if tags and not tags[-1].closing:
        return None
    return text[tags[-1].end :] if tags else text


def passage(where: Where, format: Format, completion: Completion) -> str | None:
    """The text of a block, or ``None`` if the format has that block and the completion does not.

    This is the first block of its name, up to the end of the text if it is not closed. If the format has no tag for
    it, and for ``all``, it is the whole text without tags. It excludes the prefill, which the model did not write.
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
    """Whether a text has no visible characters, only spaces, zero-width characters and the like."""
    return not any(char.isprintable() and not char.isspace() and char not in _LOOKS_LIKE_SPACE for char in text)
