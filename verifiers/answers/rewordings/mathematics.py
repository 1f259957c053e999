r"""Formulas without what is said beside them.

What was asked for (``\int_0^1 x\,dx = \frac12``), where one holds (``f(x) = x + 1 \text{ for all } x \in \mathbb{R}``),
its constant (``f(x) = kx for some constant k`` where the gold answer has a c), the name of a point (``P(0, 3)``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import partial

from grpo_env.lazy_regex import lazy_compile

from ..formulas.asked import may_be_same, value_asked
from ..spelling.brackets import items
from ..spelling.normal import normal

MATHEMATICS = frozenset(("number", "formula", "set", "tuple"))
"""The kinds of gold answers that are mathematics."""
_DOMAIN = lazy_compile(
    r"[\s,]*(?:\\(?:quad|qquad|,|;| ))*\s*(?:\(\s*(?P<bare>[a-z])\s*\\in\s*SET\s*\)"
    r"|(?:\\text\{[\s,]*for (?:all|every|any)\s*\}|\\forall|for (?:all|every|any))\s*\$?(?P<all>[a-z])\s*\\in\s*SET\$?"
    r"|(?:\\text\{\s*)?for (?:all|every|any)(?: (?:real|positive|natural|nonnegative|numbers?|integers?|reals))* ?\}?"
    r"\s*\$?(?P<word>[a-z])(?![a-z])\$?\}?)".replace(
        "SET", r"\\math(?:bb|bf)\s?\{?\s?[NZQR]\s?\}?(?:[\^_](?:[*+]|\{[^{}]{1,6}\}))?"
    )
)
_SOME_CONSTANT = lazy_compile(
    r"[\s,;]*(?:\\text\{)?[\s,]*(?:for|with|where) (?:some|any|all|an?) (?:arbitrary |real |fixed )?constants?"
    r"\s?\}?\s*\$?(?P<name>[a-zA-Z])\$?\.?\}?\s*\Z"
)
_PAIR_OF_DECIMALS = lazy_compile(
    r"(?P<open>[(\[])\s?(?P<low>-?\d{1,9}\.\d{1,9})\s?,\s?(?P<high>-?\d{1,9}\.\d{1,9})\s?(?P<close>[)\]])"
)
_SPAN_OF_DECIMALS = lazy_compile(
    r"(?:from |(?P<between>between ))?(?P<low>-?\d{1,9}\.\d{1,9}) (?(between)and|to) (?P<high>-?\d{1,9}\.\d{1,9})"
)
# of a confidence interval of a mean, open or closed
_AROUND_PARAMETER = lazy_compile(
    r"(?P<low>-?\d{1,9}\.\d{1,9})\s?(?:<|\\leq?)\s?\\mu"
    r"\s?(?:<|\\leq?)\s?(?P<high>-?\d{1,9}\.\d{1,9})"
)
_INTERVAL = lazy_compile(r"<|\\leq?(?![a-z])|\u2264|\\pm|\u00b1|\+/-| to | and ")
_AROUND = lazy_compile(r"(?P<middle>-?\d{1,9}(?:\.\d{1,9})?)\s?\\pm\s?(?P<margin>\d{1,9}(?:\.\d{1,9})?)")
_ROUNDED = lazy_compile(
    r"(?:[A-Za-z](?:_\w)?\s?=\s?)?(?P<exact>[^=<>]{1,60})\\approx\s?(?P<decimal>-?\d{1,9}\.\d{1,9})(?P<unit>(?:\s?[^\d=]{0,20})?)"
)
_ROOT = lazy_compile(
    r"(?:\\frac\{(?=.*\}\{))?(?P<factor>\d{0,6})\s?\\sqrt\s?\{?(?P<radicand>\d{1,9})\}?(?:\}?(?:\{|/)(?P<divisor>[1-9]\d{0,5})\}?)?"
)
_TIGHT_BOUND = lazy_compile(r"\$?(?:\\Theta|\u0398)(?=\s?\()")  # which is an upper bound
_NAMED_POINT = lazy_compile(r"[A-Z]'?\s?(?=\(.*,.*\)\Z)")  # P(0, 3)


def other_formulas(gold: str, kind: str, answer: str) -> Iterator[str]:
    """A formula without what was asked for, its domain, constant or name."""
    if "=" in answer:
        yield from _values(gold, answer)
    if kind == "number" and (rounded := _rounded(normal(answer))):
        yield rounded
    if "\\in" in answer or "for " in answer:
        shorter = _DOMAIN.sub("", answer).strip(" ,$")
        yield from [shorter] if shorter and "\\in" not in gold else []
    if "constant" in answer:
        yield from _with_constant(gold, answer)
    if kind in ("tuple", "set") and "." in gold and _INTERVAL.search(answer):
        yield from _ends_of_interval(gold, answer)
    if kind == "formula" and gold.lstrip(" $").startswith("O") and (bound := _TIGHT_BOUND.match(answer)):
        yield f"O{answer[bound.end() :]}"
    if kind == "tuple" and (point := _NAMED_POINT.match(answer)):
        yield answer[point.end() :]


def _ends_of_interval(gold: str, answer: str) -> Iterator[str]:
    r"""``(4.2, 5.8)`` of ``5.0 \pm 0.8``, for a gold answer in decimals, which is no pair of two solutions."""
    if parameter := _AROUND_PARAMETER.fullmatch(normal(answer)):
        yield f"({parameter['low']}, {parameter['high']})"
    pair, around = _PAIR_OF_DECIMALS.fullmatch(normal(gold)), _AROUND.fullmatch(normal(answer))
    if pair and (span := _SPAN_OF_DECIMALS.fullmatch(normal(answer))):
        yield f"{pair['open']}{span['low']}, {span['high']}{pair['close']}"
    if pair and around and Decimal(pair["low"]) < Decimal(pair["high"]):
        middle, margin = Decimal(around["middle"]), Decimal(around["margin"])
        yield f"{pair['open']}{middle - margin}, {middle + margin}{pair['close']}"


def _rounded(answer: str) -> str | None:
    r"""``3.16`` of ``\sqrt{10}\approx3.16``: a decimal beside the root that it is rounded from."""
    match = _ROUNDED.fullmatch(answer) if "\\approx" in answer else None
    if match is None:
        return None
    root = _ROOT.fullmatch(match["exact"].strip())
    if root is None:
        return None
    exact = Decimal(root["factor"] or 1) * Decimal(root["radicand"]).sqrt() / Decimal(root["divisor"] or 1)
    decimal = Decimal(match["decimal"])
    half = Decimal(5).scaleb(-len(match["decimal"].partition(".")[2]) - 1)
    return match["decimal"] + match["unit"] if abs(exact - decimal) <= half else None


def value_in_gold(gold: str, answer: str) -> str | None:
    """The value in a gold answer that also says what was asked for, or names a point, if the answer does not."""
    if not _name_the_same(gold, normal(answer)):
        return None
    plain = normal(gold)
    point = _NAMED_POINT.match(plain)
    return plain[point.end() :] if point else value_asked(plain)


def _values(gold: str, answer: str) -> Iterator[str]:
    """What stands right of the quantity that was asked for, or of each in a list."""
    plain = normal(answer)
    if not _name_the_same(gold, plain):  # f(1) = 0 for f(-1) = 0
        return
    parts = items(plain)
    values = [value_asked(part) for part in parts] if len(parts) == 1 or "=" not in gold else []
    if values and all(values):
        yield ", ".join(value for value in values if value)


def _name_the_same(gold: str, answer: str) -> bool:
    """Whether what stands left in both may be the same, or one has no left side."""
    if "=" not in gold or "=" not in answer:
        return True
    return may_be_same(*(text.partition("=")[0].strip() for text in (normal(gold), answer)))


def _with_constant(gold: str, answer: str) -> Iterator[str]:
    """``f(x) = cx`` for ``f(x) = kx for some constant k``, where the gold answer has a c."""
    match = _SOME_CONSTANT.search(answer)
    if match is None:
        return
    rest, old = answer[: match.start()], match["name"]
    if old in gold:
        yield rest
    letters = re.compile(rf"\\[A-Za-z]+|{old}")
    for new in "cCkKaA":
        if new in gold and new not in rest:
            yield letters.sub(partial(_renamed, old, new), rest)


def _renamed(old: str, new: str, match: re.Match[str]) -> str:
    return new if match[0] == old else match[0]
