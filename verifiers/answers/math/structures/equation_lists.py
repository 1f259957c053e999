r"""Several values or lines that are all answers: ``y=\pm\frac34x``, ``x=1, 3``, ``f(x)=0 \text{ or } f(x)=x``.

Equations with different names, ``x=2, y=-1``, are one solution and no such list.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from grpo_env.lazy_regex import lazy_compile

from ..brackets import items, split

MAX_LENGTH = 200
MAX_EQUATIONS = 8

_NAME = lazy_compile(r"(?:[A-Za-z]|\\(?:lambda|mu|alpha|beta|theta|omega)(?![a-z]))(?:\s?\(\s?[a-z]\s?\))?")
_LABEL = lazy_compile(r"(?<=\w)\s?_\s?\{?\s?(\w)\s?\}?\Z")
_RELATION = lazy_compile(r"[<>]|\\(?:le|ge|ne|in|approx|equiv|to|begin)(?![a-z])")


def same_equations(gold: str, answer: str, equal: Callable[[str, str], bool]) -> bool:
    """Whether two texts in normal spelling list the same equations. ``equal`` compares two values or equations."""
    first = _equations(gold)
    second = _without_labels(_equations(answer)) if len(first) > 1 else ()
    names = {name for name, _ in first}
    if len(second) < 2 or (len(items(gold)) > 1 and not (len(names) == 1 and _NAME.fullmatch(min(names)))):
        return False
    if len({name for name, _ in second if _NAME.fullmatch(name)}) > 1:
        return False

    def same(one: tuple[str, str], other: tuple[str, str]) -> bool:
        return equal(one[1], other[1]) if one[0] == other[0] else equal(" = ".join(one), " = ".join(other))

    return all(any(same(one, other) for other in second) for one in first) and all(
        any(same(one, other) for one in first) for other in second
    )


@lru_cache(maxsize=512)
def _equations(text: str) -> tuple[tuple[str, str], ...]:
    """Both sides of the equations of a list, two for each with a plus-minus sign; none if a part is no equation."""
    if "=" not in text or len(text) > MAX_LENGTH or _RELATION.search(text):
        return ()
    found: list[tuple[str, str]] = []
    left = ""
    for part in items(text):
        sides = split(part, "=")
        if len(sides) == 1 and _NAME.fullmatch(left):  # x = 1, 3
            sides = [left, part]
        if len(sides) != 2 or not all(sides) or part.count("\\pm") > 1:
            return ()
        left = sides[0]
        for signs in (("+", "-"), ("-", "+")) if "\\pm" in part else (("", ""),):
            one, other = (side.replace("\\pm", signs[0]).replace("\\mp", signs[1]).strip(" +") for side in sides)
            found.append((one.replace(" ", "") if _NAME.fullmatch(one) else one, other))
    return tuple(found) if len(found) <= MAX_EQUATIONS else ()


def _without_labels(equations: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """``x = 1, x = 3`` for ``x_1 = 1, x_2 = 3``."""
    names = [name for name, _ in equations]
    if len(set(names)) < 2 or not all(map(_LABEL.search, names)):
        return equations
    return tuple((_LABEL.sub("", name), value) for name, value in equations)
