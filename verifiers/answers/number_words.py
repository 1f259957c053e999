"""Numbers in words: ``eighteen``, ``fifty-two dollars``, ``two thirds``."""

from __future__ import annotations

import re
from fractions import Fraction

_BELOW_20 = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_FROM_20 = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_BELOW_20.split())}
_SMALL |= {word: 10 * value for value, word in enumerate(_FROM_20.split(), start=2)}
_SCALES = {"thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9, "trillion": 10**12}
_DENOMINATORS = {"half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
                 "eighth": 8, "ninth": 9, "tenth": 10, "hundredth": 100, "thousandth": 1000}  # fmt: skip
_START = re.compile(
    rf"(?:(?:minus|negative)\s)?(?:(?:a\s)?(?:hundred|{'|'.join(_SCALES)}|half)|{'|'.join(_SMALL)})(?![A-Za-z])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\s-]*([A-Za-z]+)")
_IN_DIGITS = re.compile(r"\s?\((\d+)\)")


def in_digits(text: str) -> str | None:
    """A text that starts with a number in words, with that number in digits; ``None`` for other texts."""
    if not _START.match(text):
        return None
    words, sign = [(match[1].lower(), match.end()) for match in _WORD.finditer(text[:200])], ""
    if words[0][0] in ("minus", "negative"):
        words, sign = words[1:], "-"
    value, count = _cardinal([word for word, _ in words])
    if value is None:
        return None
    fraction, more = _fraction([word for word, _ in words[count:]], value)
    end = words[count + more - 1][1]
    if (repeated := _IN_DIGITS.match(text, end)) and int(repeated[1]) == fraction:  # eighteen (18)
        end = repeated.end()
    rest = text[end:]
    if re.match(r"\s?[A-Z][a-z]|-", rest):  # Seven Samurai
        return None
    return f"{sign}{fraction}{rest}"


def _cardinal(words: list[str]) -> tuple[int | None, int]:
    """The number that some words start with, and of how many words it is."""
    total = group = 0
    allowed = 1000  # the next word must stand for less
    count = 0
    for index, word in enumerate(words):
        if word == "and" and count and allowed == 100 and index + 1 < len(words) and words[index + 1] in _SMALL:
            continue
        small = _SMALL.get(word)
        if small is not None and small < allowed and (count == 0 or group == 0 or small):
            group, allowed = group + small, 10 if small >= 20 else 1
        elif word == "hundred" and group < 100 and allowed <= 1000:
            group, allowed = 100 * (group or 1), 100
        elif word in _SCALES and (group or not count) and (total == 0 or total > _SCALES[word]):
            total, group, allowed = total + (group or 1) * _SCALES[word], 0, 1000
        else:
            break
        count = index + 1
    if not count and words[0] == "a":
        value, count = _cardinal(words[1:])
        return value, count + 1
    if words == ["half"]:
        return 1, 0
    return (total + group, count) if count else (None, 0)


def _fraction(words: list[str], value: int) -> tuple[Fraction, int]:
    """A number with the words of a fraction that follow it, and how many these are."""
    if words and (part := _DENOMINATORS.get(words[0]) or _DENOMINATORS.get(words[0].removesuffix("s"))):
        return Fraction(value, part), 1
    if len(words) > 2 and words[0] == "and" and words[1] in ("a", "one") and words[2] in _DENOMINATORS:
        return value + Fraction(1, _DENOMINATORS[words[2]]), 3
    return Fraction(value), 0
