# ruff: noqa: RUF001  (Cyrillic letters of currencies)
"""Amounts of money in any spelling: ``zł 160`` and ``160,00 PLN``, ``A$30`` and 30 Australian dollars, ``£3.20``.

The code, sign or name of the currency stands on either side. A sign of several currencies (``kr``) equals each of them.
A comma or point before one or two digits at the end is a decimal one, before three digits a comma separates thousands,
and a point may be either, so it is read only if there is another separator.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from .number_words import in_digits

MAX_LENGTH = 60

# The codes that a sign or name may stand for, then its spellings in lower case.
_TABLE = """
USD | $, us$, usd, us dollar, dollar, buck, united states dollar, american dollar
EUR | €, eur, euro
GBP | £, gbp, pound, pound sterling, british pound, quid
JPY CNY | ¥
JPY | jpy, yen, japanese yen
CNY | cny, rmb, yuan, chinese yuan, renminbi
INR PKR LKR NPR | rs, rupee
INR | ₹, inr, indian rupee
PKR | pkr, pakistani rupee
CHF | chf, swiss franc, sfr
CHF XAF XOF | fr, franc
AUD | a$, au$, aud, australian dollar
CAD | c$, ca$, cad, canadian dollar
NZD | nz$, nzd, new zealand dollar
SGD | s$, sgd, singapore dollar
HKD | hk$, hkd, hong kong dollar
TWD | nt$, twd, new taiwan dollar
MXN | mx$, mxn, mexican peso
MXN PHP CLP COP ARS | peso
PHP | ₱, php, philippine peso
SEK NOK DKK ISK | kr
SEK | sek, swedish krona, swedish kronor, krona, kronor
NOK DKK | krone, kroner
NOK | nok, norwegian krone, norwegian kroner
DKK | dkk, danish krone, danish kroner
PLN | zł, pln, zloty, złoty, zlotych, złotych, polish zloty
CZK | kč, czk, koruna, czech koruna, czech crown
HUF | huf, forint, hungarian forint
RUB | ₽, руб, rub, ruble, rouble, russian ruble
UAH | ₴, грн, uah, hryvnia
BGN | лв, bgn, lev, leva
RON | lei, ron, leu
TRY | ₺, tl, try, lira, turkish lira
ILS | ₪, ils, nis, shekel, israeli shekel
ZAR | zar, rand, south african rand
BRL | r$, brl, real, reais, brazilian real
KRW | ₩, krw, won, korean won, south korean won
THB | ฿, thb, baht, thai baht
VND | ₫, vnd, dong
IDR | rp, idr, rupiah
MYR | rm, myr, ringgit
AED | aed, dirham, dhs
SAR | sar, riyal, saudi riyal
KWD | kwd, kuwaiti dinar
EGP | egp, egyptian pound
NGN | ₦, ngn, naira
BTC | ₿, btc, bitcoin
"""
_CODES = {
    name: frozenset(codes.split())
    for codes, _, names in (line.partition(" | ") for line in _TABLE.strip().splitlines())
    for name in names.split(", ")
}
_SUBUNITS = {
    "cent": "USD EUR AUD CAD NZD SGD HKD ZAR", "c": "USD EUR AUD CAD", "¢": "USD CAD AUD", "penny": "GBP",
    "pennie": "GBP USD", "pence": "GBP", "p": "GBP", "paise": "INR", "grosz": "PLN", "groszy": "PLN", "kopeck": "RUB",
    "sen": "MYR", "centavo": "MXN PHP BRL", "centime": "CHF", "rappen": "CHF", "öre": "SEK", "øre": "NOK DKK",
}  # fmt: skip
_AMOUNT = r"\d{1,3}(?:[,.' ]\d{3})+(?:[,.]\d{1,2})?|\d{1,12}(?:[,.]\d{1,2})?"
_SIGN = r"[^\W\d_]{0,3}[$€£¥₹₱₽₴₺₪₩฿₫₦₿]|[^\W\d_]{1,12}\.?(?: [^\W\d_]{2,12}){0,2}"
_SCALE = r"(?: ?(?P<scale>k|thousand|mn|million|m|bn|billion|b|trillion|lakh|crore)s?\b\.?)?"
_MONEY = re.compile(
    rf"(?P<minus>- ?)?(?:(?P<before>{_SIGN}) ?)??(?P<minus_behind>- ?)?(?P<amount>{_AMOUNT})(?:,-)?{_SCALE}"
    rf"(?: ?(?P<after>{_SIGN}))??(?:,? (?:and )?(?P<small>\d\d?)(?: ?(?P<unit>[^\W\d_]{{1,8}}|¢))?)?\.?",
    re.IGNORECASE,
)
_SCALES = {"k": 3, "thousand": 3, "mn": 6, "million": 6, "m": 6, "bn": 9, "billion": 9, "b": 9, "trillion": 12,
           "lakh": 5, "crore": 7}  # fmt: skip
_NO_MONEY = re.compile(r"[^\d.,' ]")


class Money(NamedTuple):
    """An amount, and the codes of the currencies that it may be in; none if no currency was written."""

    codes: frozenset[str]
    amount: Decimal


def read_money(text: str) -> Money | None:
    """The amount of money that all of a text is, in the spelling of ``codes.plain``; ``None`` for other texts."""
    if len(text) > MAX_LENGTH:
        return None
    if text[:1].isalpha() and " " in text and not any(map(str.isdigit, text)):
        text = _in_figures(text)
    match = _MONEY.fullmatch(text)
    if match is None or (match["before"] and match["after"] and not _is_doubled(match["before"], match["after"])):
        return None
    codes = frozenset[str]()
    for name in filter(None, (match["before"], match["after"])):
        named = _named(name)
        if named is None:
            return None
        codes = codes & named if codes else named
    amount = _amount(match["amount"])
    if amount is None or (match["scale"] and not codes):
        return None
    if match["scale"]:
        amount *= 10 ** _SCALES[match["scale"].lower()]
    if match["small"]:
        small = _small(match, codes)
        if small is None:
            return None
        amount += small
    return Money(codes, -amount if match["minus"] or match["minus_behind"] else amount)


def read_currency(text: str) -> str | None:
    """``USD`` of US dollars, for names of one currency."""
    codes = _named(text.removeprefix("the ")) if 3 <= len(text) <= MAX_LENGTH else None
    return next(iter(codes)) if codes and len(codes) == 1 else None


def same_money(gold: Money, answer: Money) -> bool:
    """Whether an answer is the gold answer's amount, in its currency or without one."""
    return bool(gold.codes) and gold.amount == answer.amount and (not answer.codes or bool(gold.codes & answer.codes))


def _in_figures(text: str) -> str:
    """``12 dollars 50`` of ``twelve dollars fifty``."""
    start = in_digits(text) or text
    first, space, last = start.rpartition(" ")
    return f"{first} {in_digits(last) or last}" if space and first[:1].isdigit() else start


def _is_doubled(before: str, after: str) -> bool:
    """``$18 USD``."""
    one, other = _named(before), _named(after)
    return one is not None and other is not None and bool(one & other)


def _named(name: str) -> frozenset[str] | None:
    name = name.lower().rstrip(".").strip()
    return _CODES.get(name) or _CODES.get(name.removesuffix("s"))


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
    unit = (match["unit"] or "").lower()
    allowed = _SUBUNITS.get(unit) or _SUBUNITS.get(unit.removesuffix("s"))
    if match["scale"] or not codes or re.search("[.,]", match["amount"]) or (unit and not allowed):
        return None
    if (unit and not codes & set((allowed or "").split())) or (not unit and len(match["small"]) != 2):
        return None
    return Decimal(match["small"]) / 100
