"""The same parts in another arrangement: ``Aisle 12, Shelf B`` and shelf B in aisle 12, ``6 days overdue``.

Each function reads one form, and returns ``None`` for any other text. Texts are in the spelling of ``codes.plain``.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from grpo_env.lazy_regex import lazy_compile

from ..codes.numbering import numbered
from ..spelling.spellings import spelled
from ..times.frequency import how_often

MAX_LENGTH = 80
MAX_COUNT = 12  # of the numbers of a range

_PLACE = lazy_compile(r"(?P<label>[a-z]{3,12}) (?P<code>\d{1,4}[a-z]?|(?-i:[A-Z]))", re.IGNORECASE)
_BETWEEN_PLACES = lazy_compile(r",? (?:in|on|of|at) (?:the )?|, | ?/ ?|; ?", re.IGNORECASE)
_NUMBERS = lazy_compile(
    r"(?P<label>[a-z]{3,12}s) (?:(?P<first>\d{1,4}) ?(?:-|to|through) ?(?P<last>\d{1,4})"
    r"|(?P<listed>\d{1,4}(?:, ?\d{1,4})*,? (?:and|&) \d{1,4}))",
    re.IGNORECASE,
)
_STATE = r"(?P<state{0}>overdue|late|early|delayed|ahead|behind|short|over|under)"
_BY = lazy_compile(
    rf"{_STATE.format(1)} by (?P<size1>.{{1,30}})|(?P<size2>.{{1,30}}) {_STATE.format(2)}", re.IGNORECASE
)
_QUANTITY = lazy_compile(r"\d[\d.,]* ?[a-z%]{1,12}", re.IGNORECASE)
_IN_ORDER = lazy_compile(r"(?:[a-z]+ )?in (?:the )?(?:right |correct )?order: ?", re.IGNORECASE)
_FIRST = lazy_compile(r"first,? (?=.*\bthen\b)", re.IGNORECASE)
_STEP_SIGN = r",? (?:and )?(?:then|finally|lastly|next),? |, (?:and )?"
_NUMBERED_STEP = lazy_compile(r"(?:\A|[ ,;])\(?(\d{1,2})[.)] ")
_TEAM = r"[A-Z][A-Za-z.'-]*(?: [A-Z][A-Za-z.'-]*){0,3}"
_TEAMS = lazy_compile(
    rf"(?P<one>{_TEAM}):? (?P<first>\d{{1,3}})"
    rf"(?:,? (?:and )?(?P<other>{_TEAM}):? (?P<second>\d{{1,3}})| ?[-:] ?(?P<score>\d{{1,3}}) (?P<last>{_TEAM}))"
)
_CHORD = r"[A-G](?:#|b)?(?:m|maj|min|dim|aug|sus)?\d?"
_CHORDS = lazy_compile(rf"{_CHORD}(?:(?: ?- ?|, ?| ){_CHORD}){{2,11}}")
_ACIDITY = lazy_compile(r"pH(?: of| is| =)? ?(\d{1,2}(?:\.\d+)?)|(\d{1,2}(?:\.\d+)?) pH")
_ORDER_SIGN = lazy_compile(r"\s*(?<![-=<])([<>=])(?![-=>])\s*")
_ENTRY = lazy_compile(
    r"(?:(?P<side>dr|debit|cr|credit)\.?:? (?:the )?(?P<account>[a-z][a-z &'-]{1,40}?)(?: account)?"
    r"|(?P<first>[a-z][a-z &'-]{1,40}?)(?: account)? (?:is |was |are |were )?(?P<done>debited|credited))"
    r"(?:,|:|(?: for| by| with))? ?\$?(?P<amount>\d[\d,]*(?:\.\d\d)?)(?=[\s,;.]|\Z)",
    re.IGNORECASE,
)
_BETWEEN_ENTRIES = lazy_compile(r"(?:[\s,;.]|\band\b)*")
_DOSE = lazy_compile(r"(?P<size>\d[\d.,]* ?[a-zµ%]{1,12}),? (?P<often>.{4,40})", re.IGNORECASE)


def places(text: str) -> str | None:
    """``Aisle 12, Shelf B`` and ``shelf B in aisle 12``: parts with different labels, in any order; ``third floor``."""
    if len(text) > MAX_LENGTH:
        return None
    parts = [_PLACE.fullmatch(numbered(part) or part) for part in _BETWEEN_PLACES.split(text)]
    named = {part["label"].lower(): part["code"].upper() for part in parts if part}
    return str(sorted(named.items())) if len(named) == len(parts) > 1 else None


def numbered_things(text: str) -> str | None:
    """``Zones 1-3`` and ``Zones 1, 2 and 3``."""
    match = _NUMBERS.fullmatch(text)
    if match is None:
        return None
    if match["listed"]:
        numbers = [int(number) for number in re.findall(r"\d+", match["listed"])]
    else:
        numbers = list(range(int(match["first"]), min(int(match["last"]), int(match["first"]) + MAX_COUNT) + 1))
        if not 1 < len(numbers) <= MAX_COUNT:
            return None
    return f"{match['label'].lower()} {numbers}"


def by_how_much(text: str) -> str | None:
    """``Overdue by 6 days`` and ``6 days overdue``."""
    match = _BY.fullmatch(spelled(text)) if len(text) <= MAX_LENGTH else None
    size = match and (match["size1"] or match["size2"])
    if match is None or not size or not _QUANTITY.fullmatch(size):
        return None
    return f"{(match['state1'] or match['state2']).lower()} {size.lower()}"


def chords(text: str) -> str | None:
    """``G-D-Em-C`` and ``G, D, Em, C``."""
    return " ".join(re.findall(_CHORD, text)) if _CHORDS.fullmatch(text) else None


def acidity(text: str) -> str | None:
    """``pH 7.4`` and ``7.4 pH``."""
    match = _ACIDITY.fullmatch(text)
    return match and str(Fraction(match[1] or match[2]))


def dose(text: str) -> str | None:
    """``500 mg twice daily`` and ``500 mg two times a day``."""
    match = _DOSE.fullmatch(text) if len(text) <= MAX_LENGTH else None
    often = how_often(match["often"]) if match else None
    return f"{match['size'].replace(' ', '')} {often}" if match and often else None


def ranking(text: str) -> str | None:
    """``Na > Mg > Al`` and ``Al < Mg < Na``: names in an order, from the largest."""
    names = _ORDER_SIGN.split(text) if len(text) <= MAX_LENGTH else []
    parts, signs = names[::2], set(names[1::2])
    if len(parts) < 3 or not all(re.search("[A-Za-z]", part) for part in parts) or len(signs - {"="}) != 1:
        return None
    names = names[::-1] if "<" in signs else names
    return " ".join(re.sub(r"[_^{}\s]", "", name) for name in names).replace("<", ">")


def bookkeeping(text: str) -> str | None:
    """``Debit Cash $500; Credit Sales $500`` and "Dr. Cash $500, Cr. Sales $500": entries in any order."""
    entries = list(_ENTRY.finditer(text)) if len(text) <= 3 * MAX_LENGTH and _is_entry(text) else []
    rest = [text[one.end() : other.start()] for one, other in pairwise(entries)]
    ends = (text[: entries[0].start()], text[entries[-1].end() :]) if entries else ()
    if len(entries) < 2 or not all(map(_BETWEEN_ENTRIES.fullmatch, (*rest, *ends))):
        return None
    return str(sorted(map(_entry, entries)))


def _is_entry(text: str) -> bool:
    lower = text.lower()
    return ("dr" in lower or "debit" in lower) and ("cr" in lower)


def _entry(match: re.Match[str]) -> tuple[str, str, str]:
    side, account = (match["side"] or match["done"]).lower(), (match["account"] or match["first"]).lower()
    amount = match["amount"].replace(",", "").removesuffix(".00")
    return "debit" if side.startswith("d") else "credit", account.removeprefix("and "), amount


def steps(text: str) -> str | None:
    """``1. mix 2. bake 3. cool``, ``mix -> bake -> cool`` and ``Steps in order: mix, bake, cool``."""
    listed = numbered_items(text)
    if listed is None:
        in_order = _IN_ORDER.match(text) or _FIRST.match(text)
        listed = re.split(_STEP_SIGN, text[in_order.end() :]) if in_order else re.split(r" ?-> ?", text)
    are_words = all(re.search(r"[^\W\d_]{2}", step) for step in listed)
    return "|".join(step.strip(" ,;.").lower() for step in listed) if len(listed) > 1 and are_words else None


def numbered_items(text: str) -> list[str] | None:
    """The items of a list in one line, numbered from 1."""
    parts = _NUMBERED_STEP.split(text)
    numbers, items = parts[1::2], parts[2::2]
    if parts[0] or len(items) < 2 or numbers != [str(number) for number in range(1, len(items) + 1)]:
        return None
    return [item.strip(" ,;") for item in items]


def teams(text: str) -> str | None:
    """``Lions 3, Bears 1`` and ``Lions 3-1 Bears``."""
    match = _TEAMS.fullmatch(text)
    if match is None:
        return None
    pairs = ((match["one"], match["first"]), (match["other"] or match["last"], match["second"] or match["score"]))
    return str(sorted((name.lower(), score) for name, score in pairs))


ARRANGEMENTS = (places, steps, teams, numbered_things, by_how_much, chords, acidity, dose, ranking, bookkeeping)
