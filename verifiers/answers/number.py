r"""Exact values of short texts such as ``$1,234.50``, ``2\frac13`` or ``5\times10^{-7}``.

No floating point and no computer algebra. ``read_number`` reads integers, decimals, fractions, mixed numbers, repeating
decimals, powers of ten, numerals of a base (``101_2``), magnitudes (4 million), percents, currencies and units; it
raises ``OverLimitError`` for numbers larger than any honest answer, before computing them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from .units import Unit, joined, read_unit

MAX_DIGITS = 2000
MAX_EXPONENT = 2000
MAX_PERIODIC = 400  # digits of a decimal whose period is searched for

_UNSIGNED = r"(?:\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+(?!\d))|\d+)(?:\.\d*)?|\.\d+"
_POWER = r"(?:[eE]([-+]?\d+)|\s*(?:\\times|\\cdot|\*|x)\s*10\s*(?:\^|\*\*)\s*(?:\{\s*([-+]?\d+)\s*\}|([-+]?\d+)))"
_DECIMAL = re.compile(rf"({_UNSIGNED})(?:{_POWER})?")
# The period of a repeating decimal: under a bar, in brackets, between dots on its first and last digit.
_REPEATING = re.compile(
    r"(\d*)\.\s?(\d*)(?:(?:\\overline|\\bar)\s*(?:\{\s*(\d+)\s*\}|(\d))|\((\d+)\)"
    r"|\\dot\s*\{?\s*(\d)\s*\}?(?:(\d*)\\dot\s*\{?\s*(\d)\s*\}?)?)"
)
_DOTTED = re.compile(r"(\d*)\.(\d{2,}?)\s?(?:\.\.\.|\\ldots)")
_PURE_POWER = re.compile(r"(\d+)\s*(?:\^|\*\*)\s*(?:\{\s*([-+]?\d+)\s*\}|([-+]?\d+))")
_FRACTION = re.compile(
    rf"(?:(\d+)\s*(?:and\s+)?)?\\frac\s*\{{\s*([-+]?)\s*({_UNSIGNED})\s*\}}\s*\{{\s*({_UNSIGNED})\s*\}}"
)
_SLASHED = re.compile(rf"(?:(\d+)(?:\s+and\s+|\s+))?({_UNSIGNED})\s*/\s*({_UNSIGNED})")
_BASED = re.compile(
    r"([0-9A-Z]+)\s?(?:_\s?(?:\{\s*\(?(?:base )?(\d+|[a-z]+)\)?\s*\}|(\d+|[a-z]{3,7}\b))|\(?base (\d+|[a-z]+)\)?)"
)
_BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
          "eleven": 11, "twelve": 12, "sixteen": 16}  # fmt: skip
_MAGNITUDE = re.compile(r"\s+(hundred|thousand|million|billion|trillion)\b", re.IGNORECASE)
_MAGNITUDES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SIGN = re.compile(r"[-+]")
_CURRENCY = re.compile(r"(?:US)?([$€£¥₹])|(Rs|USD|EUR|GBP)\.?\s?", re.IGNORECASE)
_CODES = {"rs": "₹", "usd": "$", "eur": "€", "gbp": "£"}


class OverLimitError(ValueError):
    """The text is larger than any honest answer."""


@dataclass(frozen=True)
class Number:
    """An exact value and its unit, which is empty if none was written.

    ``numeral`` is the digits of a numeral with a base (``101_2``) read as a decimal number, 101.
    """

    value: Fraction
    unit: Unit = ()
    numeral: Fraction | None = None

    def equals(self, other: Number) -> bool:
        """Whether the values are the same. A numeral with a base also equals its digits without the base."""
        if self.value == other.value:
            return True
        if self.numeral is not None and other.numeral is None:
            return self.numeral == other.value
        return other.numeral is not None and self.numeral is None and self.value == other.numeral


def read_number(text: str) -> Number | None:
    """The number that all of a text in normal spelling is, or ``None``. Raises ``OverLimitError``."""
    if text.isdecimal() and text.isascii():
        return Number(_integer(text))
    if not any(character.isdigit() for character in text):
        return None
    sign, at = 1, 0
    currency = ""
    for _ in range(2):  # -$5 and $-5
        at = _skip_spaces(text, at)
        if (match := _SIGN.match(text, at)) and sign == 1:
            sign, at = (-1 if match.group() == "-" else 1), match.end()
        at = _skip_spaces(text, at)
        if (match := _CURRENCY.match(text, at)) and not currency:
            currency = match[1] or _CODES[match[2].lower()]
            at = match.end()
    reading = _read_value(text, _skip_spaces(text, at))
    if reading is None:
        return None
    value, numeral, at = reading
    if match := _MAGNITUDE.match(text, at):
        value, at = value * 10 ** _MAGNITUDES[match[1].lower()], match.end()
    unit = read_unit(text, at)
    if unit is None:
        return None
    return Number(sign * value, joined(currency, unit), None if numeral is None else sign * numeral)


def _read_value(text: str, at: int) -> tuple[Fraction, Fraction | None, int] | None:
    """The value, the digits of a numeral with a base read as a decimal number, and where the text of both ends."""
    if match := _BASED.match(text, at):
        return _numeral(match[1], match[2] or match[3] or match[4], match.end())
    if match := _FRACTION.match(text, at):
        whole, sign, top, bottom = match.groups()
        return _fraction(whole, top, bottom, -1 if sign == "-" else 1, match.end())
    if match := _SLASHED.match(text, at):
        return _fraction(match[1], match[2], match[3], 1, match.end())
    if match := _PURE_POWER.match(text, at):
        base, power = _integer(match[1]), int(_bounded(match[2] or match[3], 5))
        if abs(power) * max(1, len(match[1])) > MAX_EXPONENT:
            raise OverLimitError(f"the power {match.group()[:40]} is too large")
        return None if base == 0 and power < 0 else (base**power, None, match.end())
    if match := _REPEATING.match(text, at):
        whole, fixed, *periods = match.groups(default="")
        return _repeating(whole, fixed, "".join(periods)), None, match.end()
    if (match := _DOTTED.match(text, at)) and (period := _period(match[2])):
        return _repeating(match[1], match[2], period), None, match.end()
    if match := _DECIMAL.match(text, at):
        number = _decimal(match[1])
        exponent = match[2] or match[3] or match[4]
        if exponent is None:
            return number, None, match.end()
        power = int(_bounded(exponent, 6))
        if abs(power) > MAX_EXPONENT:
            raise OverLimitError(f"the exponent {exponent[:20]} is too large")
        return number * Fraction(10) ** power, None, match.end()
    return None


def _numeral(digits: str, base_text: str, end: int) -> tuple[Fraction, Fraction | None, int] | None:
    base = _BASES.get(base_text, 0) if base_text.isalpha() else int(_bounded(base_text, 3))
    has_letters = not digits.isdecimal()
    if not 2 <= base <= 36 or (has_letters and base != 16 and not digits[0].isdecimal()):  # A_{12} is a name
        return None
    try:
        value = Fraction(int(_bounded(digits, MAX_DIGITS), base))
    except ValueError:
        return None
    return value, None if has_letters else _integer(digits), end


def _fraction(whole: str | None, top: str, bottom: str, sign: int, end: int) -> tuple[Fraction, None, int] | None:
    divisor = _decimal(bottom)
    if divisor == 0:
        return None
    value = sign * _decimal(top) / divisor
    return (value if whole is None else _integer(whole) + value), None, end


def _repeating(whole: str, fixed: str, period: str) -> Fraction:
    digits = _bounded(whole + fixed + period, MAX_DIGITS)
    start = Fraction(int(digits[: len(digits) - len(period)] or "0"), 10 ** len(fixed))
    return start + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(fixed))


def _period(digits: str) -> str | None:
    """The period of ``0.8333...``: of the digits repeated at least twice at its end, those that cover most of it."""
    if len(digits) > MAX_PERIODIC:
        return None
    best = (0, 0)
    for length in range(1, len(digits) // 2 + 1):
        covered = length
        while covered < len(digits) and digits[-1 - covered] == digits[length - 1 - covered]:
            covered += 1
        if covered >= 2 * length:
            best = max(best, (covered, -length))
    return digits[best[1] :] if best[0] else None


def _decimal(text: str) -> Fraction:
    plain = _bounded(text.replace(",", "").replace(" ", ""), MAX_DIGITS)
    return Fraction(plain.rstrip(".")) if plain.strip(".") else Fraction(0)


def _integer(text: str) -> Fraction:
    return Fraction(int(_bounded(text, MAX_DIGITS)))


def _bounded(text: str, digits: int) -> str:
    if len(text) > digits:
        raise OverLimitError(f"a number of {len(text)} digits is too long")
    return text


def _skip_spaces(text: str, at: int) -> int:
    while at < len(text) and text[at] == " ":
        at += 1
    return at
