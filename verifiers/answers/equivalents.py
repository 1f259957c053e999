# ruff: noqa: RUF002  (suits of cards)
"""Texts of a fixed form that name one thing: ``Q♠`` and Queen of Spades, ``UTC+5:30`` and ``GMT+5:30``, ``Mon–Fri``.

The gold answer decides which of the forms is looked for: an answer is only read as the forms that the gold answer has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from grpo_env.lazy_regex import lazy_compile

from .codes.chess import Moves, read_moves, same_moves
from .codes.genetics import bases, genotype, peptide, strand
from .codes.keys import signed
from .codes.network import ip, mac, network, port
from .codes.numbering import numbered
from .json_value import Json, JsonError, equal_json, literal
from .quantities.money import Money, read_currency, read_money, same_money
from .sciences.chemistry import (
    Concentrations,
    bonds,
    complex_ion,
    compound,
    concentrations,
    inorganic,
    same_concentrations,
    species,
)
from .sciences.hypotheses import (
    Decision,
    Distribution,
    decision,
    distribution,
    same_decision,
    same_distribution,
    skew,
    stated_hypotheses,
)
from .sciences.logic import truth_values
from .sciences.nuclear import Reaction, read_reaction
from .times.clock import in_figures, read_time
from .times.dates import read_date
from .times.frequency import how_often
from .times.hours import Hours, read_hours, same_hours
from .vocabulary.number_words import number_at
from .words.amounts import AMOUNTS, points
from .words.arrangements import ARRANGEMENTS
from .words.constructions import at_for, headed, possession, shift
from .words.directions import heading, trend
from .words.qualified import qualified

MAX_LENGTH = 300
Value: TypeAlias = "str | Hours | Money | Moves | Concentrations | Decision | Distribution | Reaction | Json"
Form: TypeAlias = Callable[[str], "Value | None"]
Forms: TypeAlias = tuple[tuple[Form, Value], ...]
_GROUPED = lazy_compile(r"(?=.*\d)(?=.*[A-Z])(?:[A-Z0-9]{2,6}(?: [A-Z0-9]{1,6}){2,11}|[A-Z0-9]{10,40})")
_HEX_COLOR = lazy_compile(r"#([0-9A-Fa-f]{6})")
_RGB = lazy_compile(r"rgb ?\(? ?(\d{1,3}), ?(\d{1,3}), ?(\d{1,3}) ?\)?", re.IGNORECASE)
_OFFSET = lazy_compile(r"(?:UTC|GMT) ?([+-]) ?(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)
_CARD = lazy_compile(
    r"(?:the )?(10|[AKQJ2-9]|ace|king|queen|jack|two|three|four|five|six|seven|eight|nine|ten)"
    r"(?: of )? ?([♠♤♥♡♦♢♣♧]|spades?|hearts?|diamonds?|clubs?)\ufe0f?",
    re.IGNORECASE,
)
_SUITS = {"♠": "s", "♤": "s", "♥": "h", "♡": "h", "♦": "d", "♢": "d", "♣": "c", "♧": "c"}
_COURT = {"ace": "A", "king": "K", "queen": "Q", "jack": "J"}
_EPISODE = lazy_compile(r"S(?:eason )?0?(\d{1,3}),? ?E(?:p\.? |pisode )?0?(\d{1,4})", re.IGNORECASE)
_RANK = lazy_compile(r"(?:no\.?|nr\.?|number|#|№) ?(\d{1,9})", re.IGNORECASE)
_DOI = lazy_compile(r"(?:doi: ?|(?:https?://)?(?:dx\.)?doi\.org/)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_POINT = lazy_compile(
    r"\(?(?P<minus>-)?(?P<north>\d{1,2}(?:\.\d+)?)°? ?(?P<ns>[NS])?(?:, ?| )"
    r"(?P<west>-)?(?P<east>\d{1,3}(?:\.\d+)?)°? ?(?P<ew>[EW])?\)?"
)
_PATH = lazy_compile(r"(?:~|\.{0,2})/[\w./ -]*[\w-]/?")
_EDGE = lazy_compile(r"(until|till|before|prior to|after|by|from|since) (.{3,12})", re.IGNORECASE)
_MOMENT = lazy_compile(
    r"(?P<date>\S.{4,28}?[^\s,])(?:(?:,? at|,)? |(?<=\d)T(?=\d))"
    r"(?P<time>\d{1,2}(?::\d\d){1,2}(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?)(?P<utc>Z| ?(?:UTC|GMT))?",
    re.IGNORECASE,
)
_ROW = lazy_compile(r"\d{1,2}(?:-\d{1,2}){3,}|\d{1,2}(?:, ?\d{1,2}){3,}")
_GROWTH = lazy_compile(r"(?:\\(?:Theta|Omega|mathcal\{O\})|[OΘΩo]) ?\(.{1,60}\)")
_NAMES_OF_GROWTH = {
    "constant": ("(1)",), "logarithmic": ("(logn)",), "linear": ("(n)", "(m+n)"),
    "linearithmic": ("(nlogn)",), "quadratic": ("(n^2)",), "cubic": ("(n^3)",), "exponential": ("(2^n)",),
}  # fmt: skip
_GROWTH_NAME = "|".join(_NAMES_OF_GROWTH)
_OF_TIME = r"(?: (?:time|space))?(?: complexity)?"
_NAMED_GROWTH = lazy_compile(
    rf"(?:(?P<name>{_GROWTH_NAME}){_OF_TIME}(?:,|:| or)? )?\(?(?P<before>(?:\\[A-Za-z]+|[OΘΩo])"
    rf"(?:\{{O\}})? ?\([^()]{{1,60}}(?:\([^()]{{1,9}}\))?\))\)?{_OF_TIME}"
    rf"|(?P<behind>(?:\\[A-Za-z]+|[OΘΩo]) ?\([^()]{{1,60}}\)){_OF_TIME},? \(?(?P<gloss>{_GROWTH_NAME}){_OF_TIME}\)?",
    re.IGNORECASE,
)
_ONLY_NAMED_GROWTH = lazy_compile(rf"({_GROWTH_NAME}){_OF_TIME}", re.IGNORECASE)
_LOGARITHM = lazy_compile(r"\\?(?:log(?:_?\{?(?:2|10)\}?(?![\d.]))?|ln|lg)(?![a-z])")
_CALL = lazy_compile(r"[^'\"]*[\[({=].*")
_SIGNED = lazy_compile(
    r"[A-G](?:#|b\b|[ -]?(?:sharp|flat)\b)|(?:AB|[ABO]) ?(?:[+-]|positive|negative|pos\b|neg\b)", re.IGNORECASE
)
_SOURCE = r"the (?:document|text|passage|email|message|article|report|log|ticket|table|source|context|note|page|file)"
_STATED = r"(?:stated|mentioned|given|specified|provided|indicated|listed|disclosed|recorded|said|included)"
_NOT_STATED = lazy_compile(
    rf"(?:(?:it|this|that) (?:is|was) |it's )?not (?:explicitly )?{_STATED}(?: (?:in|by) {_SOURCE})?"
    rf"|{_SOURCE} (?:does not|doesn't) (?:explicitly )?(?:state|mention|give|specify|provide|indicate|say|include|list)"
    r"(?: (?:this|it|that|any|such information|this information))?"
    rf"|no (?:information|answer|value|date|number) (?:is |was )?{_STATED}",
    re.IGNORECASE,
)
_IN_PLACE = lazy_compile(r"(?:the )?(\d{0,2}(?:1st|2nd|3rd|[04-9]th|1[123]th)|[a-z]{5,8})(?: place)?", re.IGNORECASE)
_BASES = {"x": 16, "b": 2, "o": 8}
_PREFIXED = lazy_compile(r"0([xXbBoO]) ?([0-9A-Fa-f][0-9A-Fa-f _]{0,99})")
_SUBSCRIPTED = lazy_compile(r"\(?(?P<digits>(?=\d|..)[0-9A-Fa-f][0-9A-Fa-f ]{0,99})\)?_\(?(?P<base>2|8|16)\)?")
_HEX_DIGITS = lazy_compile(
    r"(?:0[xX]|\(?(?=[A-Fa-f]*\d))((?=\d*[A-Fa-f])(?:[0-9A-F]{2,16}|[0-9a-f]{2,4}))\)?"
    r"(?:_16|[hH]| ?\(?hex(?:adecimal)?\)?)?"
)
_QUOTED = lazy_compile(r"'([^'\"\\]*)'")


def forms(text: str) -> Forms:
    """What each form makes of a text in the spelling of ``codes.plain``, without those that it does not have.

    A gold answer that says what increases is not right for something else that does.
    """
    if len(text) > MAX_LENGTH:
        return ()
    names_subject = text[:4].lower() == "the "
    readers = (form for form in _FORMS if not (names_subject and form in (heading, trend)))
    return tuple((form, value) for form in readers if (value := form(text)) is not None)


def has_same_form(gold: Forms, text: str) -> bool:
    """Whether a text in the spelling of ``codes.plain`` has a form of the gold answer with the same value."""
    return len(text) <= MAX_LENGTH and any(_same(value, form(text)) for form, value in gold)


def _same(one: Value, other: Value | None) -> bool:
    if isinstance(one, Hours) and isinstance(other, Hours):
        return same_hours(one, other)
    if isinstance(one, Moves) and isinstance(other, Moves):
        return same_moves(one, other)
    if isinstance(one, Money) and isinstance(other, Money):
        return same_money(one, other)
    if isinstance(one, Concentrations) and isinstance(other, Concentrations):
        return same_concentrations(one, other)
    if isinstance(one, Distribution) and isinstance(other, Distribution):
        return same_distribution(one, other)
    if isinstance(one, Decision) and isinstance(other, Decision):
        return same_decision(one, other)
    return equal_json(one, other) if isinstance(one, dict | list) else one == other  # type: ignore[arg-type]


def _hours(text: str) -> Hours | None:
    return read_hours(text)


def _moves(text: str) -> Moves | None:
    return read_moves(text)


def money(text: str) -> Money | None:
    """``zł 160`` and ``160,00 PLN``."""
    return read_money(text)


def _currency(text: str) -> str | None:
    """``USD`` and US dollars."""
    return read_currency(text)


def _data(text: str) -> Json | None:
    """``{'a': 1}`` of Python and ``{"a": 1}`` of JSON."""
    if text[:1] not in ("{", "[") or text[-1:] not in ("}", "]"):
        return None
    try:
        value = literal(text)
    except JsonError:
        return None
    return value if isinstance(value, dict) or _has_text(value) else None


def _has_text(value: Json) -> bool:
    if isinstance(value, list):
        return any(map(_has_text, value))
    return not isinstance(value, dict) and isinstance(value, str | bool | None)


def _grouped(text: str) -> str | None:
    """``DE89 3704 0044 0532 0130 00``, in groups or not."""
    return text.replace(" ", "") if _GROUPED.fullmatch(text) else None


def _color(text: str) -> str | None:
    """``#FF0000`` and ``rgb(255, 0, 0)``."""
    if match := _HEX_COLOR.fullmatch(text):
        return match[1].lower()
    match = _RGB.fullmatch(text)
    parts = [int(part) for part in match.groups()] if match else []
    return "".join(f"{part:02x}" for part in parts) if parts and max(parts) < 256 else None


def _offset(text: str) -> str | None:
    """``UTC+5:30``, ``GMT+05:30``."""
    match = _OFFSET.fullmatch(text)
    return match and f"{match[1]}{60 * int(match[2]) + int(match[3] or 0)}"


def _signed(text: str) -> str | None:
    """``AB positive`` and ``AB+``, ``C-sharp minor`` and ``C# minor``."""
    return signed(text) if len(text) <= 30 and _SIGNED.match(text) else None


def _card(text: str) -> str | None:
    """``Q♠`` and Queen of Spades."""
    match = _CARD.fullmatch(text)
    if match is None:
        return None
    rank = match[1].lower()
    number = number_at([rank])[0] if rank.isalpha() and len(rank) > 1 else rank.upper()
    return (_COURT.get(rank) or number) + _SUITS.get(match[2], match[2][0].lower())


def _episode(text: str) -> str | None:
    """``Season 4, Episode 9`` and ``S4E9``."""
    match = _EPISODE.fullmatch(text)
    return match and f"{match[1]} {match[2]}"


def _rank(text: str) -> str | None:
    """``No. 1``, ``#1`` and ``number 1``."""
    match = _RANK.fullmatch(text)
    return match and match[1]


def _doi(text: str) -> str | None:
    """``doi:10.1000/182`` and ``https://doi.org/10.1000/182``."""
    match = _DOI.fullmatch(text)
    return match and match[1].lower()


def _point(text: str) -> str | None:
    """``51.5074° N, 0.1278° W`` and ``51.5074, -0.1278``: latitude, then longitude."""
    match = _POINT.fullmatch(text)
    if match is None or bool(match["ns"]) != bool(match["ew"]) or (match["ns"] and (match["minus"] or match["west"])):
        return None
    if not match["ns"] and (
        " " not in text or min(len(match[part].partition(".")[2]) for part in ("north", "east")) < 3
    ):
        return None  # a pair of numbers
    south, west = match["ns"] == "S" or match["minus"], match["ew"] == "W" or match["west"]
    north, east = (part.rstrip("0").rstrip(".") if "." in part else part for part in (match["north"], match["east"]))
    return f"{'-' if south else ''}{north} {'-' if west else ''}{east}"


def _path(text: str) -> str | None:
    """``/home/ana/`` and ``/home/ana``."""
    return text.rstrip("/") if _PATH.fullmatch(text) else None


def spoken_hour(text: str) -> str | None:
    """``half past six`` and ``6:30``, ``ten past nine in the evening`` and ``9:10 pm``."""
    clock = read_time(in_figures(text) or text) if ":" in text or " " in text else None
    return f"{clock.seconds} {clock.sure}" if clock and not clock.zone else None


def _edge(text: str) -> str | None:
    """``until 10 pm`` and ``till 22:00``, ``before 1850`` and ``prior to 1850``."""
    match = _EDGE.fullmatch(text)
    if match is None:
        return None
    edge = match[1].lower().replace("till", "until").replace("prior to", "before")
    if clock := read_time(match[2]):
        return f"{edge} {clock.seconds} {clock.sure}"
    return f"{edge} {match[2]}" if match[2].isdecimal() else None


def _moment(text: str) -> str | None:
    """``30 September 2025, 23:59`` and September 30, 2025 at 11:59 PM: a day, no order of numbers, and a sure time."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    date, clock = read_date(match["date"]), read_time(match["time"])
    if not (date and clock and date.day) or date.numbers or date.order in ("day", "month") or date.weekday is not None:
        return None
    sure = clock.sure or clock.padded
    utc = "UTC" if match["utc"] else ""
    return f"{date.year}-{date.month}-{date.day} {clock.seconds} {utc}" if sure and not clock.zone else None


def _row(text: str) -> str | None:
    """``2-4-1-3`` and ``2, 4, 1, 3``: an order."""
    return re.sub(r"\D+", " ", text) if _ROW.fullmatch(text) else None


def _unstated(text: str) -> str | None:
    """``not stated``, ``not mentioned`` and "The document does not say."."""
    return "unstated" if _NOT_STATED.fullmatch(text) else None


def _place(text: str) -> str | None:
    """``1st``, ``first`` and ``1st place``."""
    match = _IN_PLACE.fullmatch(text)
    return match and (number_at([match[1].lower()])[0] or None)


def _growth(text: str) -> str | None:
    r"""``O(n log n)``, ``O(nlogn)``, ``O(n\log_2 n)`` and ``O(n\ln n)``, which differ in a factor."""
    if only := _ONLY_NAMED_GROWTH.fullmatch(text):
        return f"O{_NAMES_OF_GROWTH[only[1].lower()][0]}"
    named = _NAMED_GROWTH.fullmatch(text)
    text = (named["before"] or named["behind"]) if named else text
    if not _GROWTH.fullmatch(text):
        return None
    text = text.replace("\\mathcal{O}", "O").replace("\\Theta", "Θ").replace("\\Omega", "Ω")
    text = re.sub(r"[\s\\·*{}]|\|(?=[VE]\b)|(?<=[VE])\|", "", _LOGARITHM.sub("log", text))
    if "+" in text and text.count("(") == 1:  # O(V + E)
        text = f"{text[0]}({'+'.join(sorted(text[2:-1].split('+')))})"
    name = (named["name"] or named["gloss"] or "").lower() if named else ""
    return text if not name or text[1:] in _NAMES_OF_GROWTH[name] else None


def radix(text: str) -> str | None:
    """``0x2F`` and ``2F_16``, ``0b1010`` and ``1010_2``: the base and the number."""
    if match := _PREFIXED.fullmatch(text):
        base, digits = _BASES[match[1].lower()], match[2]
    elif match := _SUBSCRIPTED.fullmatch(text):
        base, digits = int(match["base"]), match["digits"]
    else:
        return None
    try:
        return f"{base} {int(digits.replace(' ', '').replace('_', ''), base)}"
    except ValueError:
        return None


def _hexadecimal(text: str) -> str | None:
    """``0x2F``, ``2F`` and ``2Fh``, whose digits say what its base is."""
    match = _HEX_DIGITS.fullmatch(text)
    return match and match[1].lower().lstrip("0")


def _quotes(text: str) -> str | None:
    """``print('a')`` and ``print("a")``."""
    return _QUOTED.sub(r'"\1"', text) if ("'" in text or '"' in text) and _CALL.fullmatch(text) else None


_FORMS: tuple[Form, ...] = (
    _hours, money, _currency, _data, mac, ip, network, port, _grouped, _color, _offset, _signed, _card, _episode,
    _rank, _doi, _point, _path, spoken_hour, _edge, _moment, _row, _growth, _unstated, _place, _quotes, _moves,
    numbered,
    how_often, possession, at_for, qualified, genotype, bases, strand, compound, inorganic, complex_ion, bonds,
    concentrations, decision,
    stated_hypotheses, distribution, radix, _hexadecimal, points, read_reaction, heading, trend, headed, peptide, shift,
    skew, species, truth_values, *AMOUNTS, *ARRANGEMENTS,
)  # fmt: skip
