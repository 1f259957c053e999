r"""Piecewise functions, ``\begin{cases} x^2 & x\le1 \\ 2x-1 & x>1 \end{cases}``: branches in any order."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from .brackets import split
from .intervals import real_set
from .normal import squeezed
from .parse import parse

MAX_BRANCHES = 12

_CASES = lazy_compile(
    r"(?:(?P<name>[A-Za-z]\w{0,2}(?:\([A-Za-z]\))?)\s*=\s*)?\\begin\{(?:cases|dcases|rcases)\}(?P<rows>.*)\\end\{(?:cases|dcases|rcases)\}",
    re.DOTALL,
)
_WORDS = lazy_compile(r"[,;\s]*(?:\b(?:if|for|when|where|and)\b\s*)*")
_ELSE = lazy_compile(r"(?:otherwise|else|elsewhere)\W*", re.IGNORECASE)


class Branch(NamedTuple):
    """A value and its condition, which is "" for otherwise."""

    value: str
    condition: str


def same_branches(one: str, other: str, same: Callable[[str, str], bool]) -> bool | None:
    """Whether two piecewise functions have equal branches; ``None`` if one is none, or if that cannot be told.

    ``same`` compares two values. Functions whose conditions have other ends may be equal, so these are not decided.
    """
    first, second = _branches(one), _branches(other)
    if not first or not second or len(first) != len(second):
        return None
    left = list(second)
    pairs = []
    for branch in first:
        match = next((other for other in left if _same_condition(branch.condition, other.condition)), None)
        if match is None:
            return None
        left.remove(match)
        pairs.append((branch.value, match.value))
    return all(same(*pair) for pair in pairs)


@lru_cache(maxsize=256)
def _branches(text: str) -> tuple[Branch, ...]:
    match = _CASES.fullmatch(text)
    rows = [row for row in split(match["rows"], "\\\\") if row] if match else []
    cells = [split(row, "&") for row in rows]
    if not 1 < len(cells) <= MAX_BRANCHES or any(len(row) != 2 or not all(row) for row in cells):
        return ()
    return tuple(Branch(value.rstrip(" ,;."), _condition(condition)) for value, condition in cells)


def _condition(text: str) -> str:
    text = text[_WORDS.match(text).end() :].rstrip(" ,;.")  # type: ignore[union-attr]
    return "" if _ELSE.fullmatch(text) else text


def _same_condition(one: str, other: str) -> bool:
    """Whether two conditions are the same text or the same set of real numbers for the same variable."""
    if squeezed(one) == squeezed(other):
        return True
    first, second = parse(one), parse(other)
    region = real_set(first.content)
    return bool(region) and first.variable == second.variable and region == real_set(second.content)
