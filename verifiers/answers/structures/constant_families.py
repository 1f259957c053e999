r"""Families with arbitrary constants: ``y = C_1e^x + C_2e^{-x}``, ``x^2+y^2 = C``, ``f(x) = cx`` for any constant c.

The gold answer decides which letters are arbitrary constants: C and indexed C, c and K, what it declares, and A and B
as factors of functions such as ``e^x``. Letters that a problem gives (``mx+c``, ``\frac12CV^2``) must not be taken for
them, since any multiple of a constant is as good as the constant.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..formulas.algebra import ALGEBRA, TimeLimit
from ..spelling.brackets import items, split

MAX_LENGTH = 300
MAX_CONSTANTS = 4

_LETTER = (
    r"(?:[A-Za-z]|\\(?:alpha|beta|gamma|theta|lambda|mu|omega|phi)(?![A-Za-z]))(?:\s?_\s?(?:\{\s?\w{1,3}\s?\}|\w))?"
)
_TOKEN = lazy_compile(
    r"(?P<function>\\?(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?(?![a-z])|\\?(?:ln|log|exp|sqrt)(?![a-z])|e\s?\^)"
    rf"|(?P<other>[A-Za-z]{{4}}|'|(?<![A-Za-z\\])i(?![A-Za-z]))|(?P<symbol>{_LETTER})"
    r"|\\(?:frac|cdot|times|pi)(?![A-Za-z])|(?P<command>\\[A-Za-z]+)"
)
_DIGIT_BEHIND = lazy_compile(r"\\[A-Za-z]+|([CcK])(\d)(?!\d)")
_NAMES = rf"{_LETTER}(?:\s*(?:,|and|,\s*and)\s*{_LETTER}){{0,3}}"
_QUANTIFIER = r"(?:any|all|some|every|an?|the|arbitrary|real|free)"
_DECLARED = lazy_compile(
    r"(?P<body>.+?)[\s,;]*\(?\s*(?:(?:where|with|for|and)\s+)?(?:"
    rf"(?:{_QUANTIFIER}\s+)*(?P<first>{_NAMES})\s*(?:\\in\s*\\mathbb\s?\{{?\s?R\s?\}}?"
    rf"|(?:is|are)\s+(?:{_QUANTIFIER}\s+)*(?:constants?|numbers?|reals?|parameters?|arbitrary)(?:\s+of integration)?)"
    rf"|(?:{_QUANTIFIER}\s+)+(?:constants?|numbers?)\s+(?P<last>{_NAMES}))\s*\)?",
    re.DOTALL,
)
_INDEXED = lazy_compile(r"[CcK]_\w{1,3}")
_POSSIBLE = lazy_compile(r"(?:[A-DKMNabck]|\\alpha|\\beta)(?:_\w{1,3})?")
_UNKNOWN = lazy_compile(r"[uwxyz]|(?P<called>[A-DF-GJ-PR-TX-Za-hj-pr-z])\s?\(\s?(?P<argument>[xt]|\\theta)\s?\)")
_MAY_BE = lazy_compile(
    r"(?<![A-Za-z\\])[CcK](?![A-Za-z]{3})|[a-z)]\s?[CcK]_?\d|[AB].*[ABe]|constant|\\mathbb\s?\{?\s?R"
)
_IS_ADDED = lazy_compile(r"C\s*[+-][^C]+|[^C]+\+\s*C")
_C_MINUS = lazy_compile(r"C\s*-")  # C - x may be the rest of a given C
_OTHER = lazy_compile(r"[<>]|\\(?:pm|mp|le|ge|ne|in|int|sum|prod|cup|begin)(?![a-z])")
_COORDINATES = frozenset("txyz")
_ARGUMENTS = ("x", "t", r"\theta")


class _Form(NamedTuple):
    """A text as ``unknown = right``, as an equation ``left = right``, or as a value, ``right``; with its letters."""

    unknown: str
    argument: str
    left: str
    right: str
    names: frozenset[str]
    declared: frozenset[str]
    has_functions: bool

    @property
    def is_equation(self) -> bool:
        """Whether it is not solved for an unknown."""
        return bool(self.left) and not self.unknown


class _Family(NamedTuple):
    """The constants of a gold answer, its variable, and how an answer is compared with it."""

    constants: frozenset[str]
    variable: str
    how: str


def may_have_constants(gold: str) -> bool:
    """Whether a gold answer may be such a family."""
    return ("=" in gold or "_" in gold or "C" in gold) and _MAY_BE.search(gold) is not None


def same_constant_family(gold: str, answer: str, time: TimeLimit) -> bool | None:
    """Whether two texts in normal spelling are the same family; ``None`` if the gold answer is none, or unclear."""
    one = _form(gold)
    family = _family(one) if one else None
    other = _form(answer) if family else None
    if one is None or other is None or family is None:
        return None
    known = (one.names - family.constants) | {one.unknown}
    constants = other.names - known
    possible = all(name in other.declared or _POSSIBLE.fullmatch(name) for name in constants)
    if not possible or len(constants) != len(family.constants):
        return None
    if one.is_equation or other.is_equation:
        if family.how == "renamed" or len(constants) > 1 or not (one.left and other.left):
            return None
        if other.unknown and other.unknown not in known:
            return None
        texts = _difference(one, family.constants), _difference(other, constants)
        return ALGEBRA.same_family(*texts, "level", "", time)
    if (other.unknown and one.unknown and one.unknown != other.unknown) or other.argument not in ("", family.variable):
        return None
    texts = _renamed(one.right, family.constants), _renamed(other.right, constants)
    return ALGEBRA.same_family(*texts, family.how, family.variable.lstrip("\\"), time)


def _family(form: _Form) -> _Family | None:
    """The constants of a gold answer, if it surely has some."""
    indexed = frozenset(name for name in form.names if name in form.declared or _INDEXED.fullmatch(name))
    sure = indexed | (form.names & {"C"})
    if form.is_equation:
        sides = {form.left.strip(), form.right.strip()}
        constants = sure or form.names & sides & {"c", "K"}
        variables = form.names - constants
        is_family = len(constants) == 1 and len(variables) > 1 and variables <= _COORDINATES
        return _Family(constants, "", "level") if is_family else None
    pair = form.names & {"A", "B"} if form.has_functions and form.unknown else frozenset()
    constants = sure | pair if len(pair) > 1 else sure
    how = "span"
    if not constants and form.has_functions and form.unknown:
        constants, how = form.names & {"A", "B", "c", "K"}, "renamed"
        if len(constants) > 1:
            return None
    variable = next((name for name in _ARGUMENTS if name in form.names - constants and name != form.unknown), "")
    if form.argument not in ("", variable) or not variable or not 1 <= len(constants) <= MAX_CONSTANTS:
        return None
    if not form.unknown and constants != indexed:
        is_added = _IS_ADDED.fullmatch(form.right) and (form.has_functions or not _C_MINUS.match(form.right))
        if not is_added or form.names - constants != {variable}:
            return None
    if constants != indexed and form.names - constants != {variable}:
        how = "renamed"  # the other letters were given, and so may be this one
    return _Family(constants, variable, how)


@lru_cache(maxsize=512)
def _form(text: str) -> _Form | None:
    if len(text) > MAX_LENGTH:
        return None
    text = _DIGIT_BEHIND.sub(lambda match: f"{match[1]}_{match[2]}" if match[1] else match[0], text)
    declared: frozenset[str] = frozenset()
    if ("R" in text or "onstant" in text or "arbitrary" in text) and (match := _DECLARED.fullmatch(text)):
        text = match["body"]
        names = match["first"] or match["last"]
        declared = frozenset(_name(found.group()) for found in re.finditer(_LETTER, names))
    sides = split(text, "=")
    if len(sides) > 2 or not all(sides) or _OTHER.search(text) or len(items(text)) > 1:
        return None
    unknown = _UNKNOWN.fullmatch(sides[0]) if len(sides) == 2 else None
    parts = sides[1:] if unknown else sides
    tokens = [match for part in parts for match in _TOKEN.finditer(part)]
    if any(match["other"] or match["command"] for match in tokens):
        return None
    letters = frozenset(_name(match["symbol"]) for match in tokens if match["symbol"]) - {"e"}
    name = (unknown["called"] or unknown.group()) if unknown else ""
    if name in letters:  # not solved for it
        if unknown and unknown["called"]:
            return None
        unknown, name = None, ""
    left = sides[0] if len(sides) == 2 else ""
    functions = any(match["function"] and "sqrt" not in match["function"] for match in tokens)
    argument = (unknown["argument"] or "") if unknown else ""
    return _Form(name, argument, left, sides[-1], letters, declared, functions)


def _name(symbol: str) -> str:
    """``c_{1}`` as ``c_1``."""
    return re.sub(r"[\s{}]", "", symbol)


def _difference(form: _Form, constants: Collection[str]) -> str:
    return f"{form.unknown or _renamed(form.left, constants)} - ({_renamed(form.right, constants)})"


def _renamed(text: str, constants: Collection[str]) -> str:
    """A formula with the constants ``q_{1}``, ``q_{2}``, ..."""
    numbers = {name: number for number, name in enumerate(sorted(constants), 1)}

    def new(match: re.Match[str]) -> str:
        number = numbers.get(_name(match["symbol"] or ""))
        return f" q_{{{number}}} " if number else match[0]

    return _TOKEN.sub(new, text)
