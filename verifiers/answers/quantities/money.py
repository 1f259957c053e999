"""Amounts of money in any spelling: ``zł 160`` and ``160,00 PLN``, ``A$30`` and 30 Australian dollars, ``£3.20``.

The code, sign or name of the currency stands on either side. A sign of several currencies (``kr``) equals each of them.
A comma or point before one or two digits at the end is a decimal one, before three digits a comma separates thousands,
and a point may be either, so it is read only if there is another separator.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..spelling.spellings import spelled
from ..vocabulary.currencies import CODES, SIGNS, SUBUNITS

MAX_LENGTH = 60

_AMOUNT = r"\d{1,3}(?:[,.' ]\d{3})+(?:[,.]\d{1,2})?|\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d{1,2})?|\d{1,12}(?:[,.]\d{1,2})?"
_SIGN = rf"[^\W\d_]{{0,3}}[{SIGNS}]|[^\W\d_]{{1,12}}\.?(?: [^\W\d_]{{2,12}}){{0,2}}?"
_SCALE = r"(?: ?(?P<scale>k|thousand|mn|million|m|bn|billion|b|trillion|lakh|crore)s?\b\.?)?"
_MONEY = lazy_compile(
    rf"(?P<minus>- ?)?(?:(?P<before>{_SIGN}) ?)??(?P<minus_behind>- ?)?(?P<amount>{_AMOUNT})(?:,-)?{_SCALE}"
    rf"(?: ?(?P<after>{_SIGN}))??(?:,? (?:and )?(?P<small>\d\d?)(?: ?(?P<unit>[^\W\d_]{{1,8}}|¢))?)?\.?",
    re.IGNORECASE,
)
_SCALES = {"k": 3, "thousand": 3, "mn": 6, "million": 6, "m": 6, "bn": 9, "billion": 9, "b": 9, "trillion": 12,
           "lakh": 5, "crore": 7}  # fmt: skip
_NO_MONEY = lazy_compile(r"[^\d.,' ]")


class Money(NamedTuple):
    """An amount, and the codes of the currencies that it may be in; none if no currency was written.

    ``subunit`` is what was written, if that is cents or the like.
    """

    codes: frozenset[str]
    amount: Decimal
    subunit: str = ""


def read_money(text: str) -> Money | None:
    """The amount of money that all of a text is, in the spelling of ``codes.plain``; ``None`` for other texts."""
    if len(text) > MAX_LENGTH:
        return None
    if text[:1].isalpha() and " " in text and not any(map(str.isdigit, text)):
        text = spelled(text)
    match = _MONEY.fullmatch(text)
    if match is None or (match["before"] and match["after"] and not _is_doubled(match["before"], match["after"])):
        return None
    subunit = "" if not match["after"] or _named(match["after"]) else match["after"]
    codes = _of_cents(subunit)
    for name in filter(None, (match["before"], match["after"])):
        named = codes if subunit else _named(name)
        if not named:
            return None
        codes = codes & named if codes else named
    amount = _amount(match["amount"])
    if amount is None:
        return None
    if match["scale"]:
        amount *= 10 ** _SCALES[match["scale"].lower()]
    if match["small"]:
        small = _small(match, codes)
        if small is None:
            return None
        amount += small
    if subunit:
        amount /= 100
    return Money(codes, -amount if match["minus"] or match["minus_behind"] else amount, subunit)


def read_currency(text: str) -> str | None:
    """``USD`` of US dollars, for names of one currency."""
    codes = _named(text.removeprefix("the ")) if 3 <= len(text) <= MAX_LENGTH else None
    return next(iter(codes)) if codes and len(codes) == 1 else None


def same_money(gold: Money, answer: Money) -> bool:
    """Whether an answer is the gold answer's amount, in its currency or, if that is not cents, without one."""
    if not gold.codes or gold.amount != answer.amount or len(gold.subunit) == 1:  # 1080p may be no money
        return False
    return bool(gold.codes & answer.codes) if answer.codes or gold.subunit else True


def _is_doubled(before: str, after: str) -> bool:
    """``$18 USD``."""
    one, other = _named(before), _named(after)
    return one is not None and other is not None and bool(one & other)


def _named(name: str) -> frozenset[str] | None:
    name = name.lower().rstrip(".").strip()
    return CODES.get(name) or CODES.get(name.removesuffix("s"))


def _of_cents(name: str) -> frozenset[str]:
    """The codes of the currencies that have a subunit."""
    name = name.lower()
    return frozenset((SUBUNITS.get(name) or SUBUNITS.get(name.removesuffix("s")) or "").split())


def _amount(text: str) -> Decimal | None:
    separators = re.findall(r"[,.' ]", text)
    digits_at_end = len(re.split(r"[,.' ]", text)[-1])
    if len(separators) == 1 and separators[0] == "." and digits_at_end == 3:
        return None
    decimal = separators[-1] if separators and digits_at_end < 3 and separators[-1] in ",." else ""
    if decimal and (separators.count(decimal) > 1 or len(set(separators[:-1])) > 1):
        return None
    if not decimal and len(set(separators)) > 1:
        return None
    whole, _, places = text.rpartition(decimal) if decimal else (text, "", "")
    return Decimal(f"{re.sub('[^0-9]', '', whole)}.{places or '0'}")


def _small(match: re.Match[str], codes: frozenset[str]) -> Decimal | None:
    """The cents of ``12 dollars and 50 cents`` and ``12 dollars 50``."""
    if match["scale"] or not codes or re.search("[.,]", match["amount"]):
        return None
    if not codes & _of_cents(match["unit"]) if match["unit"] else len(match["small"]) != 2:
        return None
    return Decimal(match["small"]) / 100
