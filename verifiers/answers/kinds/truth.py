"""Yes, no, true or false, perhaps with the reason behind it: "No, it sinks." Where that contradicts it, it is wrong.

Needed by strategyqa and coin_flip (zero-shot-CoT logs).
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..hedges import CORRECTS, DOUBTS, LEAVES_OPEN, WRONG
from .plain_text import plain

_WORDS = ("yes", "no", "true", "false")
_WORD = lazy_compile(r"(?:(?:most |very )?likely )?[\"'\u201c\[]?(yes|no|true|false)\b[\"'\]]?", re.IGNORECASE)
_REASON = lazy_compile(r"(?:[.,;:!]|\s[\u2013\u2014-]|(?=\s(?:because|since)\b))\s*(?=[^\W_])", re.IGNORECASE)
_UNSURE = lazy_compile(
    rf"\b(?:{CORRECTS}|{DOUBTS}|{LEAVES_OPEN}|if|{WRONG}|although|though|depends|sure|know|unclear|unknown|certain|right"
    r"|correct|answers?)\b|\?",
    re.IGNORECASE,
)
_AGAINST = {
    True: lazy_compile(r"\b(?:no|false|not|never|cannot|neither|nor|none)\b|n['\u2019]t\b", re.IGNORECASE),
    False: lazy_compile(r"\b(?:yes|true)\b", re.IGNORECASE),
}


def is_truth(text: str) -> bool:
    """Whether a gold answer is one of the four words."""
    lower = text.casefold()
    may_be = not text.isascii() or any(word in lower for word in _WORDS)  # this is found faster
    return may_be and "\\" not in text and plain(text).casefold() in _WORDS


def names_truth(text: str) -> bool:
    """Whether a text begins with one of them."""
    return _WORD.match(plain(text)) is not None


def _is_true(word: str) -> bool:
    return word.casefold() in ("yes", "true")


def same(gold: str, answer: str, ignore_case: bool) -> tuple[bool, bool]:
    """Whether an answer says the same as the gold answer, and whether it does so with its reason.

    A reason has two words or more, and neither doubts nor contradicts the word in front of it; a list is none.
    """
    text = plain(answer)
    word = _WORD.match(text)
    if word is None or _is_true(word[1]) != _is_true(plain(gold)) or not (ignore_case or word[1] == plain(gold)):
        return False, False
    rest = text[word.end() :]
    if not rest.strip(" .!"):
        return True, False
    behind = _REASON.match(rest)
    reason = rest[behind.end() :] if behind else ""
    if not reason or _UNSURE.search(reason) or _AGAINST[_is_true(word[1])].search(reason):
        return False, False
    items = [len(item.split()) for item in re.split("[,;/]", reason.strip(" .!"))]
    is_reason = max(items) > 1 and (len(items) == 1 or items[-1] > 1)  # "No, none of these, blue" is a list
    return is_reason, is_reason
