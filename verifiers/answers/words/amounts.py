"""Amounts in texts of a fixed form: ``10-15 kg``, ``an increase of 8%``, ``2-2 draw``, ``2019/20``, sizes of clothes.

Each function reads one form, and returns ``None`` for any other text. Texts are in the spelling of ``codes.plain``.
"""

from __future__ import annotations

import re
from fractions import Fraction

from grpo_env.lazy_regex import lazy_compile

from ..quantities.units import is_measure, read_unit
from ..spelling.spellings import spelled
from ..times.dates import read_dates
from ..vocabulary.currencies import SIGN, SIGNS

MAX_BOUND = 60  # characters
MAX_LENGTH = 80

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,12}(?:\.\d{1,12})?"
_UNIT = rf"[A-Za-z\u00c0-\u024f%\u00b0{SIGNS}][A-Za-z\u00c0-\u024f%\u00b0/^. 23]{{0,30}}"
_RANGE = lazy_compile(
    rf"(?:from |(?P<between>between ))?(?P<low_sign>(?:{SIGN})?)(?P<low>{_NUMBER}) ?(?P<low_unit>(?:{_UNIT})??)"
    r" ?(?:--?|\b(?:to|until|till|through)|(?(between)\band|(?!))) ?"
    rf"(?P<sign>(?:{SIGN})?)(?P<high>{_NUMBER})[ -]?(?P<unit>(?:{_UNIT})?)"
)
_IN_DAYS = lazy_compile(rf"(?P<number>{_NUMBER}) (?P<unit>d|days?|h|hours?)")
_BARE_RANGE = lazy_compile(r"\d[\d.,]* ?(?:-|\u2013|to) ?\d[\d.,]*")
_AGED = lazy_compile(
    r"(?:(?:people )?age[sd]? |the age group )(?P<range>\S+ ?\S* ?\S+?)(?: years(?: old)?)?"
    r"|(?P<group>\S+ ?\S* ?\S+?)(?: years old| age group)",
    re.IGNORECASE,
)
_CHANGE = lazy_compile(
    r"(?:an? )?(?:(?P<noun>[a-z]{2,9}) (?:of |by )?)?(?P<number>\d{1,12}(?:\.\d{1,12})?) ?(?:%|per ?cent)"
    r"(?: (?P<last>[a-z]{2,9}))?",
    re.IGNORECASE,
)
_DIRECTIONS = dict.fromkeys(("increase", "increased", "rise", "rose", "up", "higher"), "+") | dict.fromkeys(
    ("decrease", "decreased", "drop", "dropped", "decline", "declined", "fall", "fell", "reduction", "down", "lower"),
    "-",
)
_DRAW = lazy_compile(
    r"(?P<before>an? |draw |tie )?(?P<one>\d{1,3}) ?(?P<mark>[-:]) ?(?P<other>\d{1,3})"
    r"(?: \(?(?P<last>draw|tie|tied)\)?)?"
)
_YEARS = lazy_compile(
    r"(?:the )?([12]\d)(\d\d)(?: ?[-/] ?| to )(?:([12]\d))?(\d\d)(?: (season|[a-z]{3,9} year))?", re.IGNORECASE
)
_YEAR_SPAN = lazy_compile(
    r"(?:from |(?P<between>between ))?(?P<first>[12]\d{3}) ?(?:-|to|until|till|through|(?(between)and|to))"
    r" ?(?P<century>[12]\d)?(?P<last>\d\d)"
)
_RESULT = lazy_compile(
    r"(?:(?:a )?(?P<won>(?:won|win|victory)(?: by)?) )?(?P<one>\d{1,3}) ?(?:(?:-|to) ?(?P<other>\d{1,3}|nil)| nil"
    r"|(?P<all>all))(?: (?P<last>win|victory))?"
)
_POINTS = lazy_compile(
    r"(?:by )?(?P<number>[-+]?\d{1,9}(?:\.\d{1,9})?)[ -]?(?:(?P<basis>basis points?|bps?)"
    r"|percentage points?|%[ -]points?|percent points?|pp|p\.p)\.?",
    re.IGNORECASE,
)
_SIDE_OF_VARIANCE = r"unfavou?rable|favou?rable|adverse"
_VARIANCE = lazy_compile(
    rf"(?:an? )?(?:(?P<before>{_SIDE_OF_VARIANCE})(?: variance)?(?:,|:| of| by)? )?"
    rf"(?P<amount>(?:\$|£|€) ?(?:{_NUMBER})|\d{{1,3}}(?:,\d{{3}})+|\d{{4,9}})"
    rf"(?(before)|,? ?\(?(?P<behind>(?-i:U|F)|{_SIDE_OF_VARIANCE})(?: variance)?\)?)",
    re.IGNORECASE,
)
_BOUNDS = {
    "at most": "<=", "no more than": "<=", "not more than": "<=", "a maximum of": "<=", "maximum of": "<=",
    "up to": "<=", "max.": "<=", "max": "<=", "maximum": "<=", "min.": ">=", "min": ">=", "minimum": ">=",
    "at least": ">=", "no less than": ">=", "not less than": ">=", "no fewer than": ">=", "a minimum of": ">=",
    "minimum of": ">=", "more than": ">", "greater than": ">", "over": ">", "above": ">", "less than": "<",
    "fewer than": "<", "under": "<", "below": "<",
}  # fmt: skip
_BOUNDS_BEHIND = {
    "more": ">=", "over": ">=", "above": ">=", "older": ">=", "less": "<=", "fewer": "<=", "under": "<=", "below": "<=",
    "younger": "<=",
}  # fmt: skip
_BOUND = lazy_compile(
    rf"(?:(?P<before>{'|'.join(_BOUNDS)}) |(?P<sign>[<>]=?|[≤≥]) ?)?(?P<number>(?:{SIGN})?(?:{_NUMBER}))(?P<plus>\+)?"
    r"(?P<unit>(?: ?%| [a-z]{2,20}){0,3}?)"
    rf"(?: ?,? (?:or|and) (?P<behind>{'|'.join(_BOUNDS_BEHIND)}))?(?P<rest>(?: [a-z]{{2,20}}){{0,2}})",
    re.IGNORECASE,
)
_AGE_BOUND = lazy_compile(
    r"(?:(?:those|people|individuals|persons|residents|children) )?(?P<before>under|below|over|above)"
    r" (?P<of>the age of )?(?P<number>\d{1,3})(?(of)| years(?: old| of age))",
    re.IGNORECASE,
)
_REMAINDER = lazy_compile(
    r"(\d{1,12}),? ?(?:with |and )?(?:a )?(?:r|rem|remainder)\.? ?(?:of )?(\d{1,12})", re.IGNORECASE
)
_TIMER = lazy_compile(r"(\d{1,3}):([0-5]\d):([0-5]\d)(?: \(h{1,2}:mm:ss\))?", re.IGNORECASE)
_SPELLED = lazy_compile(
    r"(?=.*\d.*\d)(?:(\d{1,3}) ?(?:h|hr|hrs|hours?))?(?:(?:\A|,? (?:and )?)(\d{1,2}) ?(?:m|min|mins|minutes?))?"
    r"(?:,? (?:and )?(\d{1,2}) ?(?:s|sec|secs|seconds?))?",
    re.IGNORECASE,
)
_SHOES = lazy_compile(
    r"(?:(?:shoe )?size )?(?:(EU(?=ropean\b)?|US|UK)(?:(?<=EU)ropean)?(?: size)? ?(\d{1,2}(?:\.5)?)"
    r"|(\d{1,2}(?:\.5)?) ?(?:(EU|US|UK)|\((EU|US|UK)\)))",
    re.IGNORECASE,
)
_CLOTHES = lazy_compile(
    r"(?:size )?(?:(?P<x>X{1,4})(?P<letter>[SL])|(?P<count>[2-4])X(?P<last>[SL])"
    r"|(?P<extra>(?:double[ -])?(?:(?:extra|x)[ -]){1,4})(?P<word>small|large))(?: size)?"
    r"|size (?P<plain>S|M|L|small|medium|large)|(?P<named>small|medium|large)(?: size)?",
    re.IGNORECASE,
)

_BY = lazy_compile(r" ?(?:x|·|\*) ?|[ -]by[ -]", re.IGNORECASE)
_SIDE = lazy_compile(r"(?P<number>\d{1,9}(?:\.\d{1,9})?)[ -]?(?P<unit>[A-Za-z]{1,12}\.?|'{1,2}|\"|)")
_MARKS = {"'": "ft", '"': "in", "''": "in"}


def _range(text: str) -> str | None:
    """``10-15 kg``, ``10 to 15 kilograms``, ``between 10 and 15 kg``, ``$5-10``; also in words."""
    if len(text) > MAX_LENGTH or not ("-" in text or " " in text):
        return None
    match = _RANGE.fullmatch(text if any(map(str.isdigit, text)) else spelled(text))
    if match is None:
        return None
    sign = match["sign"] or match["low_sign"]
    low_unit, unit = (read_unit(f"{mark}{' ' * (not mark)}{match[name].strip()}", 0)
                      for name, mark in (("low_unit", match["low_sign"]), ("unit", sign)))  # fmt: skip
    if not unit or (low_unit and low_unit != unit) or low_unit is None:
        return None
    if not all(is_measure(name) or name == "business" for name, _ in unit):  # business days
        return None
    return f"{match['low'].replace(',', '')}-{match['high'].replace(',', '')} {unit}"


def bare_range(gold: str, answer: str) -> str | None:
    """``9-11`` for ``9 to 11 mm``, ``ages 25 to 44`` for ``25 to 44``, where the gold answer has no unit."""
    if not _BARE_RANGE.fullmatch(gold):
        return None
    aged = _AGED.fullmatch(answer.rstrip("."))
    match = _RANGE.fullmatch((aged["range"] or aged["group"]) if aged else answer.rstrip("."))
    if match is None or match["sign"] or match["low_sign"]:
        return None
    unit = None if aged else read_unit(f" {match['unit'].strip()}", 0)
    is_range = float(match["low"].replace(",", "")) < float(match["high"].replace(",", ""))
    if not is_range or not (aged or (unit and all(is_measure(name) for name, _ in unit))):
        return None
    return f"{match['low']}-{match['high']}"


def points(text: str) -> str | None:
    """``25 basis points``, ``25 bps`` and 0.25 percentage points."""
    match = _POINTS.fullmatch(text)
    return str(Fraction(match["number"]) / (100 if match["basis"] else 1)) if match else None


def change(text: str) -> str | None:
    """``increase of 8%``, ``an 8 percent increase``."""
    match = _CHANGE.fullmatch(text) if "rease" in text or "%" in text or "cent" in text else None
    if match is None or bool(match["noun"]) == bool(match["last"]):
        return None
    direction = _DIRECTIONS.get((match["noun"] or match["last"]).lower())
    return direction and f"{direction}{match['number']}%"


def _draw(text: str) -> str | None:
    """``2-2`` and ``2-2 draw``."""
    match = _DRAW.fullmatch(text)
    is_named = match is not None and (match["before"] or match["last"] or match["mark"] == ":")
    if match is None or (is_named and match["one"] != match["other"]):
        return None
    if (match["before"] or "").startswith("a") and not match["last"]:
        return None
    return f"{match['one']}-{match['other']}"


def _years(text: str) -> str | None:
    """``2019-2020``, ``2019/20``: a year and the next one."""
    match = _YEARS.fullmatch(text)
    if match is None:
        return None
    first = int(match[1] + match[2])
    is_next = (first + 1) % 100 == int(match[4]) and (match[3] is None or int(match[3] + match[4]) == first + 1)
    return str(first) if is_next else None


def _span_of_years(text: str) -> str | None:
    """``1914-1918`` and ``1914-18``."""
    match = _YEAR_SPAN.fullmatch(text)
    if match is None or (not match["century"] and match["last"] <= match["first"][2:]):
        return None
    return f"{match['first']}-{match['century'] or match['first'][:2]}{match['last']}"


def _score(text: str) -> str | None:
    """``3-1``, three to one, ``3-1 win``; ``2-2``, two all, ``2-nil``."""
    match = _RESULT.fullmatch(spelled(text)) if len(text) <= MAX_BOUND else None
    if match is None:
        return None
    one = match["one"]
    other = one if match["all"] else (match["other"] or "nil").replace("nil", "0")
    if (match["won"] or match["last"]) and one == other:
        return None
    return f"{one}-{other}" if int(one) >= int(other) or one == "0" else None


def _duration(text: str) -> str | None:
    """``1:23:45`` and 1 hour 23 minutes 45 seconds, ``00:03:20`` and 3 minutes 20 seconds."""
    match = _TIMER.fullmatch(text) or _SPELLED.fullmatch(text)
    return match and str(3600 * int(match[1] or 0) + 60 * int(match[2] or 0) + int(match[3] or 0))


def _shoes(text: str) -> str | None:
    """``EU 42``, ``size 42 (EU)``."""
    match = _SHOES.fullmatch(text)
    return match and f"{match[1] or match[4] or match[5]} {match[2] or match[3]}".upper()


def _clothes(text: str) -> str | None:
    """``XL``, ``size XL`` and extra large; ``XXL`` and ``2XL``; ``size M`` and medium, but not ``M`` alone."""
    match = _CLOTHES.fullmatch(text)
    if match is None:
        return None
    if name := match["plain"] or match["named"]:
        return name[0].upper()
    if extra := (match["extra"] or "").lower():
        return "X" * len(extra.replace("-", " ").split()) + match["word"][0].upper()  # double extra
    return (
        "X" * (int(match["count"]) if match["count"] else len(match["x"])) + (match["letter"] or match["last"]).upper()
    )


def _bound(text: str) -> str | None:
    """``at most 5 days``, ``no more than 5 days`` and ``5 days or less``; ``10+`` and ``10 or more``."""
    if aged := _AGE_BOUND.fullmatch(text):
        return f"{_BOUNDS[aged['before'].lower()]}{aged['number']} years old"
    match = _BOUND.fullmatch(spelled(text)) if len(text) <= MAX_BOUND else None
    if match is None:
        lead, of, rest = text.partition(" of ")  # a fine of up to $5,000
        return (
            f"{lead.lower()}{of}{bound}" if of and lead.replace(" ", "").isalpha() and (bound := _bound(rest)) else None
        )
    before, behind = (match["before"] or "").lower(), (match["behind"] or "").lower()
    sign = (match["sign"] or "").replace("≤", "<=").replace("≥", ">=")
    signs = [sign, _BOUNDS.get(before), _BOUNDS_BEHIND.get(behind), match["plus"] and ">="]
    unit = read_unit(f" {match['unit']}{match['rest']}", 0)
    if unit is None or sum(map(bool, signs)) != 1:
        return None
    return f"{next(filter(None, signs))}{match['number'].replace(',', '')} {unit}"


def _remainder(text: str) -> str | None:
    """``5 R 2`` and ``5 remainder 2``."""
    match = _REMAINDER.fullmatch(text)
    return match and f"{match[1]} {match[2]}"


def _days(text: str) -> str | None:
    """``May 12-19`` and ``12 May to 19 May``."""
    dates = read_dates(text)
    return dates and str([(date.year, date.month, date.day) for date in dates])


def _dimensions(text: str) -> str | None:
    """``8 x 10 inches``, ``8" x 10"`` and ``8 by 10 in``."""
    parts = [_SIDE.fullmatch(part) for part in _BY.split(text)] if len(text) <= MAX_LENGTH else []
    sides = [match for match in parts if match]
    if len(sides) < len(parts) or not 2 <= len(sides) <= 4:
        return None
    units = {read_unit(f" {_MARKS.get(side['unit'], side['unit'])}", 0) for side in sides if side["unit"]}
    unit = units.pop() if len(units) == 1 and sides[-1]["unit"] else None
    if not unit or len(unit) > 1 or not is_measure(unit[0][0]):
        return None
    return f"{' x '.join(side['number'] for side in sides)} {unit}"


def variance(text: str) -> str | None:
    """``$4,500 unfavorable``, ``$4,500 U`` and an unfavorable variance of $4,500."""
    match = _VARIANCE.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    side = (match["before"] or match["behind"]).upper()
    is_favorable = side.startswith("F")
    return f"{match['amount'].replace(',', '').removesuffix('.00')} {'F' if is_favorable else 'U'}"


def _in_days(text: str) -> str | None:
    """``27.3 d`` and ``27.3 days``, ``48 h`` and ``2 d``."""
    match = _IN_DAYS.fullmatch(text)
    if match is None:
        return None
    return str(Fraction(match["number"].replace(",", "")) / (24 if match["unit"].startswith("h") else 1))


AMOUNTS = (
    variance,
    _in_days,
    _range,
    change,
    _draw,
    _years,
    _span_of_years,
    _score,
    _duration,
    _shoes,
    _clothes,
    _bound,
    _remainder,
    _days,
    _dimensions,
)
