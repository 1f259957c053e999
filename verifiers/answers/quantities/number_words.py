"""Numbers in words: ``eighteen``, ``fifty-two dollars`` and ``two thirds``."""

from __future__ import annotations

import re
from fractions import Fraction

from grpo_env.lazy_regex import lazy_compile

_BELOW_20 = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_FROM_20 = "twenty thirty forty fifty sixty seventy eighty ninety"
SMALL = {word: value for value, word in enumerate(_BELOW_20.split())}
SMALL |= {word: 10 * value for value, word in enumerate(_FROM_20.split(), start=2)}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
          "eighth": 8, "ninth": 9, "tenth": 10, "hundredth": 100, "thousandth": 1000}  # fmt: skip
_START = lazy_compile(rf"(?:(minus|negative)\s)?(?=(?:{'|'.join(SMALL)}|half)(?![A-Za-z]))", re.IGNORECASE)
_WORD = lazy_compile(r"[\s-]*([A-Za-z]+)")
_NAME = lazy_compile(r"\s?[A-Z][a-z]|-|\san?\b")  # Seven Samurai, half a dozen


def in_digits(text: str) -> str | None:
    """A text that starts with a number in words, with that number in digits; ``None`` for other texts."""
    start = _START.match(text)
    if start is None:
        return None
    found = _words(text[:200], start.end())
    words, sign = [word for word, _ in found], "-" if start[1] else ""
    value, count = _cardinal(words)
    parts = _PARTS.get(words[count].removesuffix("s")) if count < len(words) else None
    if count == 0 and parts is None:
        return None
    number = Fraction(value if count else 1, parts or 1)
    end = found[count if parts else count - 1][1]
    return None if _NAME.match(text, end) else f"{sign}{number}{text[end:]}"


def _words(text: str, at: int) -> list[tuple[str, int]]:
    """The words from a place on with nothing but spaces and hyphens between them, each with its end."""
    found = []
    while match := _WORD.match(text, at):
        at = match.end()
        found.append((match[1].lower(), at))
    return found


def _cardinal(words: list[str]) -> tuple[int, int]:
    """The number that some words start with, and of how many words it is."""
    total = group = count = 0
    largest = 10**15
    for index, word in enumerate(words):
        small, scale = SMALL.get(word), _SCALES.get(word)
        if word == "and" and group and group % 100 == 0 and words[index + 1 : index + 2] and words[index + 1] in SMALL:
            continue
        if small is not None and (index == 0 or (small and count and _fits(group, small) and words[0] != "zero")):
            group += small
        elif word == "hundred" and 0 < group < 100:
            group *= 100
        elif scale and group and scale < largest:
            total, group, largest = total + group * scale, 0, scale
        else:
            break
        count = index + 1
    return total + group, count


def _fits(group: int, small: int) -> bool:
    """Whether a small number may follow what a group is so far: ``five`` after ``twenty`` or ``hundred``."""
    if group % 100 == 0:
        return True
    return group % 100 >= 20 and group % 10 == 0 and 0 < small < 10
