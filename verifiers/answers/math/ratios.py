"""Ratios: ``2:3``, ``1:2:3``."""

from __future__ import annotations

from collections.abc import Callable

from grpo_env.lazy_regex import lazy_compile

from ..quantities.number import Number
from .brackets import split
from .parsed import Content, Formula, Group, ParsedAnswer

_QUANTITY = lazy_compile(r"[^A-Za-z]*(?:\\[a-z]+[^A-Za-z]*)*|[A-Za-z]")


def read_ratio(text: str, parse: Callable[[str], ParsedAnswer]) -> Content | None:
    """A ratio as its value: of two parts their quotient, of more each part divided by the last one."""
    parts = split(text, ":")
    if len(parts) < 2 or not all(part and _QUANTITY.fullmatch(part) for part in parts):
        return None
    quotients = [_quotient(parse(part), parse(parts[-1])) for part in parts[:-1]]
    defined = [quotient for quotient in quotients if quotient is not None]
    if len(defined) < len(quotients):
        return None
    return defined[0].content if len(defined) == 1 else Group("ratio", tuple(defined))


def _quotient(part: ParsedAnswer, last: ParsedAnswer) -> ParsedAnswer | None:
    if isinstance(part.content, Number) and isinstance(last.content, Number):
        if not last.content.value:
            return None
        return ParsedAnswer(f"{part.text}/{last.text}", Number(part.content.value / last.content.value))
    text = rf"\frac{{{part.text}}}{{{last.text}}}"
    return ParsedAnswer(text, Formula(text))
