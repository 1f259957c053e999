# ruff: noqa: RUF001  (Chinese numerals)
"""Numbers in words: ``eighteen``, ``fifty-two dollars``, ``two thirds``."""

from __future__ import annotations

import re
from fractions import Fraction

from grpo_env.lazy_regex import lazy_compile

_BELOW_20 = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_FROM_20 = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_BELOW_20.split())}
_SMALL |= {word: 10 * value for value, word in enumerate(_FROM_20.split(), start=2)}
_SCALES = {"thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9, "trillion": 10**12}
_DENOMINATORS = {"half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
                 "eighth": 8, "ninth": 9, "tenth": 10, "hundredth": 100, "thousandth": 1000}  # fmt: skip
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_ORDINAL = {word: value for value, word in enumerate(_ORDINALS.split(), start=1)}
_ORDINAL |= {f"{word[:-1]}ieth": 10 * value for value, word in enumerate(_FROM_20.split(), start=2)}
_IN_ORDINAL_DIGITS = lazy_compile(r"(\d{1,9})(?:st|nd|rd|th)")
_CHINESE_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_CHINESE = lazy_compile("[零〇一二三四五六七八九两十百千万亿]{1,20}")
_START = lazy_compile(
    rf"(?:(?:minus|negative)\s)?(?:(?:a\s)?(?:hundred|{'|'.join(_SCALES)}|half|(?:quarter|third)(?=\sof\san?\s))|{'|'.join(_SMALL)})(?![A-Za-z])",
    re.IGNORECASE,
)
_POINT = lazy_compile(rf"\spoint((?:\s(?:{'|'.join(list(_SMALL)[:10])}|oh))+)(?![A-Za-z])", re.IGNORECASE)
_DOZEN = lazy_compile(r"(?:a|(half a))\sdozen(?:(?=\s[a-z])|$)", re.IGNORECASE)
_WORD = lazy_compile(r"[\s-]*([A-Za-z]+)")
_IN_DIGITS = lazy_compile(r"\s?\((\d+)\)")
_OF_A = lazy_compile(r"(?:\sof)?\san?(?=\s[a-z])")
ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def in_digits(text: str) -> str | None:
    """A text that starts with a number in words, with that number in digits; ``None`` for other texts."""
    if text.isascii() and not text[:1].isalpha():
        return None
    if "dozen" in text and (dozen := _DOZEN.match(text)):
        if dozen.end() == len(text):
            return "6" if dozen[1] else "12"
        return f"{'0.5' if dozen[1] else '1'} dozen{text[dozen.end() :]}"
    if not _START.match(text):
        return None if text.isascii() else _chinese(text)
    words, sign = [(match[1].lower(), match.end()) for match in _WORD.finditer(text[:200])], ""
    if words[0][0] in ("minus", "negative"):
        words, sign = words[1:], "-"
    value, count = _cardinal([word for word, _ in words])
    if value is None:
        return None
    if point := _POINT.match(text, words[count - 1][1]):  # three point five
        digits = "".join(str(_SMALL.get(word.lower(), 0)) for word in point[1].split())
        return f"{sign}{value}.{digits}{text[point.end() :]}"
    fraction, more = _fraction([word for word, _ in words[count:]], value)
    end = words[count + more - 1][1]
    if (repeated := _IN_DIGITS.match(text, end)) and int(repeated[1]) == fraction:  # eighteen (18)
        end = repeated.end()
    rest = text[end:]
    if fraction.denominator > 1 and (of := _OF_A.match(rest)):  # half an hour, three quarters of a cup
        rest = rest[of.end() :]
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
        elif (scale := _SCALES.get(word) or _SCALES.get(word[:-1])) and (group or not count) and not 0 < total <= scale:
            total, group, allowed = total + (group or 1) * scale, 0, 1000
        else:
            break
        count = index + 1
    if not count and words[0] == "a":
        value, count = _cardinal(words[1:])
        return value, count + 1
    if words == ["half"] or (words[:1] and words[0] in _DENOMINATORS and words[1:2] in (["a"], ["an"], ["of"])):
        return 1, 0
    return (total + group, count) if count else (None, 0)


def _fraction(words: list[str], value: int) -> tuple[Fraction, int]:
    """A number with the words of a fraction that follow it, and how many these are."""
    if words and (part := _DENOMINATORS.get(words[0]) or _DENOMINATORS.get(words[0].removesuffix("s"))):
        return Fraction(value, part), 1
    if len(words) > 2 and words[0] == "and" and words[1] in ("a", "one") and words[2] in _DENOMINATORS:
        return value + Fraction(1, _DENOMINATORS[words[2]]), 3
    return Fraction(value), 0


def number_at(words: list[str]) -> tuple[str, int]:
    """The number that some words in lower case start with, ``8`` or ``8th``, and of how many of them it is, or 0."""
    if match := _IN_ORDINAL_DIGITS.fullmatch(words[0]):
        return f"{int(match[1])}th", 1
    if ordinal := _ORDINAL.get(words[0]):
        return f"{ordinal}th", 1
    if words[0] not in _SMALL and words[0] not in _SCALES and words[0] != "hundred":
        return "", 0
    value, count = _cardinal(words)
    last = _ORDINAL.get(words[count]) if count < len(words) else None
    if value and last and last < 10 and words[count - 1] in _FROM_20.split():  # twenty first
        return f"{value + last}th", count + 1
    return (str(value), count) if value is not None else ("", 0)


def _chinese(text: str) -> str | None:
    """``三十五`` in digits, and ``None`` for any other text."""
    if not _CHINESE.fullmatch(text):
        return None
    if len(text) > 1 and all(character in _CHINESE_DIGITS for character in text):  # 二〇二四
        return "".join(str(_CHINESE_DIGITS[character]) for character in text) if len(text) == 4 else None
    total = section = digit = 0
    scale, largest = 10**4, 10**9
    for character in text:
        if character in _CHINESE_DIGITS:
            if digit:
                return None
            digit = _CHINESE_DIGITS[character]
            continue
        value = _CHINESE_SCALES[character]
        if value < 10**4:
            if value >= scale or not (digit or (value == 10 and not section)):
                return None
            section, digit, scale = section + digit * value if digit else value, 0, value
        else:
            if value >= largest or not section + digit:
                return None
            total, section, digit, scale, largest = total + (section + digit) * value, 0, 0, 10**4, value
    if digit and len(text) > 1 and text[-2] in "百千万亿":  # 一百五 is 150 or 105
        return None
    return str(total + section + digit)


def roman_value(numeral: str) -> int:
    """The number of a well-formed Roman numeral in capitals: 14 of ``XIV``."""
    values = [ROMAN_DIGITS[digit] for digit in numeral]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))
