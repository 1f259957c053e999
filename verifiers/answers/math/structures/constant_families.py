r"""Families with arbitrary constants: ``x^2+C``, ``y = C_1e^x + C_2e^{-x}``, ``y = ce^{1/x}``.

The gold answer decides which letters are arbitrary constants: indexed C and c, C, the k of ``x^2/2+k``, and c of a
function ``y``. Letters that a problem gives (``mx+c``, ``\frac12CV^2``) must not be taken for them, since any multiple
of a constant is as good as the constant.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..algebra import ALGEBRA, TimeLimit
from ..brackets import items, split

MAX_LENGTH = 300

_INDEX = r"(?:\s?_\s?(?:\{\s?\w{1,3}\s?\}|\w))?"
_INDEX_IN_BRACES = lazy_compile(r"\s?_\s?(?:\{\s?(\w)\s?\}|(\w))")  # c_{1}
_TOKEN = lazy_compile(
    r"(?P<function>\\?(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?(?![a-z])|\\?(?:ln|log(?!\s?_)|exp)(?![a-z])|e\s?\^)"
    r"|\\?sqrt(?![a-z])|\\(?:frac|cdot|times|pi)(?![A-Za-z])|(?P<other>[A-Za-z]{4}|['<>]|(?<![A-Za-z\\])i(?![A-Za-z]))"
    rf"|(?P<symbol>(?:[A-Za-z]|\\(?:alpha|beta|gamma|theta|lambda|mu|omega|phi)(?![A-Za-z])){_INDEX})|(?P<command>\\[A-Za-z]+)"
)
_IN_WORDS = lazy_compile(r"(?<=[+-])\s*constant\Z")
_DIGIT_BEHIND = lazy_compile(r"(?<![A-Za-z\\])([CcK])(\d)(?!\d)")
_INDEXED = lazy_compile(r"[CcK]_\w{1,3}")
_POSSIBLE = lazy_compile(r"(?:[A-DKMNabck]|\\alpha|\\beta)(?:_\w{1,3})?")
_UNKNOWN = lazy_compile(r"(?P<name>[FGfgu-z])\s?(?:\(\s?(?:[a-z]|\\theta)(?:,\s?[a-z]){0,2}\s?\))?")
_ADDED = lazy_compile(r"(?P<first>[Ck])\s*\+[^Ck]+|[^Ck]+\+\s*(?P<last>[Ck])")


class _Form(NamedTuple):
    """A text as ``unknown = formula``, or as a formula without an unknown; with its letters."""

    unknown: str
    formula: str
    letters: frozenset[str]
    has_functions: bool


def same_constant_family(gold: str, answer: str, time: TimeLimit) -> bool:
    """Whether two texts in normal spelling are the same family; ``False`` if the gold answer is none, or unclear."""
    one = _form(gold) if any(letter in gold for letter in "CcKk") else None
    constants, variable = _constants(one) if one else (frozenset(), "")
    other = _form(answer) if constants else None
    if one is None or other is None or (one.unknown and other.unknown and one.unknown != other.unknown):
        return False
    new = other.letters - (one.letters - constants) - {one.unknown}
    if len(new) != len(constants) or not all(map(_POSSIBLE.fullmatch, new)):
        return False
    texts = _renamed(one.formula, constants), _renamed(other.formula, new)
    return ALGEBRA.same(*texts, time, variable=variable.lstrip("\\"))


def _constants(form: _Form) -> tuple[frozenset[str], str]:
    """The constants of a gold answer and its variable; without a variable, constants may only get other names."""
    indexed = frozenset(filter(_INDEXED.fullmatch, form.letters))
    added = None if indexed else _ADDED.fullmatch(form.formula)
    if added and _is_antiderivative(form, letter := added["first"] or added["last"]):
        return frozenset(letter), min(form.letters - {letter})
    constants = indexed
    if not indexed and form.unknown:
        constants = form.letters & ({"C"} if "C" in form.letters or not form.has_functions else {"c"})
    given = form.letters - constants
    variable = next((name for name in ("x", "t", r"\theta") if name in given), "")
    if not constants or not variable:
        return frozenset(), ""
    return constants, variable if indexed or (constants == {"C"} and len(given) == 1) else ""


def _is_antiderivative(form: _Form, constant: str) -> bool:
    """Whether a formula is a function of one variable, or of x, y and z, to which this constant is added."""
    given = form.letters - {constant}
    if constant == "k" and (form.unknown or not (form.has_functions or "/" in form.formula)):
        return False
    return {"x", "y"} <= given <= {"x", "y", "z"} or (len(given) == 1 and min(given).islower())


@lru_cache(maxsize=512)
def _form(text: str) -> _Form | None:
    if len(text) > MAX_LENGTH:
        return None
    sides = split(_IN_WORDS.sub("C", _DIGIT_BEHIND.sub(r"\1_\2", text)), "=")
    unknown = _UNKNOWN.fullmatch(sides[0]) if len(sides) == 2 else None
    if len(sides) > 2 or (len(sides) == 2 and not unknown) or not sides[-1] or len(items(text)) > 1:
        return None
    formula = _INDEX_IN_BRACES.sub(r"_\1\2", sides[-1])
    tokens = list(_TOKEN.finditer(formula))
    letters = frozenset(match["symbol"] for match in tokens if match["symbol"]) - {"e"}
    name = unknown["name"] if unknown else ""
    if name in letters or any(match["other"] or match["command"] for match in tokens):
        return None
    return _Form(name, formula, letters, any(match["function"] for match in tokens))


def _renamed(text: str, constants: frozenset[str]) -> str:
    """A formula with the constants ``q_{1}``, ``q_{2}``, ..."""
    new = {name: f" q_{{{number}}} " for number, name in enumerate(sorted(constants), 1)}
    return _TOKEN.sub(lambda match: new.get(match["symbol"], match[0]), text)
