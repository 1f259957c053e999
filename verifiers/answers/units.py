"""Units: which words after a number are its unit, and when two units contradict each other.

A unit is a set of words with exponents: ``cm^2``, ``sq cm`` and ``square centimetres`` are the same, ``mph`` is miles
times hours to the power of minus one. Units are never converted.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

Unit: TypeAlias = tuple[tuple[str, int], ...]  # words in one spelling, each with its exponent, sorted

MAX_WORDS = 8

_POWER = r"(?:\s*(?:\^|\*\*)\s*(?:\{\s*(-?\d)\s*\}|(-?\d)))?"
_UNIT = re.compile(
    rf"\s*(%|per\s+cent\b|°\s?[CF]?(?![A-Za-z])|[$€£¥₹¢]|/|\\text\{{([A-Za-z])\}}|[A-Za-z][A-Za-z.'-]*){_POWER}",
    re.IGNORECASE,
)
# What may be the unit at the end of a formula: a sign, or words of at least two letters, or a letter marked as text.
_TAIL = re.compile(
    r"(?:\s*[%°]|\s*\\text\{[A-Za-z]\}(?:/[A-Za-z]+)?|\s+[A-Za-z]{2,}\.?(?:(?:\s|\s?/\s?)[A-Za-z]{2,}\.?|/[A-Za-z]){0,4}"
    rf"|\s+[A-Za-z]+/[A-Za-z]+){_POWER}$"
)

_SHORT_UNITS = {
    "cm", "mm", "km", "nm", "kg", "mg", "ml", "cl", "dl", "lb", "oz", "ft", "in", "mi", "yd", "mph", "kmh", "kph",
    "min", "ms", "hz", "sq", "cu", "kw", "pcs", "gb", "mb", "kb", "bc", "ad",
}  # fmt: skip
# Letters that may be a unit if a space separates them from their number; all others are variables.
_LETTER_UNITS = frozenset("mgshLlNJWVKCF")
_NO_UNITS = {
    "or", "and", "to", "not", "pi", "sqrt", "e", "i", "x", "log", "ln", "sin", "cos", "tan", "cot", "sec",
    "csc", "exp", "mod", "inf", "infinity", "plus", "minus", "times", "over", "by", "into", "is", "are", "than",
    "equals", "between", "from", "either", "maybe", "perhaps", "but", "if", "frac", "cdot", "through",
    "divided", "approximately", "roughly", "probably", "possibly", "nearly", "almost", "about", "around",
    "factorial", "choose", "base", "wait", "wrong", "false", "instead", "sorry", "nope", "negative", "unless",
    "except", "versus",
}  # fmt: skip
# "4 million", "4 thirds" and "4 point five" are not 4 with a unit.
_NUMBER_WORDS = {
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty",
    "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million", "billion", "trillion", "half",
    "halves", "third", "thirds", "fourths", "fifth", "fifths", "sixth", "sixths", "seventh", "sevenths", "eighth",
    "eighths", "ninth", "ninths", "tenth", "tenths", "hundredth", "hundredths", "thousandth", "thousandths",
}  # fmt: skip
_SAME_UNITS = {
    **dict.fromkeys(("dollar", "dollars", "usd", "bucks"), "$"),
    **dict.fromkeys(("euro", "euros", "eur"), "€"),
    **dict.fromkeys(("pounds sterling", "gbp"), "£"),
    **dict.fromkeys(("cent", "cents"), "¢"),
    **dict.fromkeys(("percent", "pct", "percentage"), "%"),
    **dict.fromkeys(("degree", "degrees", "deg"), "°"),
    **dict.fromkeys(("celsius", "centigrade"), "C"),
    **dict.fromkeys(("fahrenheit",), "F"),
    **dict.fromkeys(("meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("centimeter", "centimeters", "centimetre", "centimetres"), "cm"),
    **dict.fromkeys(("millimeter", "millimeters", "millimetre", "millimetres"), "mm"),
    **dict.fromkeys(("kilometer", "kilometers", "kilometre", "kilometres"), "km"),
    **dict.fromkeys(("gram", "grams"), "g"),
    **dict.fromkeys(("milligram", "milligrams"), "mg"),
    **dict.fromkeys(("kilogram", "kilograms", "kgs"), "kg"),
    **dict.fromkeys(("second", "seconds", "sec", "secs"), "s"),
    **dict.fromkeys(("minute", "minutes", "mins"), "min"),
    **dict.fromkeys(("hour", "hours", "hr", "hrs"), "h"),
    **dict.fromkeys(("liter", "liters", "litre", "litres", "l"), "L"),
    **dict.fromkeys(("milliliter", "milliliters", "millilitre", "millilitres"), "ml"),
    **dict.fromkeys(("inch", "inches"), "in"),
    **dict.fromkeys(("foot", "feet"), "ft"),
    **dict.fromkeys(("mile", "miles"), "mi"),
    **dict.fromkeys(("yard", "yards", "yds"), "yd"),
    **dict.fromkeys(("pound", "pounds"), "pound"),  # of weight or of money
    **dict.fromkeys(("lbs",), "lb"),
    **dict.fromkeys(("ounce", "ounces"), "oz"),
    **dict.fromkeys(("people", "persons"), "person"),
    **dict.fromkeys(("children",), "child"),
}
_SPEEDS = {"mph": "mi", "kph": "km", "kmh": "km"}
# Leaving out a measure is a contradiction (5 m/s is not 5 m), leaving out counted things is not (5 eggs a day, 5 eggs).
_MEASURES = {"m", "cm", "mm", "km", "nm", "g", "mg", "kg", "s", "ms", "min", "h", "L", "ml", "cl", "dl", "in", "ft",
             "mi", "yd", "lb", "oz", "hz", "kw", "gb", "mb", "kb", "N", "J", "W", "V", "K"}  # fmt: skip
_RAISED = {"square": 2, "squared": 2, "sq": 2, "cubic": 3, "cubed": 3, "cu": 3}
_BEFORE = frozenset(("square", "sq", "cubic", "cu"))
_PER = frozenset(("per", "/", "a", "an", "each", "every"))
_FILLERS = frozenset(("of", "a", "an", "the", "in", "total", "each", "every", "all", "altogether", "more", "us"))
_UNITS = frozenset(("unit", "units"))


def same_unit(first: Unit, second: Unit) -> bool:
    """Whether two units do not contradict each other: ``dollars`` and ``dollars per day`` do not, cm and m do."""
    if not first or not second or first == second:
        return True
    one, other = _without_pounds(dict(first), dict(second)), _without_pounds(dict(second), dict(first))
    for unit, opposite in ((one, other), (other, one)):
        if "unit" in unit:  # 12 square units: of any length
            return unit["unit"] in opposite.values()
    only_one, only_other, common = one.items() - other.items(), other.items() - one.items(), one.items() & other.items()
    if (only_one and only_other) or not common:
        return False
    shared = {word for word, _ in common}
    return not any(word in _MEASURES and (power > 0 or shared & _MEASURES) for word, power in only_one | only_other)


def _without_pounds(unit: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    if "pound" in unit and "pound" not in other:
        return {("£" if "£" in other else "lb") if word == "pound" else word: power for word, power in unit.items()}
    return unit


def split_unit(text: str) -> tuple[str, Unit]:
    """A formula without its unit, and the unit: ``12\\pi cm`` is ``12\\pi`` and cm."""
    core, sign = text.strip(), ""
    if match := re.match(r"[$€£¥₹]\s*", core):
        sign, core = match.group().strip(), core[match.end() :]
    match = _TAIL.search(core)
    unit = read_unit(core, match.start()) if match else None
    if match and unit and match.start() > 0:
        return core[: match.start()], joined(sign, unit)
    return core, joined(sign, ())


def joined(sign: str, unit: Unit) -> Unit:
    """A unit together with the currency sign that stood before the number."""
    return tuple(sorted({**dict(unit), sign: 1}.items())) if sign else unit


def read_unit(text: str, at: int) -> Unit | None:
    """The unit that the rest of a text is, ``()`` for no words at all; ``None`` if it is something else."""
    words = _unit_words(text, at)
    if words is None:
        return None
    unit: dict[str, int] = {}
    sign, raised = 1, 1  # of the words to come: -1 after "per", 2 after "square"
    for word in words:
        if word.plain in _PER and (unit or word.plain == "/"):
            if not unit:
                return None
            sign = -1
        elif not _in_unit(word, spaced=word.spaced or sign < 0):
            return None
        elif word.plain in _BEFORE and not word.last:
            raised = _RAISED[word.plain]
        elif word.plain in _RAISED:
            if not unit:  # 4 squared is 16
                return None
            unit[next(reversed(unit))] *= _RAISED[word.plain]
        elif word.plain in _FILLERS and not (word.plain == "in" and not unit and word.last):
            continue
        elif compound := _compound_unit(word):
            unit |= compound
        else:
            name = _unit_name(word)
            unit[name] = unit.get(name, 0) + sign * word.power * raised
            raised = 1
    if unit.get("unit") == 1:
        del unit["unit"]
    return tuple(sorted(unit.items()))


class _Word(NamedTuple):
    """A word that may belong to a unit. ``plain`` is its lower case; ``spaced`` if it cannot be a variable."""

    text: str
    plain: str
    power: int
    spaced: bool
    last: bool


def _unit_words(text: str, at: int) -> list[_Word] | None:
    """The rest of a text as words of a unit; ``None`` if it has other parts or too many words."""
    words: list[_Word] = []
    while text[at:].strip() not in ("", "."):
        match = _UNIT.match(text, at)
        if match is None or len(words) == MAX_WORDS:
            return None
        word = match[2] or match[1].replace(" ", "")
        spaced = match[2] is not None or text[at] == " "
        last = not text[match.end() :].strip(" .")
        power = int(match[3] or match[4] or 1)
        words.append(_Word(word, word.strip(".").lower(), power, spaced, last))
        at = match.end()
    return words


def _in_unit(word: _Word, spaced: bool) -> bool:
    """Whether a word may be part of a unit where it stands."""
    if word.plain == "per" or word.plain in _NO_UNITS or word.plain in _NUMBER_WORDS:
        return False
    is_filler = word.spaced and word.plain in _FILLERS
    return word.plain in _UNITS or is_filler or may_be_unit(word.text, word.plain, spaced)


def _compound_unit(word: _Word) -> dict[str, int]:
    """The factors of speeds, percent and degrees; empty for other words."""
    if word.plain in _SPEEDS:
        return {_SPEEDS[word.plain]: 1, "h": -1}
    if word.plain in ("percent", "%"):
        return {"%": 1}
    if word.text[0] == "°":
        return {"°": 1} | ({word.text[-1]: 1} if word.text[-1] in "CF" else {})
    return {}


def _unit_name(word: _Word) -> str:
    if word.plain in _UNITS:
        return "unit"
    return _SAME_UNITS.get(word.plain, word.text if len(word.text) == 1 else _singular(word.plain))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses", "zzes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def may_be_unit(word: str, plain: str, spaced: bool) -> bool:
    """Whether a word is a unit and not a product of variables: ``3cm`` and ``3 eggs``, not ``3xy`` or ``3 ab``."""
    if plain in "%°$€£¥₹¢" or plain[0] == "°" or plain in _SHORT_UNITS or plain in _SAME_UNITS:
        return True
    if not plain.isalpha():  # km/h, half-dollars
        parts = re.split(r"[./'-]+", plain)
        return len(parts) > 1 and all(
            part == "h" or (len(part) > 1 and may_be_unit(part, part, True)) for part in parts
        )
    if len(plain) == 1:
        return spaced and word in _LETTER_UNITS
    return spaced and len(plain) > 2 and any(vowel in plain for vowel in "aeiouy")
