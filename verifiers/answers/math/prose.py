"""Which texts are words and not mathematics."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..quantities.unit_names import PRODUCT
from .parsed import Words

_OUTER = " .,;:!?\"'«»„“”‘’「」『』《》〈〉‹›"  # noqa: RUF001
_WORDS = lazy_compile(r"[\"'(]?[^\W\d_](?:[^\W_]|[ .:,;'\"()&%!?/-])*")
_WORD = lazy_compile(r"[A-Za-z]{3,}|(?:[A-Za-z]\.){2}|(?![\u0370-\u03ff])[^\W\d_\x00-\x7f]")
_FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "sqrt", "arcsin", "arccos", "arctan", "infty",
    "inf", "det", "pi", "sinh", "cosh", "tanh", "floor", "ceil",
}  # fmt: skip
# 'B' and B), but x' is another letter than x
_LETTER = lazy_compile(
    r"(?:(?:option|choice|answer|statement)\s)?(?:(?P<quote>['\"])|[(\[])?\s?(?P<letter>[A-Za-z])\s?"
    r"(?(quote)[\"')\].:,]*|[)\].:,]*)",
    re.IGNORECASE,
)
_LETTERS = lazy_compile(r"\\(?:begin|end)\{[a-z]*\*?\}|\\[A-Za-z]+|([A-Za-z]{2,})")
_LITTLE_WORDS = {"or", "and", "to", "not", "but", "if", "is", "no", "the", "for", "was", "yes", "wrong"}
_NO_ALPHABET = lazy_compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


def read_words(text: str) -> Words | None:
    """A text in normal spelling as words, or ``None`` if it is mathematics."""
    if letter := _LETTER.fullmatch(text):
        return Words(letter["letter"])
    words = _WORD.findall(text)
    if not words or PRODUCT.fullmatch(text) or all(word in _FUNCTIONS for word in words):
        return None
    return Words(_plain(text)) if _WORDS.fullmatch(text) else None


def read_prose(text: str) -> Words | None:
    """A formula as words if it contains any that algebra would take for products of letters (``0 or 7``)."""
    if not text.isascii() and _NO_ALPHABET.search(text):
        return Words(_plain(text))
    for word in filter(None, _LETTERS.findall(text)):  # not LaTeX commands
        product = word.isupper() or list(word) == sorted(word) or list(word) == sorted(word, reverse=True)
        prose = word.lower() in _LITTLE_WORDS or (len(word) > 3 and not product)
        if prose and word not in _FUNCTIONS and re.search("[aeiou]", word):
            return Words(_plain(text))
    return None


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(_OUTER)
