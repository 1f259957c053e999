r"""Several values or lines that are all answers: ``y=\pm\frac34x``, ``\lambda=1, 3``, ``f(x)=0 \text{ or } f(x)=x``.

Equations with different names, ``x=2, y=-1``, are one solution and no such list.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..spelling.brackets import items, outer, split

MAX_LENGTH = 200
MAX_EQUATIONS = 8

_NAME = lazy_compile(
    r"(?P<name>(?:[A-Za-z]|\\(?:lambda|mu|alpha|beta|theta|omega)(?![a-z]))(?:\s?\(\s?[a-z]\s?\))?)(?:\s?_\s?\{?\s?(?P<index>\w)\s?\}?)?"
)
_RELATION = lazy_compile(r"[<>]|\\(?:le|ge|ne|in|approx|equiv|to|begin)(?![a-z])")
_PLUS_MINUS = lazy_compile(r"\\pm(?![A-Za-z])")
_MINUS_PLUS = lazy_compile(r"\\mp(?![A-Za-z])")


class Equation(NamedTuple):
    """An equation; with the name of the unknown and its value if it is solved for one."""

    name: str
    label: str
    value: str
    text: str


def may_be_list(gold: str) -> bool:
    """Whether a gold answer may be such a list."""
    return "=" in gold and ("," in gold or "\\pm" in gold or " or " in gold or " and " in gold)


def same_equations(gold: str, answer: str, equal: Callable[[str, str], bool]) -> bool:
    """Whether two texts in normal spelling list the same equations. ``equal`` compares two values or equations."""
    first, second = _equations(gold), _equations(answer)
    if {equation.label for equation in second} == {""} and len({equation.label for equation in first}) == len(first):
        first = tuple(
            equation._replace(label="") for equation in first
        )  # \lambda = 5, \lambda = 2 for \lambda_1 = 2, …
    if len(first) < 2 or len({(equation.name, equation.label) for equation in first}) > 1:
        return False
    if not first[0].name and len(items(gold)) > 1:  # a system
        return False
    if len(second) < 2 or len({equation.name for equation in second if equation.name}) > 1:
        return False
    if second[0].label and not (second[0].name and len({equation.label for equation in second}) > 1):
        return False

    def same(one: Equation, other: Equation) -> bool:
        if one.name and one.name == other.name:
            return equal(one.value, other.value)
        return not other.label and equal(one.text, other.text)

    return all(any(same(one, other) for other in second) for one in first) and all(
        any(same(one, other) for one in first) for other in second
    )


def same_solutions(gold: str, answer: str, equal: Callable[[str, str], bool]) -> bool:
    """Whether two texts in normal spelling name the same solutions: ``x=3, y=1 or x=1, y=3``, ``(x,y)=(3,1) or …``."""
    first, second = _solutions(gold), _solutions(answer)
    if not first or not second or first[0].keys() != second[0].keys():
        return False

    def same(one: dict[str, str], other: dict[str, str]) -> bool:
        return all(equal(value, other[name]) for name, value in one.items())

    return all(any(same(one, other) for other in second) for one in first) and all(
        any(same(one, other) for one in first) for other in second
    )


def _solutions(text: str) -> list[dict[str, str]]:
    """The values of the same names in each of several solutions; none if the text is something else."""
    if len(text) > MAX_LENGTH or " or " not in text or "=" not in text or _RELATION.search(text):
        return []
    found = []
    for alternative in text.split(" or "):
        pairs = [split(part, "=") for part in items(alternative)]
        if len(pairs) == 1 and len(pairs[0]) == 2:  # (x, y) = (3, 1)
            names, values = (items(side[1:-1]) if outer(side)[0] == "()" else [] for side in pairs[0])
            pairs = [list(pair) for pair in zip(names, values, strict=True)] if len(names) == len(values) else []
        if len(pairs) < 2 or any(len(pair) != 2 for pair in pairs):
            return []
        found.append({name.strip(): value.strip() for name, value in pairs})
    same_names = all(solution.keys() == found[0].keys() and len(solution) > 1 for solution in found)
    return found if same_names and len(found) <= MAX_EQUATIONS else []


@lru_cache(maxsize=512)
def _equations(text: str) -> tuple[Equation, ...]:
    """The equations of a list, two for each with a plus-minus sign; none if a part is no equation."""
    if len(text) > MAX_LENGTH or _RELATION.search(text):
        return ()
    found: list[Equation] = []
    left = ""
    for part in items(text):
        sides = split(part, "=")
        if len(sides) == 1 and _NAME.fullmatch(left):  # \lambda = 1, 3
            sides = [left, part]
        if len(sides) != 2 or not all(sides) or len(_PLUS_MINUS.findall(part)) > 1:
            return ()
        left = sides[0]
        named = _NAME.fullmatch(left)
        name, index = (named["name"].replace(" ", ""), named["index"] or "") if named else ("", "")
        for plus, minus in (("+", "-"), ("-", "+")) if _PLUS_MINUS.search(part) else (("", ""),):
            signed = [_MINUS_PLUS.sub(minus, _PLUS_MINUS.sub(plus, side)).strip().lstrip("+ ") for side in sides]
            found.append(Equation(name, index, signed[1], " = ".join(signed)))
    return tuple(found) if len(found) <= MAX_EQUATIONS else ()
