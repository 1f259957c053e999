"""Units: which words after a number are its unit, and when two units contradict each other.

A unit is a set of words with exponents: ``cm^2``, ``sq cm`` and ``square centimetres`` are the same, ``mph`` is miles
times hours to the power of minus one. ``conversion`` compares quantities in different units.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from grpo_env.lazy_regex import lazy_compile

from .currencies import SIGN, SIGNS, UNITS
from .unit_names import (
    COMPOUNDS,
    FUNCTION,
    LETTERS,
    MEASURES,
    NAMES,
    NO_UNITS,
    NUMBER_WORDS,
    ORDINALS,
    PRODUCT,
    SYMBOLS,
)

Unit: TypeAlias = tuple[tuple[str, int], ...]  # words in one spelling, each with its exponent, sorted

PERCENT = ("%", 1)
MAX_WORDS = 8
MAX_MEASURE = 4  # words

_POWER = r"(?:\s*(?:\^|\*\*)\s*(?:\{\s*(-?\d)\s*\}|(-?\d)))?"
_FIRST = r"(?-i:[A-Za-z\u00c0-\u00c4\u00c6-\u024f\u0400-\u04ff\u1e00-\u1eff])"
_UNIT = lazy_compile(
    rf"\s*(?:\\cdot\s*|\*\s*|,\s*(?=per\b))?"
    r"(%|per\s+cent\b|'{1,2}(?!['A-Za-z])|\""
    rf"|°\s?[CF]?(?![A-Za-z])|[{SIGNS}¢]"
    r"|/|\\text\{([A-Za-z])\}|(?:[kMGm]\s?)?\\Omega|\\AA|\\mu ?[A-Za-z]+"
    rf"|{_FIRST}(?-i:[A-Za-z.'\u00c0-\u024f\u0400-\u04ff\u1e00-\u1eff-])*){_POWER}",
    re.IGNORECASE,
)
# What may be the unit at the end of a formula: a sign, or words of at least two letters, or a letter marked as text.
_TAIL = lazy_compile(
    r"(?:\s*[%°]|\s*\\text\{[A-Za-z]\}(?:/[A-Za-z]+)?|\s+[A-Za-z]{2,}\.?(?:(?:\s|\s?/\s?)[A-Za-z]{2,}\.?|/[A-Za-z]){0,4}"
    rf"|\s+[A-Za-z]+/[A-Za-z]+){_POWER}$"
)
# A letter after a number, and its exponent: a unit, or a variable.
_LONE_LETTER = lazy_compile(r"(\s?)([A-Za-z])(\s*(?:\^|\*\*)\s*(?:-?\d|\{\s*-?\d\s*\}))?")
_TWO_LETTERS = lazy_compile(r"([A-Za-z]{2})(\s?(?:\^|\*\*)\s?(?:\d|\{\s*\d\s*\}))?")
_BRACKETED = lazy_compile(r"([^()\[\]]*)[(\[]([^()\[\]]*)[)\]]([^()\[\]]*)")
_QUOTIENT = lazy_compile(r"\\frac\s*\{((?:[^{}]|\{-?\d\})*)\}\s*\{((?:[^{}]|\{-?\d\})*)\}")
_SIGN = lazy_compile(rf"({SIGN})\s*")
_MONEY = frozenset(UNITS.values())
_COMMAND = lazy_compile(r"\\[A-Za-z]+")
# cm2, and s-1 after another unit
_INLINE_POWER = lazy_compile(
    r"((?<![A-Za-z\\])(?:[cdkm]m|ft|in|mi)(?=[23](?!\d))|(?<=[A-Za-z1-4]\s)[A-Za-z](?=-[1-4](?!\d))|mol(?=-1(?!\d)))"
)
_LONG_NAMES = {"nautical mile": "nmi", "electron volt": "eV", "fluid ounce": "floz", "light year": "light-year"}
_LONG_NAME = lazy_compile(rf"\b({'|'.join(map(re.escape, _LONG_NAMES))})s?\b\.?", re.IGNORECASE)
_HYPHENATED = lazy_compile(r"-\s?(?=[A-Za-z]{3}|(?:cm|mm|km|kg|ft|in|lb|oz)\b)")

_RAISED = {"square": 2, "squared": 2, "sq": 2, "cubic": 3, "cubed": 3, "cu": 3}
_BEFORE = frozenset(("square", "sq", "cubic", "cu"))
_PER = frozenset(("per", "/", "a", "an", "each", "every"))
_FILLERS = frozenset("of a an the in total each every all altogether us only".split())  # noqa: SIM905
_UNITS = frozenset(("unit", "units"))
_CONTAINERS = frozenset("pair dozen box pack packet bag set bottle case bunch group row stack slice".split())  # noqa: SIM905
_CHANGES = frozenset("business surcharge discount off more less extra fewer ago later below above".split())  # noqa: SIM905
_ACRONYM = lazy_compile(r"[A-Z]{2,}s")  # 12 CDs
_FACTOR = lazy_compile(r"(?:per\s?cent|hundred|thousand|million|billion|trillion|dozen)(?![a-z])|\\?%")
_AFTER_UNIT = lazy_compile(r"[,;:!?)$]|\.(?:\s|$)")
_NO_MEASURES = frozenset("in as at am pm an on".split())  # noqa: SIM905  (words, right behind a value)
_SIZES = frozenset(("long", "wide", "tall", "high", "deep", "thick", "apart"))  # 5 in long: inches


def same_unit(first: Unit, second: Unit) -> bool:
    """Whether two units do not contradict each other: ``dollars`` and ``dollars per day`` do not, cm and m do."""
    if not first or not second or first == second:
        return True
    one, other = dict(first), dict(second)
    only_one, only_other, common = one.items() - other.items(), other.items() - one.items(), one.items() & other.items()
    if (only_one and only_other) or not common:
        return False
    shared = {word for word, _ in common}
    more = only_one | only_other
    if any(word in _CONTAINERS or word in _CHANGES for word, _ in more):  # 5 boxes of pens are not 5 pens
        return False
    # Leaving out a measure is a contradiction (5 m/s is not 5 m), leaving out counted things is not (5 eggs a day).
    return not any(_is_unit(word, power) and (power > 0 or shared & (MEASURES | SYMBOLS)) for word, power in more)


def _is_unit(word: str, power: int) -> bool:
    """Whether a word of a unit is a measure; a C may only be what is left of 20 °C, but not in N/C."""
    return word in MEASURES or word in SYMBOLS or (power < 0 and word in LETTERS)


def split_unit(text: str) -> tuple[str, Unit]:
    """A formula without its unit, and the unit: ``12\\pi cm`` is ``12\\pi`` and cm."""
    core, sign = text.strip(), ""
    if match := _SIGN.match(core):
        sign, core = NAMES[match[1].lower()], core[match.end() :]
    match = _TAIL.search(core)
    unit = read_unit(core, match.start()) if match else None
    if match and unit is not None and match.start() > 0:  # of "12 pi units" there is nothing to compare
        return core[: match.start()], joined(sign, unit)
    return core, joined(sign, ())


def joined(sign: str, unit: Unit) -> Unit:
    """A unit together with the currency sign that stood before the number."""
    return tuple(sorted({**dict(unit), sign: 1}.items())) if sign else unit


def may_be_variable(text: str, at: int, value: Fraction) -> bool:
    r"""Whether the unit that the rest of a text is may also be a variable, so that it cannot be left out.

    That is a letter with an exponent (``3a^2``), one right after a whole number if it is no usual unit (``3m``), and
    one after a negative whole number if its unit measures what is not negative (``-3 m``); and a prefix and a unit
    right after a fraction (``\frac{3}{2}mg``) or with an exponent (``3kA^2``).
    """
    if (pair := _TWO_LETTERS.fullmatch(text, at)) and (pair[1] in SYMBOLS or pair[1] == "mg"):
        return pair[2] is not None or text[at - 1 : at] == "}"
    match = _LONE_LETTER.fullmatch(text, at)
    if match is None or match[3] is not None:
        return match is not None
    glued = not match[1] and match[2] not in "NJWVL"
    return value.denominator == 1 and (glued or (value < 0 and match[2] in "mgshL"))


def read_unit(text: str, at: int) -> Unit | None:
    """The unit that the rest of a text is, ``()`` for no words at all; ``None`` if it is something else."""
    if at == len(text):
        return ()
    text = text[at:]
    if "\\frac" in text:
        text = _QUOTIENT.sub(r" \1/(\2)", text)
    if any(character.isdigit() for character in text):
        text = _INLINE_POWER.sub(r"\1^", text)
    if " " in text.strip():
        text = _LONG_NAME.sub(lambda match: _LONG_NAMES[match[1].lower()], text)
    if "(" in text or "[" in text:
        return _bracketed_unit(text)
    if hyphen := _HYPHENATED.match(text):
        text = " " + text[hyphen.end() :].replace("-old", " old")
    words = _unit_words(text)
    unit = _product(words) if words is not None else None
    return None if unit is None else tuple(sorted(unit.items()))


def _bracketed_unit(text: str) -> Unit | None:
    """The unit in ``9 (apples)``, ``5 cm (centimeters)`` and ``5 J/(kg K)``."""
    match = _BRACKETED.fullmatch(text)
    if match is None or not match[2].strip():
        return None
    before, inner, after = match[1], match[2].strip(), match[3]
    if before.rstrip().endswith("/"):
        return read_unit(before + inner + after, 0) if not after.strip() else None
    if len(inner) == 1 and (not before or inner.isupper()):  # 3(m), 18 (C)
        return None
    outside, inside = read_unit(f"{before} {after}", 0), read_unit(" " + inner, 0)
    if outside is None or inside is None:
        return None
    return tuple(sorted((dict(inside) | dict(outside)).items()))


class _Word(NamedTuple):
    """A word that may belong to a unit. ``plain`` is its lower case; ``spaced`` if it cannot be a variable."""

    text: str
    plain: str
    power: int | None
    spaced: bool


def _unit_words(text: str) -> list[_Word] | None:
    """A text as words of a unit; ``None`` if it has other parts or too many words."""
    words: list[_Word] = []
    at = 0
    while text[at:].strip() not in ("", "."):
        match = _UNIT.match(text, at)
        if match is None or len(words) == MAX_WORDS:
            return None
        word = match[2] or match[1].replace(" ", "").replace("\\mu", "u").replace("\\Omega", "ohm").replace(
            "\\AA", "angstrom"
        )
        spaced = match[2] is not None or text[at] == " "
        power = match[3] or match[4]
        words.append(_Word(word, word.strip(".").lower(), int(power) if power else None, spaced))
        at = match.end()
    return words


def _product(words: list[_Word]) -> dict[str, int] | None:
    """The words of a unit with their exponents."""
    unit: dict[str, int] = {}
    sign, raised = 1, 1  # of the words to come: -1 after "per", 2 after "square"
    expected = False  # whether the next word must be a unit
    for previous, word, following in zip([None, *words], words, [*words[1:], None], strict=False):
        is_of_a = previous is not None and previous.plain == "of" and word.plain in ("a", "an")  # 3/4 of a cup
        if word.power is None and not is_of_a and _is_per(word, following, bool(unit)):
            sign, expected = -1, True
            continue
        if word.power is None and _is_filler(word, following, bool(unit), expected):
            continue
        expected = word.plain in _BEFORE
        if _are_variables(previous, word):
            return None
        if not _in_unit(word, following, word.spaced or sign < 0):
            return None
        if word.plain in _BEFORE and following:
            raised = _RAISED[word.plain]
        elif word.plain in _RAISED:
            if not unit:  # 4 squared is 16
                return None
            unit[next(reversed(unit))] *= _RAISED[word.plain]
        else:
            power = sign * raised * (1 if word.power is None else word.power)
            for name, exponent in _factors(word).items():
                unit[name] = unit.get(name, 0) + power * exponent
            raised = 1
    for name in ("unit", "AD"):  # they say nothing
        if unit.get(name) == 1:
            del unit[name]
    return unit


def _are_variables(previous: _Word | None, word: _Word) -> bool:
    """Whether two words are a product of variables: ``3 g h``, not ``3 N m`` or ``3 m s^-1``."""
    return previous is not None and all(
        len(part.text) == 1 and part.text.islower() and part.power is None for part in (previous, word)
    )


def _is_per(word: _Word, following: _Word | None, after_unit: bool) -> bool:
    """Whether a word means per: ``5 km/h``, ``5 dollars a day``, ``5 a day``."""
    if word.plain not in _PER or (following is None and word.plain in ("per", "/")):
        return False
    if not after_unit:  # 5/day, not 5/m
        return word.plain in ("per", "/", "a", "an") and following is not None and len(following.plain) > 2
    return word.plain not in ("a", "an") or (following is not None and len(following.plain) > 1)


def _is_filler(word: _Word, following: _Word | None, after_unit: bool, expects_unit: bool) -> bool:
    """Whether a word may be skipped, such as ``in total`` and ``of the``."""
    if word.plain not in _FILLERS or not word.spaced:
        return False
    if word.plain == "in":
        return not expects_unit and (following.plain not in _SIZES if following else after_unit)
    return word.plain not in ("a", "an") or (following is not None and len(following.plain) > 1)


def _in_unit(word: _Word, following: _Word | None, spaced: bool) -> bool:
    """Whether a word may be part of a unit where it stands."""
    if word.plain in NO_UNITS or word.plain in NUMBER_WORDS:
        return word.plain in ORDINALS and following is not None
    if len(word.plain) == 1 and word.plain.isalpha():
        return word.text in LETTERS
    if word.text in SYMBOLS or word.text in COMPOUNDS or word.plain in COMPOUNDS:
        return True
    if word.plain in _UNITS or word.plain in NAMES or word.text in NAMES:
        return True
    if word.plain[0] in "°'\"":
        return True
    if word.power is not None:  # 3 abc^2
        return False
    if _ACRONYM.fullmatch(word.text):
        return True
    return may_be_unit(word.text, word.plain, spaced or _is_glued_word(word))


def _is_glued_word(word: _Word) -> bool:
    """Whether a word right after a number is no product or function: ``10weeks``, not ``10sinx``."""
    return len(word.plain) > 3 and not word.text.isupper() and not FUNCTION.fullmatch(word.plain)


def _factors(word: _Word) -> dict[str, int]:
    """The unit that a word is: for most only its name, for speeds and degrees several with exponents."""
    if word.text in COMPOUNDS or word.plain in COMPOUNDS:
        return COMPOUNDS.get(word.text) or COMPOUNDS[word.plain]
    if word.text[0] in "'\"":
        return {"'" if word.text == "'" else '"': 1}
    if word.text[0] == "°":
        return {"°": 1} | ({word.text[-1].upper(): 1} if word.text[-1] in "CFcf" else {})
    if word.plain in _UNITS:
        return {"unit": 1}
    if len(word.text) == 1:
        return {LETTERS.get(word.text, word.text): 1}
    if word.text in SYMBOLS:
        return {word.text: 1}
    return {NAMES.get(word.text) or NAMES.get(word.plain) or _singular(word.plain): 1}


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses", "zzes", "oes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def may_be_unit(word: str, plain: str, spaced: bool) -> bool:
    """Whether a word is a unit and not a product of variables: ``3cm`` and ``3 eggs``, not ``3xy`` or ``3 ab``."""
    if plain in NAMES or word in NAMES or plain in COMPOUNDS or plain[0] == "°":
        return True
    if not plain.isalpha():
        return _are_units(plain, spaced)
    if len(plain) == 1:
        return spaced and word in LETTERS
    return (
        spaced
        and len(plain) > 2
        and (any(vowel in plain for vowel in "aeiouy") or not plain.isascii())
        and not PRODUCT.fullmatch(word)
    )


def _are_units(plain: str, spaced: bool) -> bool:
    """Whether a word is units with signs between them: ``km/h``, ``half-dollars``, ``t-shirts``."""
    parts = re.split(r"[./'-]+", plain)
    if spaced and len(parts) == 2 and "-" in plain and any(map(_is_word, parts)):
        return True
    return len(parts) > 1 and all(part == "h" or (len(part) > 1 and may_be_unit(part, part, True)) for part in parts)


def _is_word(part: str) -> bool:
    return len(part) > 2 and part not in NO_UNITS and part not in NUMBER_WORDS and may_be_unit(part, part, True)


def is_measure(name: str) -> bool:
    """Whether a name of a unit is surely one: ``kg`` and ``mW``, not ``apple``."""
    return name in MEASURES or name in SYMBOLS or name in LETTERS.values() or name in ("°", "%", "¢") or name in _MONEY


def measure_at_start(text: str) -> str | None:
    """The unit of measure that a text begins with, in words that can be nothing else: ``km``, ``square meters``.

    A small letter is one if the text ends there, and m, g and h are where it goes on.
    """
    words = _AFTER_UNIT.split(text.lstrip(" \\,;:~"), maxsplit=1)[0].split()[:MAX_MEASURE]
    for count in range(len(words), 0, -1):
        unit = " ".join(words[:count])
        if unit in _NO_MEASURES or (len(unit) == 1 and unit not in "mgh" and unit.islower() and len(words) > 1):
            continue
        names = read_unit(f" {unit}", 0)
        if names and all(is_measure(name) for name, _ in names):
            return unit
    return None


def factor_at_start(text: str) -> str | None:
    """What a number is multiplied by that a text begins with: ``percent``, ``million``."""
    match = _FACTOR.match(text)
    return match and match[0]
