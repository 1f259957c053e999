r"""Piecewise functions, ``\begin{cases} x^2 & x\le1 \\ 2x-1 & x>1 \end{cases}``: branches in any order."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from grpo_env.lazy_regex import lazy_compile

from ..formulas.intervals import REALS, Pieces, common, group, real_set, without
from ..parse import parse
from ..parsed import Group, ParsedAnswer
from ..spelling.brackets import split
from ..spelling.normal import squeezed

MAX_BRANCHES = 12

_CASES = lazy_compile(
    r"(?:(?P<name>[A-Za-z]\w{0,2}(?:\([A-Za-z]\))?)\s*=\s*)?\\begin\{(?:cases|dcases|rcases)\}(?P<rows>.*)\\end\{(?:cases|dcases|rcases)\}",
    re.DOTALL,
)
_WORDS = lazy_compile(r"[,;\s]*(?:\b(?:if|for|when|where|and)\b\s*)*")
_ELSE = lazy_compile(r"(?:otherwise|else|elsewhere)\W*", re.IGNORECASE)


Same: TypeAlias = Callable[[str, str], bool]


class Branch(NamedTuple):
    """A value and its condition, which is "" for otherwise."""

    value: str
    condition: str


def same_branches(one: str, other: str, same: Same) -> bool | None:
    """Whether two piecewise functions have equal branches; ``None`` if one is none, or if that cannot be told.

    ``same`` compares two values. Functions that differ at single points only, the ends of their conditions, are not
    decided.
    """
    first, second = _branches(one), _branches(other)
    if not first or not second:
        return None
    same_pairs = _same_pairs(first, second, same)
    return _same_everywhere(first, second, same) if same_pairs is None else same_pairs


def _same_pairs(first: tuple[Branch, ...], second: tuple[Branch, ...], same: Same) -> bool | None:
    """Whether branches with the same conditions have equal values; ``None`` if the conditions are not the same."""
    if len(first) != len(second):
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


def _same_everywhere(first: tuple[Branch, ...], second: tuple[Branch, ...], same: Same) -> bool | None:
    """Whether two functions have equal values wherever a branch of one meets a branch of the other."""
    one, other = _regions(first), _regions(second)
    if one is None or other is None or one[0] != other[0]:
        return None
    wholes = [real_set(_union(regions)) or () for _, regions in (one, other)]
    undecided = False
    for inside, outside in (wholes, wholes[::-1]):
        rest = without(inside, outside)
        if _is_long(rest):
            return False
        undecided = undecided or bool(rest)
    for branch, region in zip(first, one[1], strict=True):
        for match, place in zip(second, other[1], strict=True):
            meeting = common(region, place)
            if meeting and not same(branch.value, match.value):
                if _is_long(meeting):
                    return False
                undecided = True
    return None if undecided else True


def _regions(branches: tuple[Branch, ...]) -> tuple[str, list[Pieces]] | None:
    """The variable, and where each branch holds; ``None`` if that is unclear or two branches hold at one place."""
    conditions = [parse(branch.condition) for branch in branches if branch.condition]
    names = {condition.variable for condition in conditions}
    known = [pieces for condition in conditions if (pieces := real_set(condition.content))]
    if len(known) < len(conditions) or len(names) != 1 or len(branches) - len(known) > 1:
        return None
    whole = real_set(REALS)
    rest = without(whole, real_set(_union(known)) or ()) if whole else ()
    left = iter(known)
    regions = [next(left) if branch.condition else rest for branch in branches]
    if any(common(a, b) for n, a in enumerate(regions) for b in regions[:n]):
        return None
    return names.pop() or "", regions


def _union(regions: list[Pieces]) -> Group:
    return Group("union", tuple(ParsedAnswer("", group(region)) for region in regions if region))


def _is_long(pieces: Pieces) -> bool:
    """Whether there is more than single points."""
    return any(low.value != high.value or low.infinite != high.infinite for low, high in pieces)


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
