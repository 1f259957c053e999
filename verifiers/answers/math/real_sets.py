r"""Sets of real numbers: ``(-\infty,2)``, ``x<2``, ``[1,2]\cup[2,3]``, ``x\ne 3`` as sorted disjoint pieces."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from grpo_env.lazy_regex import lazy_compile

from ..quantities.number import Number
from .brackets import items
from .parsed import Content, Formula, Group, ParsedAnswer

INFINITIES = {"\\infty": 1, "-\\infty": -1}
REALS = Group("()", tuple(ParsedAnswer(text, Formula(text)) for text in ("-\\infty", "\\infty")))

_RELATION = lazy_compile(r"<|>|\\(?:le|ge|ne)(?![a-z])")
_NAME = lazy_compile(r"[A-Za-z](?:_\{?\w{1,9}\}?|\([A-Za-z]\))?|\\(?:theta|alpha|beta|lambda)")
_LETTER = lazy_compile(r"(?<![A-Za-z\\])[A-Za-df-z](?![A-Za-z])")
_TURNED = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le"}


class Edge(NamedTuple):
    """A place on the line: just before (-1), at (0) or just after (1) a number; ``side`` of infinity is 0."""

    infinite: int
    value: Fraction
    side: int


Pieces: TypeAlias = tuple[tuple[Edge, Edge], ...]  # from the first edge to the second, sorted, never touching

Parse: TypeAlias = Callable[[str], ParsedAnswer]
Region: TypeAlias = tuple[str, Group]  # a variable and the values that it may have

_ALL: Pieces = ((Edge(-1, Fraction(0), 0), Edge(1, Fraction(0), 0)),)


def real_set(content: Content) -> Pieces | None:
    """The real numbers in intervals, unions of them and sets of points; ``None`` if the content is something else."""
    if not isinstance(content, Group):
        return None
    if content.kind == "union":
        parts = [real_set(item.content) for item in content.items]
        return _merged([piece for part in parts if part is not None for piece in part]) if all(parts) else None
    numbers = [number for item in content.items if (number := _number(item)) is not None]
    if len(numbers) < len(content.items):
        return None
    if content.kind == "set":
        return _merged([(Edge(*number, -1), Edge(*number, 1)) for number in numbers if not number[0]])
    if content.kind not in ("()", "[]", "(]", "[)") or len(numbers) != 2:
        return None
    return _from_to(numbers[0], numbers[1], content.kind)


def _from_to(low: tuple[int, Fraction], high: tuple[int, Fraction], brackets: str) -> Pieces | None:
    first = Edge(*low, 0 if low[0] else 1 if brackets[0] == "(" else -1)
    last = Edge(*high, 0 if high[0] else -1 if brackets[1] == ")" else 1)
    return _merged([(first, last)]) if first < last else None


def group(pieces: Pieces) -> Group:
    """The intervals and points that a set of real numbers consists of."""
    groups = [_interval(*piece) for piece in pieces]
    return groups[0] if len(groups) == 1 else _union(groups)


def without(whole: Pieces, removed: Pieces) -> Pieces:
    """What is in ``whole`` but not in ``removed``."""
    edges = [_ALL[0][0], *(edge for piece in removed for edge in piece), _ALL[0][1]]
    return common(whole, tuple(gap for gap in zip(edges[::2], edges[1::2], strict=True) if gap[0] < gap[1]))


def inequality(text: str, parse: Parse) -> Region | None:
    """The variable of an inequality, or of several joined by ``or`` or ``and``, and its values; else ``None``."""
    if not _RELATION.search(text):
        return None
    cases = re.split(r"\s+or\s+", text)
    if len(cases) > 1:
        regions = [region for case in cases if (region := inequality(case, parse))]
        if len(regions) < len(cases) or len({name for name, _ in regions}) > 1:
            return None
        return regions[0][0], _union([part for _, values in regions for part in _parts(values)])
    conditions = items(text)
    if len(conditions) > 1:
        return _all_of([inequality(condition, parse) for condition in conditions])
    return _comparison(text, parse)


def _comparison(text: str, parse: Parse) -> Region | None:
    """``x < 2``, ``1 < x < 2`` or ``x \\ne 3``."""
    sides = [side.strip() for side in _RELATION.split(text)]
    signs = [match.group() for match in _RELATION.finditer(text)]
    if not all(sides) or "=" in text or len(sides) > 3:
        return None
    at = 0 if len(sides) == 2 and _NAME.fullmatch(sides[0]) else 1
    if not _NAME.fullmatch(sides[at]) or any(_LETTER.search(side) for n, side in enumerate(sides) if n != at):
        return None
    if "\\ne" in signs:
        pieces = real_set(Group("set", (parse(sides[1 - at]),))) if len(sides) == 2 else None
        return (sides[at], group(without(_ALL, pieces))) if pieces else None
    return _between_ends(sides, signs, at, parse)


def _between_ends(sides: list[str], signs: list[str], at: int, parse: Parse) -> Region | None:
    ends: dict[bool, tuple[ParsedAnswer, bool]] = {}  # by whether it is the upper end: with whether it is included
    for n, side in enumerate(sides):
        if n != at:
            sign = signs[n - 1] if n > at else _TURNED[signs[n]]
            ends[sign in ("<", "\\le")] = (parse(side), sign in ("\\le", "\\ge"))
    if len(ends) < len(sides) - 1:
        return None
    low, closed_below = ends.get(False, (REALS.items[0], False))
    high, closed_above = ends.get(True, (REALS.items[1], False))
    return sides[at], Group(("[" if closed_below else "(") + ("]" if closed_above else ")"), (low, high))


def _all_of(conditions: list[Region | None]) -> Region | None:
    """Conditions that hold together or, if they cannot (``x<1, x>3``), cases."""
    regions = [region for region in conditions if region]
    sets = [pieces for _, values in regions if (pieces := real_set(values))]
    if len(sets) < len(conditions) or len({name for name, _ in regions}) > 1:
        return None
    together = sets[0]
    for pieces in sets[1:]:
        together = common(together, pieces)
    return regions[0][0], group(together or _merged([piece for pieces in sets for piece in pieces]))


def _parts(values: Group) -> list[Group]:
    contents = [item.content for item in values.items] if values.kind == "union" else [values]
    return [content for content in contents if isinstance(content, Group)]


def _union(groups: list[Group]) -> Group:
    return Group("union", tuple(ParsedAnswer(_text(part), part) for part in groups))


def _text(part: Group) -> str:
    inner = ",".join(item.text for item in part.items)
    return rf"\{{{inner}\}}" if part.kind == "set" else part.kind[0] + inner + part.kind[1]


def _number(end: ParsedAnswer) -> tuple[int, Fraction] | None:
    """A real number or an infinity, as the first two fields of an ``Edge``."""
    content = end.content
    if isinstance(content, Formula) and content.text in INFINITIES:
        return INFINITIES[content.text], Fraction(0)
    if isinstance(content, Number) and not content.unit and content.numeral is None:
        return 0, content.value
    return None


def _merged(pieces: list[tuple[Edge, Edge]]) -> Pieces:
    merged: list[tuple[Edge, Edge]] = []
    for low, high in sorted(pieces):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged)


def common(one: Pieces, other: Pieces) -> Pieces:
    """What is in both."""
    both = [(max(a[0], b[0]), min(a[1], b[1])) for a in one for b in other]
    return _merged([piece for piece in both if piece[0] < piece[1]])


def _interval(low: Edge, high: Edge) -> Group:
    if low.value == high.value and not low.infinite and not high.infinite:
        return Group("set", (_end(low),))
    kind = ("[" if low.side < 0 and not low.infinite else "(") + ("]" if high.side > 0 and not high.infinite else ")")
    return Group(kind, (_end(low), _end(high)))


def _end(edge: Edge) -> ParsedAnswer:
    return REALS.items[(edge.infinite + 1) // 2] if edge.infinite else ParsedAnswer(str(edge.value), Number(edge.value))
