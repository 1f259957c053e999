r"""Vectors in unit vectors, ``2\mathbf{i}-\mathbf{j}`` or ``2\hat{i}-\hat{j}``, and in components, ``(2,-1)``."""

from __future__ import annotations

from grpo_env.lazy_regex import lazy_compile

from .brackets import items, outer
from .formulas import quotient
from .normal import normal
from .polynomials import Quotient, TooLargeError

MAX_LENGTH = 200

_DECORATED = lazy_compile(
    r"\\(?:mathbf|boldsymbol|bm|hat|widehat|vec|overrightarrow|mathrm|text|textbf)\s*\{?\s*\\?(?P<name>[ijk])(?:math)?\s*\}?(?![A-Za-z])"
)
_LETTER = lazy_compile(r"(?<![A-Za-z\\{])[ijk](?![A-Za-z])")
_NAMES = {"i": "q_{1}", "j": "q_{2}", "k": "q_{3}"}


def same_vector(one: str, other: str) -> bool | None:
    """Whether two vectors are equal, of which one has unit vectors; ``None`` for anything else."""
    if not (_is_in_units(one) or _is_in_units(other)):
        return None
    first, second = _components(one), _components(other)
    if first is None or second is None:
        return None
    zero = Quotient.of(0)
    first, second = (vector + [zero] * (3 - len(vector)) for vector in (first, second))
    try:
        return all(a.same(b) for a, b in zip(first, second, strict=True))
    except TooLargeError:
        return None


def _is_in_units(text: str) -> bool:
    return _DECORATED.search(text) is not None or len(set(_LETTER.findall(text))) > 1


def _components(text: str) -> list[Quotient] | None:
    if len(text) > MAX_LENGTH:
        return None
    kind, inner = outer(normal(text))
    if kind in ("<>", "()"):
        parts = [quotient(part) for part in items(inner)]
        return [part for part in parts if part] if 2 <= len(parts) <= 3 and all(parts) else None
    plain = normal(_DECORATED.sub(r" \g<name> ", _DECORATED.sub(r"\g<name>", text)))  # \hat{\mathbf{i}}
    letters = set(_LETTER.findall(plain))
    rest = quotient(_LETTER.sub(lambda match: f" {_NAMES[match.group()]} ", plain)) if letters else None
    components = []
    for letter in "ijk":
        split = rest.linear(_NAMES[letter].replace("{", "").replace("}", "")) if rest else None
        if split is None:
            return None
        rest, component = split
        components.append(component)
    return components if rest and not rest.top else None
