r"""Vectors in unit vectors, ``2\mathbf{i}-\mathbf{j}`` or ``2\hat{i}-\hat{j}``, and in components, ``(2,-1)``."""

from __future__ import annotations

import re
from collections.abc import Callable

from grpo_env.lazy_regex import lazy_compile

from .brackets import items, outer, split
from .normal import normal

MAX_LENGTH = 200

_UNIT = r"\\?([ijk])(?:math)?"
_DECORATED = lazy_compile(
    r"\\(?:mathbf|boldsymbol|bm|hat|widehat|vec|overrightarrow|mathrm|text|textbf)\s*"
    rf"(?:\{{\s*{_UNIT}\s*\}}|{_UNIT}(?![A-Za-z]))"
)
_DECORATION = lazy_compile(r"\\[a-z]+|[\s{}]")
_MATRIX = lazy_compile(
    r"\\begin\{(?P<kind>[pb]matrix)\}(?P<cells>(?:(?!\\(?:begin|end)\{).)*)\\end\{(?P=kind)\}", re.DOTALL
)
_TRANSPOSED = lazy_compile(r"(?<=[)\]])\s*\^\s*\{?\s*(?:T|\\top|\\text\s*\{\s*T\s*\})\s*\}?")
_LETTER = lazy_compile(r"(?<![A-Za-z\\_^])(?<![_^]\{)[ijk](?![A-Za-z])")
_TERM = lazy_compile(r"\s*([-+]?)(.*?)(q_\{\d\})\s*", re.DOTALL)
_NAMES = {"i": "q_{1}", "j": "q_{2}", "k": "q_{3}"}


def in_components(text: str) -> str:
    r"""Columns, rows and ``\langle 1,2\rangle`` as ``(1,2)``, without the sign of a transposed one."""

    def row(match: re.Match[str]) -> str:
        cells = [cell for line in split(match["cells"], "\\\\") if line for cell in split(line, "&")]
        return f"({','.join(cells)})" if len(split(match["cells"], "\\\\")) == 1 or "&" not in match["cells"] else "?"

    text = _MATRIX.sub(row, text) if "matrix" in text else text
    return _TRANSPOSED.sub("", text).replace(r"\langle", "(").replace(r"\rangle", ")")


def same_vector(one: str, other: str, equal: Callable[[str, str], bool]) -> bool | None:
    """Whether two vectors are equal, of which one has unit vectors; ``None`` for anything else.

    ``equal`` decides whether two formulas are.
    """
    if not (_is_in_units(one) or _is_in_units(other)):
        return None
    name, _, one = one.rpartition("=")
    other_name, _, other = other.rpartition("=")
    if name and other_name and _bare(name) != _bare(other_name):
        return None
    first, second = _formula(one), _formula(other)
    return equal(first, second) if first and second else None


def _bare(name: str) -> str:
    r"""The name ``r(t)`` of ``\vec{r}(t)`` and ``\mathbf{r}(t)``."""
    return _DECORATION.sub("", name)


def _is_in_units(text: str) -> bool:
    return _DECORATED.search(text) is not None or len(set(_LETTER.findall(text))) > 1


def _formula(text: str) -> str | None:
    """A vector as a formula with a variable for each unit vector."""
    if len(text) > MAX_LENGTH:
        return None
    kind, inner = outer(in_components(normal(text)))
    if kind == "()":
        parts = items(inner)
        terms = [f"({part}) {name}" for part, name in zip(parts, _NAMES.values(), strict=False)]
        return "+".join(terms) if 2 <= len(parts) <= 3 else None
    plain = normal(_undecorated(_undecorated(text)))  # \hat{\mathbf{i}}
    formula = _LETTER.sub(lambda match: f" {_NAMES[match.group()]} ", plain)
    terms = [_TERM.fullmatch(term) for term in _terms(formula)]
    if all(terms):  # \cos t q would be the cosine of a product
        return "".join(f"{term[1] or '+'}({term[2].strip() or 1}) {term[3]}" for term in terms if term)
    return formula if formula != plain else None


def _undecorated(text: str) -> str:
    return _DECORATED.sub(lambda match: f" {match[1] or match[2]} ", text)


def _terms(formula: str) -> list[str]:
    """The terms of a sum, with their signs."""
    terms, depth, start = [], 0, 0
    for at, character in enumerate(formula):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character in "+-" and formula[start:at].strip():
            terms.append(formula[start:at])
            start = at
    return [*terms, formula[start:]]
