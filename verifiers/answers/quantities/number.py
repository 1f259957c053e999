r"""Exact values of short texts such as ``$1,234.50``, ``2\frac13`` or ``5\times10^{-7}``.

No floating point and no computer algebra. ``read_number`` reads integers, decimals, fractions, mixed numbers, repeating
decimals, powers of ten, numerals of a base (``101_2``), magnitudes (4 million), percents, currencies and units; it
raises ``OverLimitError`` for numbers larger than any honest answer, before computing them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import log10

from grpo_env.lazy_regex import lazy_compile

from .currencies import ISO, SIGN, WORD
from .number_words import in_digits
from .unit_names import LETTERS, NAMES
from .units import Unit, joined, may_be_variable, read_unit

MAX_DIGITS = 2000
MAX_EXPONENT = 2000

_UNSIGNED = r"(?:\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+(?!\d))|\d+)(?:\.\d*)?|\.\d+"
_POWER = (
    r"(?:[eE]([-+]?\d+)|(?:\s*(?:\\times|\\cdot|\*|x)\s*|\s+)10\s*(?:\^|\*\*)\s*(?:\{\s*([-+]?\d+)\s*\}|([-+]?\d+)))"
)
_PLAIN = lazy_compile(r"(-?)(?:(\d+(?:\.\d+)?)|\\frac\{(\d+)\}\{(\d+)\})", re.ASCII)
_DECIMAL = lazy_compile(rf"({_UNSIGNED})(?:{_POWER})?")
# The period of a repeating decimal: under a bar, in brackets, between dots on its first and last digit.
_REPEATING = lazy_compile(
    r"(\d*)\.\s?(\d*)(?:(?:\\overline|\\bar)\s*(?:\{\s*(\d+)\s*\}|(\d))|\((\d+)\)"
    r"|\\dot\s*\{?\s*(\d)\s*\}?(?:(\d*)\\dot\s*\{?\s*(\d)\s*\}?)?)"
)
_PURE_POWER = lazy_compile(r"(\d+)\s*(?:\^|\*\*)\s*(?:\{\s*([-+]?\d+)\s*\}|([-+]?\d+))")
_SIGNED = rf"[-+]?\s*(?:{_UNSIGNED})"
_SIDE = rf"(?:({_SIGNED})|\(\s*({_SIGNED})\s*\))"
_MIXED = lazy_compile(
    rf"(\d+)\s*(?:and\s+)?\\frac\s*\{{\s*({_UNSIGNED})\s*\}}\s*\{{\s*({_UNSIGNED})\s*\}}"
    rf"|(\d+)(?:\s+and\s+|\s+)({_UNSIGNED})\s*/\s*({_UNSIGNED})"
)
_FRACTION = lazy_compile(rf"\\frac\s*\{{\s*{_SIDE}\s*\}}\s*\{{\s*{_SIDE}\s*\}}")
_SLASHED = lazy_compile(rf"(?:({_UNSIGNED})|\(\s*({_SIGNED})\s*\))(?:\s*/|\s+(?:over|out of|in)(?=\s+\d+$))\s*{_SIDE}")
_BASED = lazy_compile(
    r"(\()?([0-9A-Z]+(?:\.[0-9A-Z]+)?)(?(1)\))\s?"
    r"(?:_\s?(?:\{\s*\(?(?:base )?(\d+|[a-z]+)\)?\s*\}|(\d+|[a-z]{3,7}\b))|\(?base (\d+|[a-z]+)\)?)"
)
_BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
          "eleven": 11, "twelve": 12, "sixteen": 16}  # fmt: skip
_MAGNITUDE = lazy_compile(r"\s*(hundred|thousand|lakh|million|crore|billion|trillion)s?\b", re.IGNORECASE)
_MAGNITUDE_OF_MONEY = lazy_compile(r"\s?([kmt]|bn?|mn)\b", re.IGNORECASE)  # $5k
_MAGNITUDE_OF_CURRENCY = lazy_compile(rf"\s?((?i:k|mn?|bn?|t))\s(?={WORD})")
_MAGNITUDES = {"hundred": 2, "thousand": 3, "lakh": 5, "million": 6, "crore": 7, "billion": 9, "trillion": 12,
               "k": 3, "m": 6, "mn": 6, "b": 9, "bn": 9, "t": 12}  # fmt: skip
_NO_NUMBER = lazy_compile(r"\\(?!frac)|[\[{|]")  # no number starts like this
_GOES_ON = lazy_compile(r"\s*(?:\+|-\s*[\d\\(]|\\(?:sqrt|pi)(?![A-Za-z]))")  # 2 + \sqrt{3}, 2\pi: a formula
_DIGIT = lazy_compile(r"\d")
_SIGN = lazy_compile(r"[-+]|(?:minus|negative)\s+(?=[\d.$\\])", re.IGNORECASE)
_IS_PART = frozenset((("BC", 1), ("than", 1), ("dozen", 1)))  # words without which a number is another one
# Words before a number that change nothing.
_LEAD = lazy_compile(
    r"(?:(?:AD|CE) (?=\d+$)|an? (?=\d+(?:\.\d+)?(?: ?%| per ?cent))"
    r"|(?:(?:in )?(?:the )?year|in|exactly|precisely|only|just|(?:a )?total of) (?=[-$\d.\\]))",
    re.IGNORECASE,
)
_CURRENCY = lazy_compile(rf"({SIGN})|({ISO}|(?i:rs|rmb))\.?\s?")
_PER = lazy_compile(r"\s?(?:/|per\b)")  # $5/kg


class OverLimitError(ValueError):
    """The text is larger than any honest answer."""


@dataclass(frozen=True)
class Number:
    """An exact value and its unit, which is empty if none was written.

    ``numeral`` is the digits of a numeral with a base (``101_2``) read as a decimal number, 101. ``bare`` if
    the unit may be left out.
    """

    value: Fraction
    unit: Unit = ()
    numeral: Fraction | None = None
    bare: bool = True

    def equals(self, other: Number) -> bool:
        """Whether the values are the same. A gold numeral with a base also equals its digits without the base."""
        return self.value == other.value or (other.numeral is None and self.numeral == other.value)


def read_number(text: str) -> Number | None:
    """The number that all of a text in normal spelling is, or ``None``. Raises ``OverLimitError``."""
    if text.isdecimal() and text.isascii():
        return Number(Fraction(int(_bounded(text, MAX_DIGITS))))
    if match := _PLAIN.fullmatch(text):  # most numbers; the rest of this function reads them too, slowly
        value = _decimal(match[2]) if match[2] else _quotient(match[3], match[4])
        return None if value is None else Number(-value if match[1] else value)
    if _NO_NUMBER.match(text):
        return None
    if text[:3].isalpha() and (spelled := in_digits(text)):
        return read_number(spelled)
    if not _DIGIT.search(text):
        return None
    sign, currency, at = _signs(text)
    if (reading := _read_value(text, at)) is None:
        return None
    value, numeral, at = reading
    if at == len(text):
        return Number(sign * value, joined(currency, ()), None if numeral is None else sign * numeral)
    if _GOES_ON.match(text, at):
        return None
    value, at = _multiplied(value, text, at, bool(currency))
    unit = _unit_behind(text, at, bool(currency))
    if unit is None:
        return None
    bare = _IS_PART.isdisjoint(unit) and not may_be_variable(text, at, sign * value)
    unit = joined(currency, unit)
    return Number(sign * value, unit, None if numeral is None else sign * numeral, bare=bare)


def _unit_behind(text: str, at: int, is_money: bool) -> Unit | None:
    """The unit behind a value; of a price ``$5/kg`` what it is the price of."""
    if not (is_money and _PER.match(text, at)):
        return read_unit(text, at)
    unit = read_unit(f"${text[at:]}", 0)
    return None if unit is None else tuple(pair for pair in unit if pair[0] != "$")


def _signs(text: str) -> tuple[int, str, int]:
    """The sign and the currency in front of a number, in either order, and where they end: ``-$5`` and ``$-5``."""
    if text[0].isdecimal() or text[0] == "\\":
        return 1, "", 0
    match = _LEAD.match(text)
    sign, at = 1, match.end() if match else 0
    currency = ""
    for _ in range(2):
        at = _skip_spaces(text, at)
        if (match := _SIGN.match(text, at)) and sign == 1:
            sign, at = (1 if match.group() == "+" else -1), match.end()
        at = _skip_spaces(text, at)
        if (match := _CURRENCY.match(text, at)) and not currency:
            name, at = match[1] or match[2], match.end()
            currency = LETTERS.get(name) or NAMES.get(name) or NAMES.get(name.rstrip(".").lower(), name)
    return sign, currency, _skip_spaces(text, at)


def _multiplied(value: Fraction, text: str, at: int, is_money: bool) -> tuple[Fraction, int]:
    """A value with the words that follow it, such as ``million``."""
    match = _MAGNITUDE.match(text, at) or (_MAGNITUDE_OF_MONEY if is_money else _MAGNITUDE_OF_CURRENCY).match(text, at)
    return (value * 10 ** _MAGNITUDES[match[1].lower()], match.end()) if match else (value, at)


def _read_value(text: str, at: int) -> tuple[Fraction, Fraction | None, int] | None:
    """The value, the digits of a numeral with a base read as a decimal number, and where the text of both ends."""
    for hints, pattern, read in _FORMS:
        if any(hint in text for hint in hints) and (match := pattern.match(text, at)):
            reading = read(match)
            return (*reading, match.end()) if reading else None
    if "." in text and (match := _REPEATING.match(text, at)):
        whole, fixed, *periods = match.groups(default="")
        return _repeating(whole, fixed, "".join(periods)), None, match.end()
    match = _DECIMAL.match(text, at)
    value = _scientific(match) if match else None
    return (value, None, match.end()) if match and value is not None else None


def _fraction(match: re.Match[str]) -> tuple[Fraction, None] | None:
    """The value of a mixed number or a fraction; ``None`` for a division by zero."""
    whole = "0"
    if match.re.groups == 6:
        whole, top, bottom = match.groups()[:3] if match[1] else match.groups()[3:]
    else:
        top, bottom = match[1] or match[2], match[3] or match[4]
    value = _quotient(top, bottom)
    return None if value is None else (_decimal(whole) + value, None)


def _power(match: re.Match[str]) -> tuple[Fraction, None] | None:
    """A power, unless it is undefined or larger than what is worked out."""
    base, power = _decimal(match[1]), int(_bounded(match[2] or match[3], 5))
    if abs(power) * log10(max(int(base), 2)) > MAX_EXPONENT or (base == 0 and power < 0):
        return None
    return base**power, None


def _scientific(match: re.Match[str]) -> Fraction | None:
    """The value of a decimal number, perhaps with a power of ten."""
    number = _decimal(match[1])
    exponent = match[2] or match[3] or match[4]
    if exponent is None:
        return number
    power = int(_bounded(exponent, 6))
    if abs(power) <= MAX_EXPONENT:
        return number * Fraction(10) ** power
    if match[2]:
        raise OverLimitError(f"the exponent {exponent[:20]} is too large")
    return None


def _numeral(match: re.Match[str]) -> tuple[Fraction, Fraction | None] | None:
    digits, base_text = match[2], match[3] or match[4] or match[5]
    base = _BASES.get(base_text, 0) if base_text.isalpha() else int(_bounded(base_text, 3))
    has_letters = not digits.replace(".", "").isdecimal()
    if not 2 <= base <= 36 or (has_letters and base != 16 and not digits[0].isdecimal()):  # A_{12} is a name
        return None
    whole, _, places = _bounded(digits, MAX_DIGITS).partition(".")
    try:
        value = Fraction(int(whole + places, base), base ** len(places))
    except ValueError:
        return None
    return value, None if has_letters else Fraction(digits)


_FORMS = (
    (("_", "base"), _BASED, _numeral),
    (("frac", "/"), _MIXED, _fraction),
    (("frac",), _FRACTION, _fraction),
    (("/", " o", " in"), _SLASHED, _fraction),
    (("^", "**"), _PURE_POWER, _power),
)
"""The forms of a number, of which each needs one of some texts."""


def _quotient(top: str, bottom: str) -> Fraction | None:
    divisor = _signed(bottom)
    return _signed(top) / divisor if divisor else None


def _signed(text: str) -> Fraction:
    return -_decimal(text[1:]) if text[0] == "-" else _decimal(text.lstrip("+"))


def _repeating(whole: str, fixed: str, period: str) -> Fraction:
    digits = _bounded(whole + fixed + period, MAX_DIGITS)
    start = Fraction(int(digits[: len(digits) - len(period)] or "0"), 10 ** len(fixed))
    return start + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(fixed))


def _decimal(text: str) -> Fraction:
    plain = _bounded(text.replace(",", "").replace(" ", ""), MAX_DIGITS)
    whole, _, places = plain.partition(".")
    digits = int(whole + places or "0")
    return Fraction(digits, 10 ** len(places)) if places else Fraction(digits)


def _bounded(text: str, digits: int) -> str:
    if len(text) > digits:
        raise OverLimitError(f"a number of {len(text)} digits is too long")
    return text


def _skip_spaces(text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip(" "))
