r"""Sets of real numbers: ``(-\infty,2)``, ``x<2``, ``[1,2]\cup[2,3]``, ``x\ne 3`` as sorted disjoint pieces."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from .brackets import items
from .exact import Number
from .parsed import Formula, Group, Reading, Shape

INFINITIES = {"\\infty": 1, "-\\infty": -1}
REALS = Group("()", tuple(Reading(text, Formula(text)) for text in ("-\\infty", "\\infty")))

_RELATION = re.compile(r"<|>|\\(?:le|ge|ne)(?![a-z])")
_NAME = re.compile(r"[A-Za-z](?:_\{?\w{1,9}\}?)?|\\(?:theta|alpha|beta|lambda)")
_LETTER = re.compile(r"(?<![A-Za-z\\])[A-Za-df-z](?![A-Za-z])")
_DISTANCE = re.compile(rf"\|\s*({_NAME.pattern})\s*([-+].+)?\|\s*(<|>|\\le|\\ge)(?![a-z])(.+)")
_TURNED = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le"}


class Edge(NamedTuple):
    """A place on the line: just before (-1), at (0) or just after (1) a number; ``side`` of infinity is 0."""

    infinite: int
    value: Fraction
    side: int


Pieces: TypeAlias = tuple[tuple[Edge, Edge], ...]  # from the first edge to the second, sorted, never touching

_ALL: Pieces = ((Edge(-1, Fraction(0), 0), Edge(1, Fraction(0), 0)),)


def real_set(shape: Shape) -> Pieces | None:
    """The real numbers that intervals, unions of them and sets of points hold; ``None`` if it is something else."""
    if not isinstance(shape, Group):
        return None
    if shape.kind == "union":
        parts = [real_set(item.shape) for item in shape.items]
        return _merged([piece for part in parts if part is not None for piece in part]) if all(parts) else None
    ends = [_number(item) for item in shape.items]
    found = [end for end in ends if end is not None]
    if len(found) < len(ends):
        return None
    if shape.kind == "set":
        return _merged([(Edge(*end, -1), Edge(*end, 1)) for end in found if not end[0]])
    if shape.kind not in ("()", "[]", "(]", "[)") or len(found) != 2:
        return None
    low, high = found
    first = Edge(*low, 0 if low[0] else 1 if shape.kind[0] == "(" else -1)
    last = Edge(*high, 0 if high[0] else -1 if shape.kind[1] == ")" else 1)
    return _merged([(first, last)]) if first < last else None


def group(pieces: Pieces) -> Group:
    """The intervals and points that a set of real numbers consists of."""
    found = [_interval(*piece) for piece in pieces]
    return found[0] if len(found) == 1 else _union(found)


def without(whole: Pieces, removed: Pieces) -> Pieces:
    """What is in the one but not in the other."""
    edges = [_ALL[0][0], *(edge for piece in removed for edge in piece), _ALL[0][1]]
    return _common(whole, tuple(gap for gap in zip(edges[::2], edges[1::2], strict=True) if gap[0] < gap[1]))


def inequality(text: str, read: Callable[[str], Reading]) -> tuple[str, Group] | None:
    """The variable of an inequality, or of several joined by ``or`` or ``and``, and what it may be; else ``None``."""
    if not _RELATION.search(text):
        return None
    cases = re.split(r"\s+or\s+", text)
    if len(cases) > 1:
        found = [inequality(case, read) for case in cases]
        regions = [region for region in found if region]
        if len(regions) < len(cases) or len({name for name, _ in regions}) > 1:
            return None
        return regions[0][0], _union([one for _, region in regions for one in _flat(region)])
    conditions = items(text)
    if len(conditions) > 1:
        return _all_of([inequality(condition, read) for condition in conditions])
    return _distance(text, read) or _one(text, read)


def _distance(text: str, read: Callable[[str], Reading]) -> tuple[str, Group] | None:
    """``|x-1| < 3``: the numbers nearer than 3 to 1; or not so near."""
    match = _DISTANCE.fullmatch(text)
    if match is None:
        return None
    centre, radius = (read(part).shape for part in (match[2] or "0", match[4]))
    if not (isinstance(centre, Number) and isinstance(radius, Number) and radius.value > 0):
        return None
    outside, closed = match[3] in (">", "\\ge"), match[3] in ("\\le", "\\ge")
    side = 1 if closed != outside else -1  # the far end of what is near, or of the gap
    near = ((Edge(0, -centre.value - radius.value, -side), Edge(0, radius.value - centre.value, side)),)
    return match[1], group(without(_ALL, near) if outside else near)


def _one(text: str, read: Callable[[str], Reading]) -> tuple[str, Group] | None:
    sides = [side.strip() for side in _RELATION.split(text)]
    signs = [match.group() for match in _RELATION.finditer(text)]
    if not all(sides) or "=" in text or len(sides) > 3:
        return None
    at = 0 if len(sides) == 2 and _NAME.fullmatch(sides[0]) else 1
    if not _NAME.fullmatch(sides[at]) or any(_LETTER.search(side) for n, side in enumerate(sides) if n != at):
        return None
    if "\\ne" in signs:
        pieces = real_set(Group("set", (read(sides[1 - at]),))) if len(sides) == 2 else None
        return (sides[at], group(without(_ALL, pieces))) if pieces else None
    ends: dict[bool, tuple[Reading, bool]] = {}  # below, above: the end, and whether it is in
    for n, side in enumerate(sides):
        if n != at:
            sign = signs[n - 1] if n > at else _TURNED[signs[n]]
            ends[sign in ("<", "\\le")] = (read(side), sign in ("\\le", "\\ge"))
    if len(ends) < len(sides) - 1:
        return None
    low, closed_below = ends.get(False, (REALS.items[0], False))
    high, closed_above = ends.get(True, (REALS.items[1], False))
    return sides[at], Group(("[" if closed_below else "(") + ("]" if closed_above else ")"), (low, high))


def _all_of(found: list[tuple[str, Group] | None]) -> tuple[str, Group] | None:
    """Conditions that hold together or, if they cannot (``x<1, x>3``), cases."""
    regions = [region for region in found if region]
    sets = [pieces for _, region in regions if (pieces := real_set(region))]
    if len(sets) < len(found) or len({name for name, _ in regions}) > 1:
        return None
    together = sets[0]
    for pieces in sets[1:]:
        together = _common(together, pieces)
    return regions[0][0], group(together or _merged([piece for pieces in sets for piece in pieces]))


def _flat(region: Group) -> list[Group]:
    found = [item.shape for item in region.items] if region.kind == "union" else [region]
    return [one for one in found if isinstance(one, Group)]


def _union(groups: list[Group]) -> Group:
    return Group("union", tuple(Reading(_text(one), one) for one in groups))


def _text(one: Group) -> str:
    inner = ",".join(item.text for item in one.items)
    return rf"\{{{inner}\}}" if one.kind == "set" else one.kind[0] + inner + one.kind[1]


def _number(end: Reading) -> tuple[int, Fraction] | None:
    shape = end.shape
    if isinstance(shape, Formula) and shape.text in INFINITIES:
        return INFINITIES[shape.text], Fraction(0)
    return (0, shape.value) if isinstance(shape, Number) and not shape.unit and shape.numeral is None else None


def _merged(pieces: list[tuple[Edge, Edge]]) -> Pieces:
    merged: list[tuple[Edge, Edge]] = []
    for low, high in sorted(pieces):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged)


def _common(one: Pieces, other: Pieces) -> Pieces:
    both = [(max(a[0], b[0]), min(a[1], b[1])) for a in one for b in other]
    return _merged([piece for piece in both if piece[0] < piece[1]])


def _interval(low: Edge, high: Edge) -> Group:
    if low.value == high.value and not low.infinite and not high.infinite:
        return Group("set", (_end(low),))
    kind = ("[" if low.side < 0 and not low.infinite else "(") + ("]" if high.side > 0 and not high.infinite else ")")
    return Group(kind, (_end(low), _end(high)))


def _end(edge: Edge) -> Reading:
    return REALS.items[(edge.infinite + 1) // 2] if edge.infinite else Reading(str(edge.value), Number(edge.value))
