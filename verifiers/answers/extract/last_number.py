"""The source ``last_number``: the last number of the text, whatever it says. Only where a task asks for it."""

from __future__ import annotations

from collections import deque

from grpo_env.lazy_regex import lazy_compile

from ..quantities.currencies import SIGNS
from .result import ExtractedAnswer, extracted

_NUMBER = lazy_compile(
    rf"(?<![\w.\\])(?:(?<![\d)}}])[-+\u2212]\s?)?(?:\\?[{SIGNS}]\s?)?(?:[-+\u2212])?"
    r"(?:\\[dt]?frac\{\d{1,30}\}\{\d{1,30}\}|\.?\d(?:[\d,.:/^-]*\d)?)"
    r"(?!\w*\d)(?!(?:st|nd|rd|th)\b)(?:\s?\\?%)?"
)


def last_number(text: str) -> ExtractedAnswer | None:
    """The last number, with its sign, currency or percent sign. A number in a word, such as H2O or 18th, is none."""
    last = deque(_NUMBER.finditer(text), maxlen=1)
    return extracted([last[0].group()], "last_number") if last else None
