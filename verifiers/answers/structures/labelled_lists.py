r"""Lists in which each value has a name or a label, in any order.

``\text{rank}(A)=2, \text{nullity}(A)=3``; ``f_x=2x, f_y=3``; "maximum 5, minimum -5"; "``(0,0)`` is a saddle point,
``(1,1)`` a local minimum".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..notation import one_spelling
from ..spelling.brackets import items, split

MAX_LENGTH = 300
MAX_PARTS = 6

_EXTREME = lazy_compile(r"\\(max|min)(?![a-z])")
_DECORATION = lazy_compile(r"\\(?:vec|hat|text|mathbf|boldsymbol)(?![a-z])|[\s{}]|\([a-zA-Z](?:,\s?[a-zA-Z])*\)")
_WORD = lazy_compile(r"(?<![A-Za-z\\_])[A-Za-z]{2,}(?![A-Za-z])|(?<![A-Za-z\\_])a(?=\s[a-z]{3})")
_REST = lazy_compile(r"\s(?:with|where)\s.*")
_PLACE = lazy_compile(r"(?<=\d)\s+at\s.*|(?<=\})\s+at\s.*")
_EMPTY = lazy_compile(r"\(\s*\)")
_SPACE = lazy_compile(r"\\q?quad(?![a-z])|\\[,;: ]")
_EDGE = " :;,."
_NO_LABEL = frozenset(("a", "an", "the", "is", "are", "at", "of", "it", "has", "there", "for", "point", "value"))
_SAME = {"maximum": "max", "minimum": "min", "maxima": "max", "minima": "min"}
_PARAMETERS = {
    r"\mu": "mean", r"\bar{x}": "mean", r"\overline{x}": "mean", "mean": "mean", "average": "mean",
    r"\sigma": "deviation", "sd": "deviation", "standard deviation": "deviation", "std dev": "deviation",
    "e(x)": "mean", "e[x]": "mean", "ex": "mean", "expected value": "mean", "expectation": "mean",
    "var(x)": "variance", "var[x]": "variance", "v(x)": "variance", "sd(x)": "deviation",
    "df": "freedom", "degrees of freedom": "freedom", r"\nu": "freedom", "d.f.": "freedom",
    "chi-square": "chi", "chi-squared": "chi", "chi square": "chi", r"\chi^2": "chi", r"\chi^{2}": "chi",
    "p-value": "p", "p value": "p", "p": "p", "z-score": "z", "t-statistic": "t", "z-statistic": "z",
    "stdev": "deviation", r"\sigma^2": "variance", r"\sigma^{2}": "variance", "variance": "variance", "var": "variance",
}  # fmt: skip
"""What the letters of statistics stand for."""
_UPRIGHT = lazy_compile(r"\\(?:text|mathrm|operatorname|mathbb)\{([^{}]*)\}")
_ALLELES = lazy_compile(r"([A-Za-z])(?i:\1)")  # AA and Aa are two genotypes
_OF_PARAMETER = lazy_compile(
    r"(?:an? |the )?(?P<name>mean|average|standard deviation|sd|variance)(?: is| was| of|:)?"
    r" (?P<value>[-\d.,/]+|\\frac\{.*\})",
    re.IGNORECASE,
)
_DENIALS = frozenset(("not", "no", "non", "never", "neither", "nor", "or", "possibly", "maybe", "either"))
_OR = lazy_compile(r"\bor\b")
_MATHEMATICS = lazy_compile(r"\d|\\|=")
_SPELLED = frozenset(("sin", "cos", "tan", "log", "ln", "exp", "pi", "sqrt"))


class _Part(NamedTuple):
    label: frozenset[str]
    value: str


def may_be_labelled(gold: str) -> bool:
    """Whether a gold answer may be such a list."""
    return len(gold) <= MAX_LENGTH and len(_parts(gold)) > 1


def same_labelled(gold: str, answer: str, equal: Callable[[str, str], bool]) -> bool:
    """Whether two texts in normal spelling give equal values to the same labels. ``equal`` compares two values."""
    first, second = _parts(gold), _parts(answer)
    if not 1 < len(first) == len(second) or (_OR.search(gold) is None) != (_OR.search(answer) is None):
        return False
    for part in first:
        others = [other for other in second if _may_be_same(part.label, other.label)]
        if len(others) != 1 or not equal(part.value, others[0].value):
            return False
    return True


def _may_be_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one label only says more than the other: vertical asymptote, vertical; but not: not stable, stable."""
    return (one <= other or other <= one) and _DENIALS.isdisjoint(one ^ other)


@lru_cache(maxsize=256)
def _parts(text: str) -> tuple[_Part, ...]:
    """The labels and values; nothing if a part has no label, or two have the same."""
    listed = items(text) if len(text) <= MAX_LENGTH else []
    if not 1 < len(listed) <= MAX_PARTS:
        return ()
    parts = [_part(item) for item in listed]
    found = [part for part in parts if part]
    return tuple(found) if len({part.label for part in found}) == len(parts) else ()


def _part(text: str) -> _Part | None:
    text = _SPACE.sub(" ", text)
    sides = split(text, "=")
    name, value = (sides[0].strip(), sides[1].strip()) if len(sides) == 2 else ("", "")
    key = _SPACE.sub("", name) if "\\" in name else name.lower()
    if parameter := _PARAMETERS.get(key) or _PARAMETERS.get(_UPRIGHT.sub(r"\1", key).lower().replace(" ", "")):
        return _Part(frozenset((parameter,)), value)
    if said := _OF_PARAMETER.fullmatch(text):
        return _Part(frozenset((_PARAMETERS[said["name"].lower()],)), said["value"])
    if extreme := _EXTREME.search(name):
        return _Part(frozenset((extreme[1],)), _PLACE.sub("", value))
    words = [word for word in _WORD.findall(text) if word not in _SPELLED]
    if name and ":" not in name and len(words) <= 1 and set(words) <= set(_WORD.findall(name)):  # rank(A) = 2
        return _Part(frozenset((_bare(name),)), value)
    label = (
        frozenset(word if _ALLELES.fullmatch(word) else _SAME.get(word.lower(), word.lower()) for word in words)
        - _NO_LABEL
    )
    rest = _WORD.sub(lambda match: match.group() if match.group() in _SPELLED else " ", _REST.sub("", text))
    value = _EMPTY.sub(" ", rest).strip(_EDGE)
    return _Part(label, value) if label and _MATHEMATICS.search(value) else None


def _bare(name: str) -> str:
    r"""``f_x`` of ``\frac{\partial f}{\partial x}``, ``v`` of ``\mathbf{v}(t)``."""
    return _DECORATION.sub("", one_spelling(name))
