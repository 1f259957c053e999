"""The source ``hashes``: ``#### 18``, as GSM8K's solutions end."""

from __future__ import annotations

import re

from .extracted import ExtractedAnswer, extracted
from .phrases import phrases

_HASHES = re.compile(r"^[ \t]{0,9}####[ \t]{0,9}(\S[^\n]*)", re.MULTILINE)
_STARTS_LIKE_NUMBER = re.compile(r"[-+$€£(\\*]{0,4}\s?\.?\d|\\[a-z]*frac")


def hash_marks(text: str) -> ExtractedAnswer | None:
    """The ``####`` lines with a number; without any, the last line of the text if it is a ``####`` line."""
    if "####" not in text:
        return None
    lines = [match[1].strip() for match in _HASHES.finditer(text)]
    numbers = [line for line in lines if _STARTS_LIKE_NUMBER.match(line)]
    if numbers:
        return extracted(numbers, "hashes")
    if not lines or not text.rstrip().endswith(lines[-1]):
        return None
    return phrases(lines[-1]) or extracted(lines[-1:], "hashes")  # "#### Answer: C"
