"""One value and what it is, in any arrangement: ``a loss of $2.3 million`` and $2,300,000 loss."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..quantities.money import read_money
from ..quantities.units import is_measure
from ..times.clock import read_time
from ..vocabulary.currencies import ISO, SIGN
from ..vocabulary.unit_names import NAMES

MAX_LENGTH = 80
MAX_WORDS = 3  # beside the value

_VALUE = lazy_compile(
    rf"(?P<time>\d{{1,2}}:\d\d(?: ?[apAP]\.?[mM]\b\.?)?)"
    rf"|(?P<amount>-?(?:(?:{SIGN}|\b(?:{ISO})) ?)?\d[\d,]*(?:\.\d+)?(?: ?(?:thousand|million|billion|mn|bn|[kK]\b))?"
    rf"(?P<unit> ?(?:%|per ?cent\b|{SIGN}|(?:{ISO})\b|[A-Za-z\u00b5\u00b0]{{1,12}}\b))?)"
)
_LITTLE = frozenset("a an the of by is was were are at it they he she we there".split())  # noqa: SIM905
_SAME = {
    "lost": "loss", "loses": "loss", "lose": "loss", "losses": "loss", "gained": "gain", "gains": "gain",
    "rose": "increase", "rise": "increase", "rises": "increase", "risen": "increase", "increased": "increase",
    "increases": "increase", "fell": "decrease", "fall": "decrease", "falls": "decrease", "fallen": "decrease",
    "drop": "decrease", "dropped": "decrease", "drops": "decrease", "decline": "decrease", "declined": "decrease",
    "decreased": "decrease", "decreases": "decrease", "reduction": "decrease", "reduced": "decrease",
    "discounted": "discount", "arrives": "arrival", "arrived": "arrival", "arriving": "arrival", "departs": "departure",
    "departed": "departure", "departing": "departure", "profits": "profit",
}  # fmt: skip
_WORD = lazy_compile(r"[^\W\d_][\w'-]*")
_OTHER = lazy_compile(r"[^\w\s:,.'-]")
_PHRASES = (
    (lazy_compile(r"\bprior to\b"), "before"),
    (lazy_compile(r"\b(?:pre|before)[- ](?=tax)"), "before "),
    (lazy_compile(r"\b(?:post|after)[- ](?=tax)"), "after "),
)


def qualified(text: str) -> str | None:
    """The only value of a text, which must be a time or have a unit, and the other words in their order.

    The text is in the spelling of ``codes.plain``. ``None`` if there is no such value, or no or too many other words.
    """
    if len(text) > MAX_LENGTH or " " not in text:
        return None
    match = _VALUE.search(text)
    if match is None:
        return None
    end, value = match.end(), _value(match)
    if value is None and match["unit"]:
        end = match.start("unit")
        value = _amount(text[match.start() : end])
    rest = f"{text[: match.start()]} {text[end:]}".lower()
    if value is None or any(map(str.isdigit, rest)) or _OTHER.search(rest):
        return None
    for phrase, name in _PHRASES:
        rest = phrase.sub(name, rest)
    words = [_SAME.get(word, word) for word in _WORD.findall(rest) if word not in _LITTLE]
    return f"{value} {' '.join(words)}" if 1 <= len(words) <= MAX_WORDS else None


def _value(match: re.Match[str]) -> str | None:
    """A time in seconds, or an amount with its unit; ``None`` if there is none."""
    if match["time"]:
        clock = read_time(match["time"])
        return f"{clock.seconds} {clock.sure or clock.padded or clock.half}" if clock else None
    unit = (match["unit"] or "").strip()
    if money := _amount(match["amount"]):
        return money
    is_percent = unit.lower().replace(" ", "") in ("%", "percent")
    name = "%" if is_percent else NAMES.get(unit) or NAMES.get(unit.lower(), unit)
    number = read_money(match["amount"][: len(match["amount"]) - len(match["unit"] or "")].strip())
    return f"{number.amount.normalize():f} {name}" if number and is_measure(name) else None


def _amount(text: str) -> str | None:
    """An amount of money in a currency."""
    money = read_money(text.strip())
    return f"{money.amount.normalize():f} {sorted(money.codes)}" if money and money.codes else None
