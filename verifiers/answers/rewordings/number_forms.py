"""Numbers and quantities.

In short and in full (``2,5 kg``, ``one hour and thirty minutes``, ``1:23:45``, ``a 40-foot container``; see
``short_forms``), below zero (``a decrease of 3.2%``, ``5 °C below zero``, ``($40.00)``), with a name (``m+n = 204``,
``No. 7``, ``a rating of 4.5``, ``6 feet tall``), in Roman numerals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..codes.spelling import plain
from ..quantities.conversion import are_whole_degrees, converted
from ..quantities.number import OverLimitError, read_number
from ..quantities.short_forms import in_full
from ..spelling.normal import normal
from ..spelling.spellings import spelled
from ..vocabulary.currencies import SIGN
from ..vocabulary.doubts import UNSURE
from ..vocabulary.number_words import ROMAN_DIGITS, roman_value
from .glosses import NO_GLOSS

_SUM_OF_NAMES = lazy_compile(  # m+n = 204, |a+b| = 1+4 = 5
    r"\$?(?:[a-z](?: ?\+ ?[a-z]){1,3}|\|[^|=<>\d]{1,20}\|)(?: ?=[\d +-]{3,40})? ?= ?(\S{1,20}?)\$?"
)
_COMPOUND = lazy_compile(
    r"an? ([a-z]+|\d[\d,.]*)-((?:year|month|week|day|hour|minute|second|foot|inch|mile|met(?:er|re)|gallon|pound"
    r"|degree|page)(?: [a-z]+)?)\.?",
    re.IGNORECASE,
)  # a two-year warranty
_NUMBERED = lazy_compile(r"(?:number|no\.|nr\.|#|\u2116) ?(\d{1,9})\.?", re.IGNORECASE)
_TIMER = lazy_compile(r"(\d{1,3}):([0-5]\d):([0-5]\d)")
_DECIMAL_COMMA = lazy_compile(r"(?=.*[^\d\s.,()\[\]{}-])[^\d.,]*(\d{1,9}),(\d\d?)[^\d.,]*\.?")  # 12,5 kg
_WITH_UNIT = lazy_compile(r"[^\d\s.,-]\s?\d|\d\s?[^\d\s.,]")
_IN_TWO_UNITS = lazy_compile(
    r"[a-z -]{3,40} (?:feet|foot|hours?|minutes?|pounds?|years?|weeks?),?(?: and)? [a-z -]{3,40}"
    r" (?:inch(?:es)?|minutes?|seconds?|ounces?|months?|days?)\.?",
    re.IGNORECASE,
)
_DECREASE = lazy_compile(
    rf"(?:(?:an?|the) )?(?:decrease|decline|drop|fall|reduction|loss) (?:of|by) (?={SIGN}?\.?\d)"
    rf"|down (?:by )?(?={SIGN}?\.?\d)",
    re.IGNORECASE,
)
_BELOW_ZERO = lazy_compile(r"(\d[^-]{0,20}?)\sbelow\szero(\s[a-z]{1,10})?", re.IGNORECASE)
_IN_BOOKKEEPING = lazy_compile(rf"\(({SIGN}\d[\d.,]*)\)")  # ($40.00)
_OXIDATION = lazy_compile(r"(?P<sign>[-+])(?P<roman>VIII|VII|VI|V|IV|III|II|I)|(?P<digit>[1-8])(?P<last>[-+])")
_TIME = lazy_compile(r"day|hour|week|\dh|\bh\b|\bmin")
_DAY = lazy_compile(r"(?<=[\d}] )d(?=\.?\Z| ?\^)")
_EQUAL_IN_BRACKETS = lazy_compile(
    r"(?P<number>[^()]{1,40}?) \((?:(?:about|approximately|i\.e\.|that is|or|=|\\approx),? ?)?"
    r"(?P<other>[^()]{1,40})\)\.?"
)
_WITH_GLOSS = lazy_compile(
    r"(?P<number>[^()\u2013\u2014]{1,40}?)"
    r"(?: \((?P<gloss>[^()]{3,80})\)"
    r"|(?: [\u2013\u2014-] |\u2014)(?P<clause>[A-Za-z]+ [A-Za-z]+ [^\u2013\u2014]{3,80}))\.?"
)
_WORD = lazy_compile(r"[A-Za-z]{3}")
_OPERATION = lazy_compile(r"\d ?(?:[-+*/\u00d7\u00b7]|\\times|\\cdot) ?\$?\d")
_BITS = lazy_compile(r"[01]{4,64}")
_BITS_IN_GROUPS = lazy_compile(r"(?:0b)?(\(?)([01]{1,16}(?:[ _,]?[01]{3,16}){0,15})(?(1)\)?)(?:_\{?2\}?)?")
_OF_MEASURE = lazy_compile(
    r"(?:an? |the )?(?:rating|height|length|width|depth|weight|mass|price|cost|value|area|volume|speed|temperature"
    r"|distance|score|capacity|duration|population|radius|diameter|age|size) of (?=\d)",
    re.IGNORECASE,
)
_DIMENSION = lazy_compile(r"(?<=[a-z\"'] )(?:tall|long|wide|high|deep|thick|in (?:height|length|width|depth))\.?\Z")
_OTHER_FORM = lazy_compile(
    r":\*{0,2} | (?:is|are|was|were) |\]\(|\\(?:text|mathrm|mbox)|\A\W{0,3}[MDCLXVI]{2,}\W{0,3}\Z"
    r"|\A\d[\d.]*(?:k|K|M|B|mil|mn|bn)\Z|\A(?:#|[Nn](?:o|r|umber)\b)|\A[A-Z]{3,} \d"
    r"|\A\$?(?:[a-z](?: ?\+ ?[a-z])+|\|[^|\d]+\|) ?=|\A\([A-J]\)"
    r"|\A\$?\+\W{0,2}(?:(?:text|mathrm)\{)?[IV]|\A0b[01]|\A[01]{3,}(?:[ _]|\\[,; ])"
    r"|[\d\w] \(|[\u2013\u2014]| - [a-z]"  # a remark
    r"|\A\$?\\[a-zA-Z].*=|\A\$?[A-Za-z_]{1,6} ?[(\[\\].*="  # what was asked for
)
"""What a rule of this package may read in an answer that differs from a gold answer of digits."""
_ROMAN = lazy_compile(r"(?=..)M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_NO_NUMERALS = frozenset("CC CD CM CV DC DM MC MD MI MIX MM XL".split())  # noqa: SIM905


def other_numbers(gold: str, answer: str) -> Iterator[str]:
    """A number in another form: ``40 foot container`` for ``a 40-foot container``, ``2.5 kg`` for ``2,5 kg``."""
    yield from in_full(gold, answer)
    if len(answer) < 30 and (state := _OXIDATION.fullmatch(plain(answer))) and (state["roman"] or gold.startswith("-")):
        yield (state["sign"] or state["last"]) + (state["digit"] or str(roman_value(state["roman"])))
    if answer.rstrip(" .$").endswith(")"):
        yield from _without_equal(answer)
    if number := without_remark(answer):
        yield number
    if "d" in answer and _TIME.search(gold):
        yield _DAY.sub("day", normal(answer))
    if "=" in answer and gold[-1:].isdigit() and (total := _SUM_OF_NAMES.fullmatch(answer)):
        yield total[1]
    if answer[:1] in "aA" and (compound := _COMPOUND.fullmatch(answer)):
        yield f"{compound[1]} {compound[2]}"
    if gold.isdecimal() and (numbered := _NUMBERED.fullmatch(answer)):
        yield numbered[1]
    if answer.count(":") == 2 and gold[-1:].isalpha() and (timer := _TIMER.fullmatch(answer.rstrip("."))):
        yield f"{timer[1]} h {timer[2]} min {timer[3]} s"
    if "," in answer and _DECIMAL_COMMA.fullmatch(answer) and _WITH_UNIT.search(gold):
        yield answer.replace(",", ".")
    if answer[:1].isalpha() and _IN_TWO_UNITS.fullmatch(answer):
        yield spelled(answer)
    if gold.lstrip("$ \\").startswith(("-", "\u2212", "\u2013", "minus")):
        yield from _below_zero(answer)
    if " of " in answer and (measure := _OF_MEASURE.match(answer)):
        yield answer[measure.end() :]
    if (dimension := _DIMENSION.search(answer)) and not _DIMENSION.search(gold):
        yield answer[: dimension.start()].rstrip()


def _without_equal(answer: str) -> Iterator[str]:
    """``298 K`` of ``298 K (25 °C)``, ``1/2`` of ``1/2 (50%)``: a quantity without an equal one in brackets."""
    match = _EQUAL_IN_BRACKETS.fullmatch(normal(answer))
    if match is None:
        return
    try:
        one, other = read_number(match["number"]), read_number(match["other"])
    except OverLimitError:
        return
    if one is None or other is None:
        return
    same = one.value == other.value and (one.unit == other.unit or not other.unit)
    if not same and one.unit and other.unit:
        in_unit = converted(other, one.unit)
        same = are_whole_degrees(one, other) or (in_unit is not None and in_unit.value == one.value)
    elif not same and other.unit == (("%", 1),):
        same = not one.unit and one.value * 100 == other.value
    if same:
        yield match["number"]


def without_remark(answer: str) -> str | None:
    """``$18`` of ``$18 (9 eggs at $2 each)`` and ``$18 — she sells nine eggs``, unless it doubts or is a value."""
    match = _WITH_GLOSS.fullmatch(answer)
    remark = match and (match["gloss"] or match["clause"])
    if match is None or not remark or UNSURE.search(remark) or NO_GLOSS.search(remark.replace(",", "")):
        return None
    try:
        is_number = read_number(normal(match["number"])) is not None
        is_value = read_number(normal(remark)) is not None and not _OPERATION.search(remark)
    except OverLimitError:
        return None
    is_remark = _WORD.search(remark) or _OPERATION.search(remark)
    return match["number"] if is_number and is_remark and not is_value else None


def _below_zero(answer: str) -> Iterator[str]:
    """``-3.2%`` of ``a decrease of 3.2%``, ``-5 °C`` of ``5 °C below zero``, ``-$40.00`` of ``($40.00)``."""
    if match := _DECREASE.match(answer):
        yield f"-{answer[match.end() :]}"
    if match := _BELOW_ZERO.fullmatch(answer.rstrip(".")):
        yield f"-{match[1]}{match[2] or ''}"
    if match := _in_bookkeeping(answer):
        yield f"-{match[1]}"


def is_below_zero(answer: str) -> bool:
    """Whether an answer is an amount of money in brackets, as bookkeepers write a negative one."""
    return _in_bookkeeping(answer) is not None


def _in_bookkeeping(answer: str) -> re.Match[str] | None:
    if "(" not in answer:
        return None
    return _IN_BOOKKEEPING.fullmatch(answer.replace("{,}", ",").replace("\\$", "$").strip("$ "))


def in_bits(gold: str, answer: str) -> Iterator[str]:
    """``11110000`` of ``1111 0000``, ``0b11110000`` and ``(1111 0000)_2``, and the other way round."""
    if not (bits := _BITS_IN_GROUPS.fullmatch(plain(answer))) or gold[:1] not in "01(":
        return
    of_gold = _BITS_IN_GROUPS.fullmatch(plain(gold))
    digits, digits_of_gold = (re.sub("[ _,]", "", match[2]) if match else "" for match in (bits, of_gold))
    if _BITS.fullmatch(digits) and digits == digits_of_gold:
        yield gold


def may_have_other_form(answer: str) -> bool:
    """Whether an answer that is not a gold answer of digits may be it in another form."""
    return not answer.isdecimal() and _OTHER_FORM.search(answer) is not None


def same_numeral(one: str, other: str) -> bool:
    """Whether one of two texts is the Roman numeral, in capitals, of the number that the other one is."""
    roman, digits = (one, other) if one[:1] in ROMAN_DIGITS else (other, one)
    if roman[:1] not in ROMAN_DIGITS:
        return False
    roman, digits = roman.strip(" .\n"), digits.strip(" .\n")
    if not (digits.isdecimal() and digits.isascii() and len(digits) < 5 and _ROMAN.fullmatch(roman)):
        return False
    return roman not in _NO_NUMERALS and digits == str(roman_value(roman))
