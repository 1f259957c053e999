"""Decodes a JSON list element by element, so that the list need not fit into memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

BLOCK = 1 << 20  # characters

_START = re.compile(r"\s*\[\s*")
_EMPTY = re.compile(r"\s*\[\s*\]\s*")
_COMMA = re.compile(r"\s*,\s*")
_END = re.compile(r"\s*\]\s*")


def json_list_elements(text: TextIO, longest: int) -> Iterator[Any]:
    """The elements of a JSON list, each as soon as all of it was read.

    Raises ``ValueError`` for what is not valid JSON, or an element of more than about ``longest`` characters, and
    ``RecursionError`` for one that is nested too deeply.
    """
    decode = json.JSONDecoder().raw_decode
    buffer, position, at_end_of_file = "", 0, False
    read_size = BLOCK
    before, end = _START, _EMPTY
    while True:
        try:
            if match := end.match(buffer, position):
                _require_end(text, buffer[match.end() :])
                return
            start = before.match(buffer, position)
            if start is None:
                raise ValueError("no ',' or ']' after an element")
            element, stop = decode(buffer, start.end())
            if stop == len(buffer) and not at_end_of_file:
                raise ValueError("an element that may continue")
        except ValueError:
            # Most often the element is incomplete. Doubling keeps the time for a long element linear.
            if at_end_of_file or len(buffer) - position > longest:
                raise
            more = text.read(read_size)
            buffer, position, read_size, at_end_of_file = buffer[position:] + more, 0, 2 * read_size, not more
            continue
        yield element
        position, read_size = stop, BLOCK
        before, end = _COMMA, _END


def _require_end(text: TextIO, rest: str) -> None:
    if rest or any(block.strip() for block in iter(lambda: text.read(BLOCK), "")):
        raise ValueError("text after the end of the list")
