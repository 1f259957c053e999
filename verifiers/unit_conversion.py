"""Quantities with physical units, converted exactly by pint: 0.12 m is 12 cm.

pint evaluates a unit's text as an expression, in which ``m^9^9^9`` takes forever; here it sees single names only.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from grpo_env.lazy_regex import lazy_compile

from .answers.quantities.number import read_number
from .optional_packages import optional_package

MAX_LENGTH = 80  # characters of a unit

_NUMBER = lazy_compile(
    r"[-+]?\s?(?:\d+\s?\\frac\{\d+\}\{\d+\}|\d+\s(?:and\s)?\d+\s?/\s?\d+|\\frac\{[^{}]{1,40}\}\{[^{}]{1,40}\}"
    r"|(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+(?!\d)|\d+)(?:\.\d*)?(?:\s?/\s?\d+)?|\.\d+)"
    r"(?:[eE][-+]?\d+(?!\w)|\s?(?:\\times|\\cdot|\*|x)\s?10\s?(?:\^|\*\*)\s?(?:\{\s?[-+]?\d+\s?\}|[-+]?\d+))?"
)
_TEXT = lazy_compile(r"\\text\s?\{([^{}]*)\}")
_TOKEN = lazy_compile(
    r"\s*(?:(?P<name>°\s?[CF]?|(?:\\mu\s?|[kMG]\s?|m)?\\Omega|\\mu\s?[A-Za-z]+|[^\W\d_]+\.?(?:_[^\W\d_]+)*)"
    r"(?:\s?(?:\^|\*\*)\s?(?:\{\s?(?P<braced>[-+]?\d)\s?\}|(?P<power>[-+]?\d)))?"
    r"|(?P<times>\\cdot|\\times|\*)|(?P<over>/)|(?P<open>\()|(?P<close>\)))"
)
_RAISED = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_RAISES = {"squared": 2, "cubed": 3}
_SPELLED = {"°": "degree", "°c": "degC", "°f": "degF", "celsius": "degC", "fahrenheit": "degF",
            "kmh": "kph", "kg": "kg", "km": "km", "cm": "cm"}  # fmt: skip


class Quantity(NamedTuple):
    """A number and its unit: pint's, or ``None`` if no unit was written."""

    value: Fraction
    unit: Any | None


def read_quantity(text: str) -> Quantity | None:
    """The quantity that all of a text in normal spelling is; ``None`` if it is no number or pint lacks its unit.

    Raises ``OverLimitError``, and ``UsageError`` if pint is not installed.
    """
    match = _NUMBER.match(text)
    number = read_number(match.group()) if match else None
    if match is None or number is None or number.unit:
        return None
    rest = _TEXT.sub(r"\1", text[match.end() :]).strip()
    if not rest:
        return Quantity(number.value, None)
    unit = _read_unit(rest) if len(rest) <= MAX_LENGTH else None
    return unit and Quantity(number.value, unit)


def converted(quantity: Quantity, unit: Any) -> Fraction | None:
    """The value of a quantity in another unit; ``None`` if they measure different things."""
    pint = optional_package("pint", "units", "numeric with units")
    try:
        return Fraction(_registry().Quantity(quantity.value, quantity.unit).to(unit).magnitude)
    except pint.PintError:
        return None


def _read_unit(text: str) -> Any | None:
    """The unit that a text is. A slash divides by all that follows: ``J/mol K`` is joules per mole and per kelvin."""
    tokens = list(_TOKEN.finditer(text))
    if not tokens or "".join(token.group() for token in tokens) != text:
        return None
    last = (tokens[-1]["name"] or "").lower()
    if not tokens[-1]["close"] and (not last or last in ("per", *_RAISED)):
        return None
    unit, rest = _product(tokens)
    return unit if not rest else None


def _product(tokens: list[re.Match[str]]) -> tuple[Any | None, list[re.Match[str]]]:
    """The unit that some tokens begin with, up to a bracket that closes, and what follows it."""
    unit, sign, raised, last = _registry().Unit(""), 1, 1, None
    while tokens and not tokens[0]["close"]:
        token, tokens = tokens[0], tokens[1:]
        word = (token["name"] or "").lower()
        if token["open"]:
            inner, tokens = _product(tokens)
            if inner is None or not tokens:
                return None, tokens
            unit, tokens = unit * inner**sign, tokens[1:]
        elif token["over"] or word == "per":
            sign = -1
        elif word in _RAISED:
            raised = _RAISED[word]
        elif word in _RAISES and last is not None:
            unit *= last ** (_RAISES[word] - 1)
        elif word:
            named = _named(token["name"].replace(" ", ""))
            if named is None:
                return None, tokens
            last = named ** (sign * raised * int(token["braced"] or token["power"] or 1))
            unit, raised = unit * last, 1
    return unit, tokens


@lru_cache(maxsize=4096)
def _named(name: str) -> Any | None:
    """The unit of a single name, or ``None``."""
    pint = optional_package("pint", "units", "numeric with units")
    spelled = re.sub(r"\\mu\s?", "µ", name).replace("\\Omega", "ohm").rstrip(".")
    spelled = _SPELLED.get(spelled.lower(), spelled)
    for spelling in (spelled, spelled.lower() if len(spelled) > 3 else spelled):
        try:
            return _registry().Unit(spelling)
        except (pint.PintError, AttributeError):
            continue
    return None


@lru_cache(maxsize=1)
def _registry() -> Any:
    return optional_package("pint", "units", "numeric with units").UnitRegistry(non_int_type=Fraction)
