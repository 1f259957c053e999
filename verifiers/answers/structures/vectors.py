r"""Vectors as sums: ``2\mathbf{i}-\mathbf{j}``, ``\frac15(3,4)``, ``e^t\langle 1,2\rangle``, ``c_1(1,2)+c_2(1,-1)``.

Two are equal if their components are, however the sums are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..formulas.asked import ARGUMENT, may_be_same
from ..notation import one_spelling
from ..quantities.units import Unit, is_measure, read_unit, same_unit
from ..spelling.brackets import items, split, split_sum
from ..spelling.normal import normal

MAX_LENGTH = 300
MAX_TERMS = 12  # and components
MAX_DEPTH = 4

_UNIT = r"\\?[ijk](?:math)?|e_\{?[123xyz]\}?|#[123]"
_DECORATED = lazy_compile(
    r"\\(?:mathbf|boldsymbol|bm|hat|widehat|vec|mathrm|text|textbf)\s*"
    rf"(?:\{{\s*(?P<braced>{_UNIT})\s*\}}|(?P<bare>{_UNIT})(?![A-Za-z])|\{{?\s*e\s*\}}?\s*_\s*\{{?(?P<number>[123xyz])\}}?)"
)
_LETTER = lazy_compile(r"(?<![A-Za-z\\_^])(?<![_^]\{)(?:[ijk](?![A-Za-z])|e_\{?[123]\}?)")
_NO_SUM = lazy_compile(r"[<>=;:]|\\(?:in|cup|cap|ne|neq|le|leq|ge|geq|setminus|mid|pm)(?![a-z])|\b(?:or|and|for)\b")
_MARKED = lazy_compile("#([123])")
_NAME = lazy_compile(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_NUMBERS = {"i": 1, "j": 2, "k": 3, "x": 1, "y": 2, "z": 3}
_DECORATION = lazy_compile(r"\\(?:vec|text|hat|overrightarrow|mathbf|boldsymbol|bm)(?![a-z])|[\s{}]")
_NO_LIST = lazy_compile(r"<|\\le|\bor\b")
_MATRIX = lazy_compile(
    r"\\begin\{(?P<kind>[pb]matrix)\}(?P<cells>(?:(?!\\(?:begin|end)\{).)*)\\end\{(?P=kind)\}", re.DOTALL
)
_UNIT_AFTER = lazy_compile(
    r"(?P<vector>.*(?:[)\]}]|rangle|(?<=[ij\d\s])[ijk]))[$~]?(?:\s|\\[,; ])*"
    r"(?P<unit>[A-Za-z\\](?:[^()\[\]<>=,]|\\,){0,40})",
    re.DOTALL,
)
_PARAMETERS = tuple(((letter, 1),) for letter in "shgL")  # (3i+4j)s is a line
_AXIS = lazy_compile(
    r"\\(?:wide)?hat\s*(?:\{\s*)?(?:\\(?:mathbf|boldsymbol|bm|text|mathrm)\s*)?(?:\{\s*)?([xyz])(?![A-Za-z_])(?:\s*\}){0,2}"
)
_TRANSPOSED = lazy_compile(r"(?<=[)\]])\s*\^\s*\{?\s*(?:T|\\top|\\text\s*\{\s*T\s*\})\s*\}?")
_OVER = lazy_compile(r"(?P<before>.*?)\\frac\{(?P<top>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}(?P<under>\{.*)", re.DOTALL)


class _Vector(NamedTuple):
    """Components as formulas; whether they are of unit vectors, only listed, or to be added up: ``(1,2)+(3,4)``."""

    components: list[str]
    in_units: bool
    is_plain: bool = False
    is_calculation: bool = False


def in_components(text: str) -> str:
    r"""Columns, rows and ``\langle 1,2\rangle`` as ``(1,2)``, without the sign of a transposed one."""

    def row(match: re.Match[str]) -> str:
        cells = [cell for line in split(match["cells"], "\\\\") if line for cell in split(line, "&")]
        return f"({','.join(cells)})" if len(split(match["cells"], "\\\\")) == 1 or "&" not in match["cells"] else "?"

    text = _MATRIX.sub(row, text) if "matrix" in text else text
    return _TRANSPOSED.sub("", text).replace(r"\langle", "(").replace(r"\rangle", ")")


def unit_vectors_in_components(text: str) -> str:
    r"""A vector in unit vectors, ``2t\hat{i}-\hat{j}``, as ``(2t,-1,0)``; of anything else an empty text."""
    vector = _vector(text)
    return f"({','.join(vector.components)})" if vector and vector.in_units else ""


def same_vector(one: str, other: str, equal: Callable[[str, str], bool]) -> bool:
    """Whether two texts are the same vector, of which one is a sum.

    ``equal`` decides whether two formulas are.
    """
    listed, other_listed = _listed(one), _listed(other)
    one, other = listed or one, other_listed or other
    name, _, one = one.rpartition("=")
    other_name, _, other = other.rpartition("=")
    if not _may_be_same(name, other_name):
        return False
    (one, unit), (other, other_unit) = _without_unit(one), _without_unit(other)
    if not same_unit(unit, other_unit):
        return False
    first = _vector(one)
    second = _vector(other) if first else None
    are_plain = first is not None and second is not None and first.is_plain and second.is_plain
    if first is None or second is None or (are_plain and not (listed or other_listed or unit or other_unit)):
        return False
    if second.is_calculation and not first.is_calculation:
        return False
    parts, other_parts = first.components, second.components
    if first.in_units or second.in_units:  # 2i-j is (2,-1) and (2,-1,0)
        parts, other_parts = (side + ["0"] * (3 - len(side)) for side in (parts, other_parts))
    return len(parts) == len(other_parts) and all(map(equal, parts, other_parts))


def _may_be_same(name: str, other: str) -> bool:
    r"""Whether two names are the same, ``\vec{r}(t)`` and ``\mathbf{r}``, or one says what was asked for."""
    if not (name and other) or may_be_same(normal(name), normal(other)):
        return True
    bare, other_bare = (_DECORATION.sub("", one_spelling(normal(each))) for each in (name, other))
    return bare == other_bare or bare == ARGUMENT.sub("", other_bare) or ARGUMENT.sub("", bare) == other_bare


def _listed(text: str) -> str:
    """``x(t)=1+t, y(t)=2t`` as ``(1+t,2t)``; of anything else an empty text."""
    if text.count("=") not in (2, 3) or _NO_LIST.search(text):
        return ""
    pairs = [split(part, "=") for part in items(normal(text))]
    if len(pairs) != text.count("=") or not all(len(pair) == 2 for pair in pairs):
        return ""
    names = [ARGUMENT.sub("", name.replace(" ", "")) for name, _ in pairs]
    is_ordered = names == ["x", "y", "z"][: len(names)] or names == [f"x_{n}" for n in range(1, len(names) + 1)]
    return f"({','.join(value for _, value in pairs)})" if is_ordered else ""


def _without_unit(text: str) -> tuple[str, Unit]:
    """A vector of numbers and the unit after it: ``(3#1-4#2)`` and N of ``(3\\hat{i}-4\\hat{j})`` N."""
    text = text.strip().strip("$ ")
    match = _UNIT_AFTER.fullmatch(text)
    unit = read_unit(f" {normal(match['unit'])}", 0) if match else None
    if not (match and unit) or not all(is_measure(name) for name, _ in unit):
        return text, ()
    components = _vector(match["vector"])
    if components is None or not (components.in_units or components.is_plain):  # (1,2)+(3,4)s
        return text, ()
    if _NAME.search(" ".join(components.components)) or unit in _PARAMETERS:
        return text, ()
    return match["vector"], unit


def _vector(text: str) -> _Vector | None:
    if len(text) > MAX_LENGTH:
        return None
    text = _AXIS.sub(lambda match: rf"\hat{{{'ijk'['xyz'.index(match[1])]}}}", text)
    plain = _DECORATED.sub(_marked, _DECORATED.sub(_marked, text))  # \hat{\mathbf{i}}
    marked = _LETTER.sub(_marked, plain)
    if plain == text and len(set(_MARKED.findall(marked))) < 2:  # one i is a number, one k a constant
        marked = text
    plain = in_components(normal(marked))
    return None if _NO_SUM.search(plain) else _sum(plain, MAX_DEPTH)


def _marked(match: re.Match[str]) -> str:
    groups = match.groupdict()
    unit = groups.get("braced") or groups.get("bare") or groups.get("number") or match[0]
    letter = next((letter for letter in unit if letter in "ijkxyz123"), "")
    return f" #{_NUMBERS.get(letter, letter)} "


def _sum(text: str, depth: int) -> _Vector | None:
    terms = split_sum(text)
    vectors = [_multiple(term, depth) for term in terms] if len(terms) <= MAX_TERMS else []
    found = [vector for vector in vectors if vector]
    if not found or len(found) < len(vectors):
        return None
    lengths = {len(vector.components) for vector in found if not vector.in_units}
    if len(lengths) > 1:
        return None
    length = max(lengths, default=3)
    sums = ["".join(vector.components[n] for vector in found if n < len(vector.components)) for n in range(length)]
    is_calculation = len(found) > 1 and not any(vector.in_units for vector in found) and not _NAME.search(text)
    return _Vector([part or "0" for part in sums], not lengths, len(found) == 1 and found[0].is_plain, is_calculation)


def _multiple(term: str, depth: int) -> _Vector | None:
    """A vector with sign and factors: ``-3 #1``, ``c_1(1,2)e^{t}``, ``2(3 #1 - #2)``, ``\\frac{#1 + #2}{2}``."""
    term = term.strip()
    sign, term = (term[0], term[1:].strip()) if term[:1] in ("+", "-") else ("+", term)
    if unit := _MARKED.search(term):
        factor = _factor(term[: unit.start()], term[unit.end() :])
        if "#" not in factor and _is_balanced(term[: unit.start()]):
            return _Vector([""] * (int(unit[1]) - 1) + [f"{sign}{factor or '1'}"], True)
    for start, end in _groups(term):
        parts = items(term[start + 1 : end - 1])
        factor = _factor(term[:start], term[end:])
        if "#" in factor or "," in factor:
            continue
        if 1 < len(parts) <= MAX_TERMS:
            return _Vector([f"{sign}{factor}({part})" for part in parts], False, sign == "+" and not factor)
        inner = _sum(term[start + 1 : end - 1], depth - 1) if depth and "#" in term[start:end] else None
        if inner:
            return inner._replace(components=[f"{sign}{factor}({part})" for part in inner.components], is_plain=False)
    if depth and (over := _OVER.fullmatch(term)) and "#" in over["top"]:
        return _multiple(rf"{sign}{over['before']}\frac{{1}}{over['under']}({over['top']})", depth - 1)
    return None


def _factor(before: str, after: str) -> str:
    return "".join(f"({part.strip()})" for part in (before, after) if part.strip())


def _is_balanced(text: str) -> bool:
    return all(text.count(opening) == text.count(closing) for opening, closing in ("()", "{}", "[]"))


def _groups(term: str) -> list[tuple[int, int]]:
    """Where the outermost round brackets begin and end."""
    groups, depth, start = [], 0, 0
    for at, character in enumerate(term):
        if character in "([{":
            start = at if depth == 0 else start
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0 and term[start] == "(":
                groups.append((start, at + 1))
    return groups
