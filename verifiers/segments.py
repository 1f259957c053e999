"""Splits a text into steps: by line, paragraph, sentence, marker, or a given separator.

    line        at line breaks
    paragraph   at blank lines
    sentence    after ``.`` ``!`` ``?`` and white space, after ``。`` ``！`` ``？``, and at line breaks; not in
                ``3.14`` or ``5! = 120``, nor after abbreviations (``e.g.``, ``Dr.``) or the number of a list item
    marker      before a line that begins with ``Step 2:``, ``2.``, ``2)`` or ``第2步``; the text before the first
                marker is also a step
    separator   at each occurrence of a given string, such as a special token

Steps exclude surrounding white space, and are never blank. Takes linear time.
"""  # noqa: RUF002

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Literal, TypeAlias

from grpo_env.errors import UsageError
from grpo_env.lazy_regex import lazy_compile

Segmenter: TypeAlias = Literal["line", "paragraph", "sentence", "marker", "separator"]

_CUTS = {
    "line": lazy_compile(r"[\r\n]+"),
    "paragraph": lazy_compile(r"(?:\r\n?+|\n)(?:[^\S\r\n]*+(?:\r\n?+|\n))+"),
    "marker": lazy_compile(
        r"(?<=[\r\n])(?=[ \t#>*_-]{0,9}"
        r"(?:(?:step|STEP|Step)\s{0,3}\d{1,3}(?:\s?[:.)*_–—-]|[ \t]{0,9}[\r\n])|\d{1,3}[.)]\s"  # noqa: RUF001
        r"|第\s?[\d一二三四五六七八九十]{1,3}\s?步|步骤\s?[\d一二三四五六七八九十]{1,3}))"
    ),
}
_SENTENCE_END = lazy_compile(r"[\r\n]+|[.!?][\"')\]}*_$”’»]{0,4}(?=\s)|[。！？｡](?![。！？｡])[」』”’）]{0,4}")  # noqa: RUF001
_ABBREVIATIONS = frozenset(
    "e.g i.e vs cf resp approx dr mr mrs ms prof st sr jr fig figs eq eqs ch pp al".split()  # noqa: SIM905
)
# A sentence may end after these, unless the text continues in lower case.
_MAYBE_ABBREVIATIONS = frozenset("etc a.m p.m am pm u.s u.k e.u min max sec hr hrs ft in oz lb lbs".split())  # noqa: SIM905
_ITEM_NUMBER = lazy_compile(r"[\r\n][ \t#>*_-]{0,9}(?:(?:step|case|part|item)\s{1,3})?\d{1,3}$", re.IGNORECASE)
_GOES_ON = lazy_compile(r"\s{1,9}[a-z=+*/^<>≤≥,;)\-]")
_NUMBER_NEXT = lazy_compile(r"\s{1,9}\d")
_LOOK_BACK = 24


def spans(text: str, start: int, end: int, by: Segmenter, separator: str = "") -> Iterator[tuple[int, int]]:
    """The steps in ``text[start:end]``, in order, as characters ``[first, last)`` of ``text``."""
    at = start
    for cut_start, cut_end in chain(_cuts(text, start, end, by, separator), [(end, end)]):
        piece = text[at:cut_start]
        if stripped := piece.strip():
            first = at + len(piece) - len(piece.lstrip())
            yield first, first + len(stripped)
        at = cut_end


def check_segments(by: Segmenter, separator: str) -> None:
    """Raise ``UsageError`` unless a separator is given exactly if the text is split by one."""
    if by == "separator" and not separator:
        raise UsageError("segments: separator requires a string in 'separator'")
    if by != "separator" and separator:
        raise UsageError(f"separator {separator!r} is not used with segments: {by}; set segments: separator")


def _cuts(text: str, start: int, end: int, by: Segmenter, separator: str) -> Iterator[tuple[int, int]]:
    """The spans between the steps, possibly empty."""
    if by == "sentence":
        for match in _SENTENCE_END.finditer(text, start, end):
            if _ends_sentence(text, start, match):
                yield match.end(), match.end()
    else:
        pattern = re.compile(re.escape(separator)) if by == "separator" else _CUTS[by]
        for match in pattern.finditer(text, start, end):
            yield match.span()


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
