"""The source ``hashes``: ``#### 18``, as GSM8K's solutions end, on a line of its own or at the end of a line."""

from __future__ import annotations

import re
from collections import deque

from grpo_env.lazy_regex import lazy_compile

from ..kinds.codes import is_code
from ..kinds.date import read_date
from ..kinds.plain_text import plain
from ..quantities.currencies import SIGNS
from .result import MAX_ANSWERS, ExtractedAnswer, extracted, is_number, is_value
from .stated import stated

_LINE = lazy_compile(r"^[ \t*]{0,9}#{4,6}(?!#)[^\S\n]{0,9}(\S[^\n]*)", re.MULTILINE)
_STARTS_LIKE_NUMBER = lazy_compile(rf"[-+{SIGNS}(\\*]{{0,4}}\s?\.?\d|\\[a-z]*frac")
# "#### 2. Sell the eggs", "#### 2 Sell the eggs"
_HEADING = lazy_compile(
    r"\*{0,2}\d{1,2}(?:\.\d{1,2})?(?:[.):]\s{1,3}\*{0,2}[A-Za-z]|\s{1,3}\*{0,2}[A-Z][a-z]+\s{1,3}[A-Za-z])"
)
_LAST_LINES = 3
_LONGEST_LINE = 200
_NUMBER = lazy_compile(
    rf"\*{{0,2}}[-+]?(?:\\?[{SIGNS}]\s?)?[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:/\d+)?(?:\s?\\?%)?(?=[\s,.]+[A-Za-z(])"
)
_CLOSING = lazy_compile(r"(?<![A-Za-z#])#+$")  # of a heading; not that of "C#"
_FIRST_WORD = lazy_compile(r"\s[A-Za-z]+")
# What makes the words after a number more than a remark: 18 or 20, 18 is wrong, 3 to 5, 2 hundred, 18 minus 3.
_CHANGED = lazy_compile(
    r"\b(?:or|not|wrong|incorrect|maybe|perhaps|instead|if|half|hundred|thousand|million|billion|trillion|dozen|minus|plus"
    r"|divided|multiplied|squared|cubed|point|less"
    rf"|(?:to|and(?: then| also)?|times|from|over|by)\s{{1,3}}[-+{SIGNS}\\]{{0,2}}\d+)\b|n['\u2019]t\b|\?"
    rf"|[,;]\s{{1,3}}[-+{SIGNS}\\]{{0,2}}\d",
    re.IGNORECASE,
)


def hashes(text: str) -> ExtractedAnswer | None:
    """The ``####`` lines with a number, and the last ``####`` inside of a line, if it is in the last lines of the text.

    A heading (``#### Step 1``, ``#### 2. Sell the eggs``) is an answer only where nothing follows it.
    """
    if "####" not in text:
        return None
    end = len(text.rstrip())
    lines = [(match[1].strip(), match.end()) for match in deque(_LINE.finditer(text), maxlen=MAX_ANSWERS)]
    marked = [(line, at) for line, at in lines if _STARTS_LIKE_NUMBER.match(line)]
    if len(marked) > 1 or (marked and marked[0][1] < end):
        marked = [
            (line, at) for line, at in marked if at >= end or (is_value(_answer(line)) and not _HEADING.match(line))
        ]
    if not marked and lines and lines[-1][1] >= end:
        marked = lines[-1:]
    if inline := _inline(text, end):
        marked.append(inline)
    if not marked:
        return None
    if len(marked) == 1 and (said := stated(marked[0][0])):  # "#### Answer: C"
        return extracted(list(said.answers), "hashes", denied=said.denied, end=marked[0][1])
    return extracted([_answer(line) for line, _ in marked], "hashes", end=marked[-1][1])


def _inline(text: str, end: int) -> tuple[str, int] | None:
    """What follows the last ``####`` of a text up to the end of its line, if that is one of its last lines."""
    start = text.rfind("####", 0, end)
    line_end = text.find("\n", start, end)
    if line_end < 0:
        line_end = end
    line = text[start + 4 : line_end].strip()
    if not line or len(line) > _LONGEST_LINE or text.count("\n", line_end, end) > _LAST_LINES:
        return None
    if not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t*#"):  # at the start of the line
        return None
    return line, line_end


def _answer(line: str) -> str:
    """The answer in what follows the marks: all of it, or the number and its unit where words follow."""
    line = _CLOSING.sub("", line.rstrip(" \t.") if line.startswith("*") else line.rstrip(" \t*."))
    if not _STARTS_LIKE_NUMBER.match(line):
        return line
    number = _NUMBER.match(line)
    if number is None or is_number(line) or _is_no_mathematics(line):
        return line
    if _CHANGED.search(line, number.end(), number.end() + 20):  # words further behind describe it (GSM-Plus)
        return line
    word = _FIRST_WORD.match(line, number.end())
    with_unit = line[: word.end()] if word else ""
    # A single word may be a unit that is not known here, more words are a remark.
    return with_unit if with_unit and (with_unit == line or is_number(with_unit)) else number.group()


def _is_no_mathematics(line: str) -> bool:
    """``31 Dec 1999``, ``3 pm EST``, ``10 Downing Street``."""
    text = plain(line)
    return read_date(text) is not None or is_code(text)
