r"""The source ``boxed``: ``\boxed{18}``, ``\boxed 18``, ``\fbox{18}``."""

from __future__ import annotations

import re
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from .result import MAX_ANSWERS, ExtractedAnswer, extracted, is_denied, unit_behind

NOT_CLOSED = "the box is not closed"
EMPTY = "the box is empty"

_SYMBOL = r"\\(?:pi|infty|emptyset|varnothing|theta|alpha|beta)(?![A-Za-z])"
_BOX = lazy_compile(
    r"\\{1,2}(?:boxed|fbox)\s{0,9}(?:\{(?!\\\})|(?P<bare>[-+]?[\d.][^\s${}\\]{0,40}|" + _SYMBOL + r"))|\\[\\{}]|[{}]"
)
# Blank boxes, and those that repeat an instruction: \boxed{\text{ }}, \boxed{answer}, \boxed{...}
_BLANK = lazy_compile(
    r"(?:\\(?:phantom|hspace)\{[^{}]*\}|\\text\{\s*\}|\\q?quad|\\[,;: )\]]|\\l?dots|\\square|[\s?_~$.…])*"
    r"|(?:\\text\{\s*)?(?:the |your |final )*(?:answer|result|number)s?(?: here)?\s*\}?",
    re.IGNORECASE,
)
# What only begins a solution: \text{Let the letter values be }S,E,T. (outputs on Omni-MATH)
_BEGINNING = lazy_compile(
    r"(?=.{25})(?!.*\b(?:no|not|none|cannot)\b)(?:\\text(?:bf)?\{)?\s*"
    r"(?:let|we|wlog|since|suppose|consider|there (?:is|are)|substitut\w*|first|note)\b.*",
    re.DOTALL | re.IGNORECASE,
)


def boxed(text: str) -> ExtractedAnswer | None:
    """The contents of the outermost boxes that are not blank."""
    if "\\" not in text:  # one sign is found faster
        return None
    start, other = text.find("\\boxed"), text.find("\\fbox")
    if start < 0 or 0 <= other < start:
        start = other
    if start < 0:
        return None
    while start and text[start - 1] == "\\":  # one before it may escape the backslash of the box
        start -= 1
    boxes, is_closed = _boxes(text, start)
    if not is_closed:
        return ExtractedAnswer((), "boxed", NOT_CLOSED)
    filled = [box for box in boxes if box.content[:1].isdecimal() or not _BLANK.fullmatch(box.content)]
    if len(filled) > 1:  # \\boxed{\\text{Let n be the number.}} ... \\boxed{10}
        filled = [box for box in filled[:-1] if not _BEGINNING.fullmatch(box.content)] + filled[-1:]
    denied = any(is_denied(text, box.start) for box in filled[:MAX_ANSWERS])
    end = filled[-1].end if filled else 0
    unit = unit_behind(text, end) if len(filled) == 1 else ""
    return extracted([box.content for box in filled], "boxed", EMPTY, denied, end, unit)


class _Box(NamedTuple):
    start: int
    end: int
    content: str


def _boxes(text: str, start: int) -> tuple[list[_Box], bool]:
    """The outermost boxes from ``start`` on, and whether all are closed."""
    open_braces: list[tuple[int, int] | None] = []  # where the box and its content start, for those of a box
    boxes: list[_Box] = []
    depth = 0
    for match in _BOX.finditer(text, start):
        token = match.group()
        if token == "{":
            open_braces.append(None)
        elif token == "}" and open_braces:
            if (box := open_braces.pop()) is not None:
                depth -= 1
                if depth == 0:
                    boxes.append(_Box(box[0], match.end(), text[box[1] : match.start()]))
        elif match["bare"] and depth == 0:
            boxes.append(_Box(match.start(), match.end(), match["bare"]))
        elif token[-1] == "{" and len(token) > 2:
            open_braces.append(match.span())
            depth += 1
    return boxes, depth == 0
