"""The source ``last_line``: a short last line, or the only bold text or code in it."""

from __future__ import annotations

import re

from .extracted import MAX_LENGTH, ExtractedAnswer, extracted
from .statements import block_at_end

MAX_WORDS = 6

_MARKED = re.compile(r"(\*\*|`)([^*`\n]{1,80})\1")
_RULES = "`~*_=-# "  # a line of these is a fence or a rule


def last_line(text: str) -> ExtractedAnswer | None:
    """The last line if it is short, or its bold text or code if there is one in a longer line.

    Of a fence or a display block that ends the text it is the line inside.
    """
    text = text.rstrip()
    line = block_at_end(text)
    if line is None:
        line = text[-MAX_LENGTH - 9 :].rpartition("\n")[2].strip()
    marked = {match.strip(): mark for mark, match in _MARKED.findall(line)}
    if len(marked) == 1 and set(marked) != {line.strip("*`")}:
        mark = next(iter(marked.values()))
        return extracted(list(marked), "last_line", end=text.rfind(mark) + len(mark))
    if not line.strip(_RULES) or len(line) > MAX_LENGTH or len(line.split()) > MAX_WORDS:
        return None
    return extracted([line], "last_line")
