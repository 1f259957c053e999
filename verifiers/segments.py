"""Splits a text into steps: by line, paragraph, sentence, marker, or into blocks with a tag.

    line        at line breaks
    paragraph   at blank lines
    sentence    after ``.`` ``!`` ``?`` and white space, after ``。`` ``！`` ``？``, and at line breaks; not in
                ``3.14`` or ``5! = 120``, nor after abbreviations (``e.g.``, ``Dr.``) or the number of a list item
    marker      before a line that begins with ``Step 2:``, ``2.``, ``2)`` or ``第2步``; the text before the first
                marker is also a step
    <step>      the content of each ``<step>`` block, up to the next one or the end if it is not closed; any tag

A display (``\\[ ... \\]``, ``$$ ... $$`` or an environment such as ``align``, up to the end of the text if it is not
closed) is never cut by the first four, and belongs to the step that announces it, with a colon or a comma at its end,
or to the display before it. Of the 3,573 displays in 800 completions of a model on MATH, 83 % follow a colon and 12 %
another display.

Steps exclude surrounding white space, and are never blank. Takes linear time.
"""  # noqa: RUF002

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import TypeAlias

from grpo_env.errors import UsageError, nearest
from grpo_env.lazy_regex import lazy_compile

from .blocks import find_tags

Segmenter: TypeAlias = str  # one of SEGMENTERS, or a tag

_CUTS = {
    "line": lazy_compile(r"[\r\n]+"),
    "paragraph": lazy_compile(r"(?:\r\n?+|\n)(?:[^\S\r\n]*+(?:\r\n?+|\n))+"),
    "sentence": lazy_compile(r"[\r\n]+|[.!?][\"')\]}*_$”’»]{0,4}(?=\s)|[。！？｡](?![。！？｡])[」』”’）]{0,4}"),  # noqa: RUF001
    "marker": lazy_compile(
        r"(?<=[\r\n])(?=[ \t#>*_-]{0,9}"
        r"(?:(?:step|STEP|Step)\s{0,3}\d{1,3}(?:\s?[:.)*_–—-]|[ \t]{0,9}[\r\n])|\d{1,3}[.)]\s"  # noqa: RUF001
        r"|第\s?[\d一二三四五六七八九十]{1,3}\s?步|步骤\s?[\d一二三四五六七八九十]{1,3}))"
    ),
}
SEGMENTERS = tuple(_CUTS)
_ABBREVIATIONS = frozenset(
    "e.g i.e vs cf resp approx dr mr mrs ms prof st sr jr fig figs eq eqs ch pp al".split()  # noqa: SIM905
)
# A sentence may end after these, unless the text continues in lower case.
_MAYBE_ABBREVIATIONS = frozenset("etc a.m p.m am pm u.s u.k e.u min max sec hr hrs ft in oz lb lbs".split())  # noqa: SIM905
_ITEM_NUMBER = lazy_compile(r"[\r\n][ \t#>*_-]{0,9}(?:(?:step|case|part|item)\s{1,3})?\d{1,3}$", re.IGNORECASE)
_GOES_ON = lazy_compile(r"\s{1,9}[a-z=+*/^<>≤≥,;)\-]")
_NUMBER_NEXT = lazy_compile(r"\s{1,9}\d")
_LOOK_BACK = 24
_TAG = lazy_compile(r"<([^<>/\s][^<>\r\n]*)>")
_OPENING = lazy_compile(
    r"\\\[|\$\$|\\begin\{(?P<name>(?:align|aligned|alignat|equation|gather|gathered|multline|eqnarray|array|cases)\*?)\}"
)
_CLOSINGS = {"\\[": "\\]", "$$": "$$"}


def spans(text: str, start: int, end: int, by: Segmenter) -> Iterator[tuple[int, int]]:
    """The steps in ``text[start:end]``, in order, as characters ``[first, last)`` of ``text``."""
    if by not in SEGMENTERS:
        yield from _blocks(text, start, end, by[1:-1])
        return
    at = start
    for cut_start, cut_end in chain(_cuts(text, start, end, by), [(end, end)]):
        if step := _stripped(text, at, cut_start):
            yield step
        at = cut_end


def check_segments(by: Segmenter) -> None:
    """Raise ``UsageError`` for unknown segments."""
    if by not in SEGMENTERS and not _TAG.fullmatch(by):
        raise UsageError(f"segments: {by!r}; {nearest(by, SEGMENTERS)}, or a tag such as <step>")


def _stripped(text: str, first: int, last: int) -> tuple[int, int] | None:
    piece = text[first:last]
    stripped = piece.strip()
    first += len(piece) - len(piece.lstrip())
    return (first, first + len(stripped)) if stripped else None


def _blocks(text: str, start: int, end: int, name: str) -> Iterator[tuple[int, int]]:
    opened = None
    tags = [(tag.closing, start + tag.start, start + tag.end) for tag in find_tags(text[start:end], name)]
    for closing, first, last in [*tags, (True, end, end)]:
        if opened is not None and (step := _stripped(text, opened, first)):
            yield step
        opened = None if closing else last


def _cuts(text: str, start: int, end: int, by: Segmenter) -> Iterator[tuple[int, int]]:
    """The spans between the steps, possibly empty."""
    matches = _CUTS[by].finditer(text, start, end)
    cuts = [match for match in matches if by != "sentence" or _ends_sentence(text, start, match)]
    if not cuts:
        return
    uncut = _uncut(text, start, end)
    whole = next(uncut, None)
    for match in cuts:
        first, last = (match.end(), match.end()) if by == "sentence" else match.span()
        while whole is not None and whole[1] < last:
            whole = next(uncut, None)
        if whole is None or match.start() < whole[0]:
            yield first, last


def _uncut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Displays, from the end of the text that announces them."""
    before = -1  # the end of the display before
    for first, last in _displays(text, start, end):
        at = first
        while at > start and text[at - 1].isspace():
            at -= 1
        announced = at > start and text[max(start, at - 4) : at].rstrip("*_")[-1:] in (":", ",", "\uff1a", "\uff0c")
        yield at if announced or at == before else first, last
        before = last


def _displays(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while opening := _OPENING.search(text, start, end):
        closing = f"\\end{{{opening['name']}}}" if opening["name"] else _CLOSINGS[opening.group()]
        found = text.find(closing, opening.end(), end)
        start = end if found < 0 else found + len(closing)
        yield opening.start(), start


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    at = match.start()
    sign = text[at]
    if sign not in ".!?":
        return True
    if sign != "." or (at > start and text[at - 1] == "."):  # a factorial, a question in a sentence, an ellipsis
        return _GOES_ON.match(text, match.end()) is None
    window = text[max(start, at - _LOOK_BACK) : at]
    words = window.split()
    word = words[-1].lstrip("([{\"'*_$").lower() if words and not window[-1].isspace() else ""
    if word.isdecimal():
        return _ITEM_NUMBER.search(window if at - start > _LOOK_BACK else "\n" + window) is None
    if word in _ABBREVIATIONS or (word == "no" and _NUMBER_NEXT.match(text, match.end())):
        return False
    return word not in _MAYBE_ABBREVIATIONS or _GOES_ON.match(text, match.end()) is None
