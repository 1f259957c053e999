"""Units: which words behind a number are its unit, and when two units contradict each other."""

from __future__ import annotations

import re

_UNIT = re.compile(r"\s*(%|°\s?[CF]?|[$€£¥₹]|[A-Za-z][A-Za-z./'-]*)(?:\s*(?:\^|\*\*)\s*\{?\s*(\d)\s*\}?)?")

_SHORT_UNITS = {
    "cm", "mm", "km", "nm", "kg", "mg", "ml", "cl", "dl", "lb", "oz", "ft", "in", "mi", "yd", "mph", "kmh", "kph",
    "min", "ms", "hz", "am", "pm", "sq", "kw", "pcs", "gb", "mb", "kb", "bc", "ad",
}  # fmt: skip
# Letters that may stand for a unit when a space divides them from their number; all others are variables.
_LETTER_UNITS = frozenset("mgshLlNJWVKCF")
_NO_UNITS = {
    "or", "and", "to", "not", "pi", "sqrt", "e", "i", "x", "log", "ln", "sin", "cos", "tan", "cot", "sec",
    "csc", "exp", "mod", "inf", "infinity", "plus", "minus", "times", "over", "by", "into", "is", "are", "than",
    "equals", "between", "from", "either", "maybe", "perhaps", "but", "if", "frac", "cdot", "through",
    "divided", "approximately", "roughly", "probably", "possibly", "nearly", "almost", "about", "around",
    "factorial", "choose",
}  # fmt: skip
# "4 million", "4 thirds" and "4 point five" are other numbers than 4.
_NUMBER_WORDS = {
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty",
    "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million", "billion",
    "trillion", "half", "halves", "third", "thirds", "fourths", "fifth", "fifths", "sixth", "sixths", "seventh",
    "sevenths", "eighth", "eighths", "ninth", "ninths", "tenth", "tenths", "hundredth", "hundredths", "thousandth",
    "thousandths",
}  # fmt: skip
_SAME_UNITS = {
    **dict.fromkeys(("dollar", "dollars", "usd", "bucks"), "$"),
    **dict.fromkeys(("euro", "euros", "eur"), "€"),
    **dict.fromkeys(("pounds sterling", "gbp"), "£"),
    **dict.fromkeys(("percent", "pct", "percentage"), "%"),
    **dict.fromkeys(("degree", "degrees", "deg"), "°"),
    **dict.fromkeys(("meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("centimeter", "centimeters", "centimetre", "centimetres"), "cm"),
    **dict.fromkeys(("millimeter", "millimeters", "millimetre", "millimetres"), "mm"),
    **dict.fromkeys(("kilometer", "kilometers", "kilometre", "kilometres"), "km"),
    **dict.fromkeys(("gram", "grams"), "g"),
    **dict.fromkeys(("kilogram", "kilograms", "kgs"), "kg"),
    **dict.fromkeys(("second", "seconds", "sec", "secs"), "s"),
    **dict.fromkeys(("minute", "minutes", "mins"), "min"),
    **dict.fromkeys(("hour", "hours", "hr", "hrs"), "h"),
    **dict.fromkeys(("liter", "liters", "litre", "litres", "l"), "L"),
    **dict.fromkeys(("inch", "inches"), "in"),
    **dict.fromkeys(("foot", "feet"), "ft"),
    **dict.fromkeys(("mile", "miles"), "mi"),
    **dict.fromkeys(("yard", "yards", "yds"), "yd"),
    **dict.fromkeys(("pound", "pounds", "lbs"), "lb"),
    **dict.fromkeys(("ounce", "ounces"), "oz"),
}
_POWERS = {"square": 2, "squared": 2, "sq": 2, "cubic": 3, "cubed": 3}
_FILLERS = frozenset(("of", "per", "a", "the", "in", "total", "unit", "each", "every", "all", "altogether", "more"))


def same_unit(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether two units do not contradict each other: ``dollars`` and ``dollars per day`` do not, cm and m do."""
    mine, theirs = set(first), set(second)
    if not mine or not theirs:
        return True
    powers = {word for word in mine ^ theirs if word.startswith("^")}
    return not powers and (mine <= theirs or theirs <= mine)


def split_unit(text: str) -> tuple[str, tuple[str, ...]]:
    """A formula without its unit, and the unit: ``12\\pi cm`` is ``12\\pi`` and cm."""
    core, units = text.strip(), []
    if match := re.match(r"[$€£¥₹]\s*", core):
        units, core = [match.group().strip()], core[match.end() :]
    match = re.search(r"(?:\s*[%°]|\s+[A-Za-z]{2,}(?:\s[A-Za-z]{2,}){0,3}(?:\s*\^\s*\{?\s*\d\s*\}?)?)$", core)
    words = read_unit(core, match.start()) if match else None
    if match and words is not None and match.start() > 0:
        return core[: match.start()], (*units, *words)
    return core, tuple(units)


def read_unit(text: str, at: int) -> list[str] | None:
    """The words after a number, in one spelling; ``None`` if they are something else than a unit."""
    words: list[str] = []
    power, start = None, at
    while at < len(text):
        if text[at:].strip() in ("", "."):
            break
        match = _UNIT.match(text, at)
        if match is None or len(words) > 6:
            return None
        word, spaced = match[1].replace(" ", ""), text[at : at + 1] == " "
        plain = word.strip(".").lower()
        if plain in _NO_UNITS or plain in _NUMBER_WORDS or not may_be_unit(word, plain, spaced):
            return None
        if plain in ("squared", "cubed") and at == start:  # 4 squared is 16
            return None
        at = match.end()
        if plain in _POWERS:
            power = _POWERS[plain]
            continue
        if match[2]:
            power = int(match[2])
        if plain in _FILLERS or plain == "units":
            continue
        singular = plain[:-1] if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss") else plain
        words.append(_SAME_UNITS.get(plain, word if len(word) == 1 else singular))
    return [*words, f"^{power}"] if power else words


def may_be_unit(word: str, plain: str, spaced: bool) -> bool:
    """Whether a word is a unit and not a product of variables: ``3cm`` and ``3 eggs``, not ``3xy`` or ``3 ab``."""
    if plain in "%°$€£¥₹" or plain in _SHORT_UNITS or plain in _SAME_UNITS:
        return True
    if not plain.isalpha():  # km/h, half-dollars
        parts = re.split(r"[./'-]+", plain)
        return len(parts) > 1 and all(
            part == "h" or (len(part) > 1 and may_be_unit(part, part, True)) for part in parts
        )
    if len(plain) == 1:
        return spaced and word in _LETTER_UNITS
    return spaced and len(plain) > 2 and any(vowel in plain for vowel in "aeiouy")
