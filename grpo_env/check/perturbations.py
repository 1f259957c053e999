"""Perturbed gold answers: wrong answers that no verifier of the answer should give credit for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

_NUMBER = re.compile(r"[-+]?\$?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?%?")
_LATEX_SPELLING = re.compile(r"\\(?:left|right)(?![a-z])|\\[!,;:]|\\[dt](?=frac)|[\s{}$,\\]")
_VARIABLE = re.compile(r"^[A-Za-z]=")  # x=5 is 5


def number(text: str) -> Fraction | None:
    """The value of a plain number (``1,000``, ``-2.5``, ``$18``), ``None`` for anything else."""
    text = text.strip()
    if len(text) > 60 or not _NUMBER.fullmatch(text):
        return None
    return Fraction(text.translate({ord(sign): None for sign in ",$%"}))


def differs(a: str, b: str) -> bool:
    """Whether two answers are likely to differ: as numbers, or else as texts apart from how LaTeX is spelled."""
    values = number(a), number(b)
    if None not in values:
        return values[0] != values[1]
    return _plain(a) != _plain(b)


def _plain(text: str) -> str:
    return _VARIABLE.sub("", _LATEX_SPELLING.sub("", text)).casefold()


def another(golds: Sequence[str], index: int) -> str | None:
    """The next gold answer that differs from the one at ``index``; ``None`` if all are the same."""
    order = (golds[(index + step) % len(golds)] for step in range(1, len(golds)))
    return next((gold for gold in order if differs(gold, golds[index])), None)


def perturbations(golds: Sequence[str], index: int) -> Iterator[tuple[str, str]]:
    """Name and text of each wrong version of the gold answer at ``index``."""
    gold = golds[index]
    digits = re.search(r"\d{1,400}", gold)
    if digits:
        yield "a number changed", f"{gold[: digits.start()]}{int(digits[0]) + 1}{gold[digits.end() :]}"
    value = number(gold)
    if value:
        yield "the sign changed", gold.lstrip("-") if value < 0 else f"-{gold.lstrip('+')}"
    other = another(golds, index)
    if other is not None:
        yield "another row's", other
    yield "empty", ""
