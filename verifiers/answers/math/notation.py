r"""One value in several notations: ``b \ge a``, named coordinates; and lists as tuples.

The option ``notation`` says whether these count as equal, the option ``brackets`` whether a tuple needs its brackets.
"""

from __future__ import annotations

import re
from dataclasses import replace

from grpo_env.lazy_regex import lazy_compile

from ..quantities.number import Number
from .parsed import Formula, Group, ParsedAnswer, Words
from .real_sets import real_set

_SEQUENCES = ("abcdefgh", "klmn", "pqrst", "uvw", "xyz")  # letters whose order everybody knows
_ITS_ARGUMENT = lazy_compile(r"(?<=[A-Za-z\d}'])\([a-z](?:,[a-z])*\)\Z")
_EIGENVALUE = lazy_compile(r"\\lambda_\{?\d\}?")  # whose numbers mean nothing
_EXTREMES = lazy_compile(r"(?:max|min|maximum|minimum|largest|smallest|greatest|least)(?: value)?", re.IGNORECASE)
_VARIABLE = lazy_compile(r"(?<![A-Za-z\\])[A-Za-df-z](?![A-Za-z])")
_OR = lazy_compile(r"(?<![A-Za-z])or(?![A-Za-z])")
_ALTERNATIVES = lazy_compile(r"(?<![A-Za-z])or(?![A-Za-z])|\\pm(?![A-Za-z])")


def as_coordinates(one: ParsedAnswer, other: ParsedAnswer) -> tuple[ParsedAnswer, ParsedAnswer] | None:
    """Two answers as tuples if one names its coordinates, ``x=2, y=-1``, and the other one has them in order."""
    for first, second, swapped in ((one, other, False), (other, one, True)):
        names = _names(first)
        if names is None or _names(second) is not None:
            continue
        coordinates = as_tuple(second) or second
        tuple_name = coordinates.variable if coordinates.variable and "," in coordinates.variable else None
        order = _order(names, tuple_name)
        if isinstance(coordinates.content, Group):
            coordinates = replace(coordinates, content=as_vector(coordinates.content))
        if not (order and isinstance(coordinates.content, Group) and coordinates.content.kind == "()"):
            continue
        assert isinstance(first.content, Group)
        values = tuple(_value(first.content.items[names.index(name)]) for name in order)
        pair = ParsedAnswer(first.text, Group("()", values)), replace(coordinates, variable=None)
        return (pair[1], pair[0]) if swapped else pair
    return None


def as_vector(group: Group) -> Group:
    r"""A row, a column, ``\langle 1,2\rangle`` and ``[1,2,3]`` as a tuple; a pair in ``[]`` may be an interval."""
    items = group.items
    if group.kind == "matrix":
        rows = [row.content.items for row in items if isinstance(row.content, Group)]
        items = rows[0] if len(rows) == 1 else tuple(cell for row in rows for cell in row if len(row) == 1)
        is_vector = len(items) > 1 and len(rows) in (1, len(items))
    else:
        is_vector = group.kind == "<>" or (group.kind == "[]" and len(items) > 2)
    return Group("()", items) if is_vector else group


def without_argument(gold: ParsedAnswer, answer: ParsedAnswer) -> ParsedAnswer | None:
    """``y(x) = 2x`` as an equation for y where the gold answer has y, and the other way around; else ``None``."""
    names = [(side.variable or "").replace(" ", "") for side in (gold, answer)]
    bare = {_ITS_ARGUMENT.sub("", name) for name in names}
    if len(bare) > 1 or bare.isdisjoint(names) or not isinstance(answer.content, Formula):
        return None
    return replace(answer, text=f"{gold.variable} = {answer.right_side}", variable=gold.variable)


def _names(answer: ParsedAnswer) -> list[str] | None:
    """The names of the parts of ``x=2, y=-1``, if all of them have one, and no two the same."""
    content = answer.content
    if not (isinstance(content, Group) and content.kind == "set"):
        return None
    names = [item.variable.replace(" ", "") for item in content.items if item.variable]
    are_distinct = 1 < len(set(names)) == len(content.items)
    return names if are_distinct and not _ALTERNATIVES.search(answer.text) else None


def _order(names: list[str], tuple_name: str | None) -> list[str] | None:
    """The names in the order of the coordinates: of ``(x,y)`` if it has that name, of the alphabet, or as written."""
    if tuple_name:
        order = tuple_name.strip("()").split(",")
        return order if sorted(order) == sorted(names) else None
    if all(map(_EXTREMES.fullmatch, names)) or all(map(_EIGENVALUE.fullmatch, names)):
        return None
    for letters in _SEQUENCES:
        if all(name[0] in letters and name[1:] == names[0][1:] for name in names):
            return sorted(names)
    if all(name[0] == names[0][0] for name in names):  # x_1, x_2
        return sorted(names, key=lambda name: (len(name), name))
    return names


def _value(item: ParsedAnswer) -> ParsedAnswer:
    return replace(item, text=item.right_side or item.text, variable=None)


def as_tuple(answer: ParsedAnswer, brackets: str = "()") -> ParsedAnswer | None:
    """A list without brackets as one in them; ``None`` for anything else, and for alternatives (``2 or 3``)."""
    content = answer.content
    is_list = isinstance(content, Group) and content.kind == "set" and not answer.text.startswith("\\{")
    if not (is_list and isinstance(content, Group)) or _ALTERNATIVES.search(answer.text) or answer.variable:
        return None
    if any(item.variable for item in content.items):
        return None
    return ParsedAnswer(answer.text, Group(brackets, content.items)) if len(content.items) > 1 else None


def is_one_of_choices(gold: ParsedAnswer, answer: ParsedAnswer) -> bool:
    """Whether an answer leaves open which of several choices are right, ``A or C``, where the gold answer says all.

    So does ``x=2 or y=-1`` where the gold answer is ``x=2, y=-1``.
    """
    content = gold.content
    if _names(gold) is not None and _OR.search(answer.text) and isinstance(answer.content, Group):
        return True
    if not (isinstance(content, Group) and content.kind == "set" and _ALTERNATIVES.search(answer.text)):
        return False
    are_choices = all(isinstance(item.content, Words) and len(item.content.text) == 1 for item in content.items)
    return are_choices and not _ALTERNATIVES.search(gold.text)


def _has_variable(item: ParsedAnswer) -> bool:
    return not isinstance(item.content, Number | Formula) or any(_VARIABLE.search(one.text) for one in item.formulas())


def brackets_may_be_left_out(gold: ParsedAnswer) -> bool:
    """Whether the gold answer is a tuple or a list in brackets, and not a pair that may be an interval."""
    content = gold.content
    if not isinstance(content, Group) or content.kind not in ("()", "[]"):
        return False
    is_pair_of_constants = len(content.items) == 2 and not any(map(_has_variable, content.items))
    return len(content.items) > 1 and not is_pair_of_constants and real_set(content) is None
