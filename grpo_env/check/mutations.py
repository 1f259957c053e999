"""Gold answers made wrong: what no verifier of the answer may pay."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

_NUMBER = re.compile(r"[-+]?\$?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?%?")
_LATEX_SPELLING = re.compile(r"\\(?:left|right)(?![a-z])|\\[!,;:]|\\[dt](?=frac)|[\s{}$,\\]")
_NAME = re.compile(r"^[A-Za-z]=")  # x=5 is 5


def number(text: str) -> Fraction | None:
    """The value of a plain number (``1,000``, ``-2.5``, ``$18``), ``None`` for anything else."""
    text = text.strip()
    if len(text) > 60 or not _NUMBER.fullmatch(text):
        return None
    return Fraction(text.translate({ord(one): None for one in ",$%"}))


def differs(one: str, other: str) -> bool:
    """Whether two answers are likely to be different: other numbers, else another text but for LaTeX's spelling."""
    values = number(one), number(other)
    if None not in values:
        return values[0] != values[1]
    return _plain(one) != _plain(other)


def _plain(text: str) -> str:
    return _NAME.sub("", _LATEX_SPELLING.sub("", text)).casefold()


def another(golds: Sequence[str], place: int) -> str | None:
    """The gold answer of another row, one that differs from that at ``place``; ``None`` if all rows have the same."""
    order = (golds[(place + step) % len(golds)] for step in range(1, len(golds)))
    return next((gold for gold in order if differs(gold, golds[place])), None)


def mutations(golds: Sequence[str], place: int) -> Iterator[tuple[str, str]]:
    """Name and text of each wrong version that the gold at ``place`` has."""
    gold = golds[place]
    digits = re.search(r"\d{1,400}", gold)
    if digits:
        yield "a number changed", f"{gold[: digits.start()]}{int(digits[0]) + 1}{gold[digits.end() :]}"
    value = number(gold)
    if value:
        yield "the sign changed", gold.lstrip("-") if value < 0 else f"-{gold.lstrip('+')}"
    other = another(golds, place)
    if other is not None:
        yield "another row's", other
    yield "empty", ""
