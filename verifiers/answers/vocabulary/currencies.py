# ruff: noqa: RUF001  (Cyrillic letters of currencies)
"""Currencies: their codes, signs and names, for all that reads amounts of money."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

# The codes that a sign or name may stand for, then its spellings in lower case. A unit is named by its first spelling.
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
LKR | lkr, sri lankan rupee
NPR | npr, nepalese rupee
CHF | chf, swiss franc, sfr
CHF XAF XOF | fr, franc
XAF | xaf
XOF | xof
AUD | a$, au$, aud, australian dollar
CAD | c$, ca$, cad, canadian dollar
NZD | nz$, nzd, new zealand dollar
SGD | s$, sgd, singapore dollar
HKD | hk$, hkd, hong kong dollar
TWD | nt$, twd, new taiwan dollar
MXN | mx$, mxn, mexican peso
MXN PHP CLP COP ARS | peso
CLP | clp, chilean peso
COP | cop, colombian peso
ARS | ars, argentine peso
PHP | ₱, php, philippine peso
SEK NOK DKK ISK | kr
SEK | sek, swedish krona, swedish kronor, krona, kronor
NOK DKK | krone, kroner
NOK | nok, norwegian krone, norwegian kroner
ISK | isk, icelandic króna
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
_LINES = [
    (codes.split(), names.split(", "))
    for codes, _, names in (line.partition(" | ") for line in _TABLE.strip().splitlines())
]
CODES = {name: frozenset(codes) for codes, names in _LINES for name in names}
"""The codes of the currencies that a spelling in lower case may stand for."""
SUBUNITS = {
    "cent": "USD EUR AUD CAD NZD SGD HKD ZAR", "c": "USD EUR AUD CAD", "¢": "USD CAD AUD", "penny": "GBP",
    "pennie": "GBP USD", "pence": "GBP", "p": "GBP", "paise": "INR", "grosz": "PLN", "groszy": "PLN", "kopeck": "RUB",
    "sen": "MYR", "centavo": "MXN PHP BRL", "centime": "CHF", "rappen": "CHF", "öre": "SEK", "øre": "NOK DKK",
}  # fmt: skip
"""The codes of the currencies that a subunit may be a hundredth of."""

SIGNS = "".join(sorted(name for name in CODES if len(name) == 1 and not name.isalpha()))
_BEFORE = "|".join(name[:-1] for name in CODES if len(name) > 1 and name[-1] in SIGNS)
SIGN = rf"(?i:(?:{_BEFORE})[$]|[{SIGNS}])"
"""A regular expression of the signs, also with the letters of a country: ``$``, ``US$``."""
_OWN = {codes[0]: names[0] for codes, names in reversed(_LINES) if len(codes) == 1}
_IN_CAPITALS = ("try", "rub", "cop", "ars")  # words, and a product
ISO = rf"(?:{'|'.join(code if code.lower() in _IN_CAPITALS else f'(?i:{code})' for code in sorted(_OWN))})"
"""A regular expression of the codes."""
_WORDS = [
    name
    for name in CODES
    if name.isalpha() and name not in _IN_CAPITALS and (len(name) > 2 or name == "rs" or not name.isascii())
]
WORD = rf"(?:{'|'.join(_IN_CAPITALS).upper()}|(?i:(?:{'|'.join(_WORDS)})s?))\b"
"""A regular expression of the codes and of the names of one word."""
ANY = rf"[{SIGNS}]|(?<![^\W\d_]){WORD}"
"""A regular expression of signs, codes and names."""
UNITS = _OWN | {
    name + plural: names[0]
    for _, names in _LINES
    for name in names
    for plural in ("", "s")
    if name in _WORDS or name[-1] in SIGNS
}
"""The name of a currency as a unit, by its codes, its signs and its names of one word."""
AMBIGUOUS = {names[0]: tuple(_OWN[code] for code in codes) for codes, names in _LINES if len(codes) > 1}
"""Units that may be several currencies, the usual one first."""
_LONG = {name: codes[0] for codes, names in _LINES for name in names if " " in name}
_NAME = lazy_compile(rf"\b({'|'.join(sorted(_LONG, key=len, reverse=True))})s?\b", re.IGNORECASE)


def with_codes(text: str) -> str:
    """``30 AUD`` for ``30 Australian dollars``."""
    return _NAME.sub(lambda match: _LONG[match[1].lower()], text)
