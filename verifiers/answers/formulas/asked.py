r"""What was asked for, in front of its value: ``\int_0^1 x\,dx = \frac12``, ``P(X>2) = 0.3``, ``\det A = 3``.

Only what cannot be an equation to be solved is taken for that: an operator, a function with its argument, a product of
two vectors; not ``2x = 10``.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..spelling.brackets import split, split_sum
from .terms import as_names

MAX_LENGTH = 300

_NO_LETTER = "sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|frac|binom|left|cdot|times|pm"
_LETTER = rf"(?:[A-Za-z]|\\(?!(?:{_NO_LETTER})(?![a-z]))[A-Za-z]+)"
_VECTOR = rf"(?:\\(?:vec|overrightarrow|hat)\s?\{{[^{{}}]{{1,12}}\}}|{_LETTER})"
_INDEX = r"(?:_(?:\{[^{}]{1,12}\}|\\?[A-Za-z\d]+)|\^(?:\{[^{}]{1,12}\}|[A-Za-z\d])|')"
# An operator that takes all that follows, sums too.
_OPERATION = lazy_compile(
    r"\\(?:i{0,3}nt|o?iint|oint|sum|prod|lim)(?![a-z]).+|\\begin\{[vV]matrix\}.*\\end\{[vV]matrix\}", re.DOTALL
)
_OPERATOR = lazy_compile(
    r"\\(?:nabla|Delta|det|dim|deg|arg|Pr|max|min|sup|inf|mathcal)(?![a-z]).+"
    r"|\{[A-Za-z]{2,12}\}.*"  # \operatorname{…} in normal spelling
    r"|(?:rank|nullity|tr|trace|dim|curl|div|grad|proj|Var|Cov|Res|Log|Arg)[\s_(\\].+"
    r"|\\frac\s?\{\s?(?:d|\\partial).*\}\s?\{\s?(?:d|\\partial).*\}.*"
    r"|\|.*(?:\\cdot|\\times|\\vec|\\partial|\\nabla).*\|"
    rf"|{_VECTOR}\s?\\(?:cdot|times)\s?(?:{_VECTOR}|\(\s?{_VECTOR}\s?\\times\s?{_VECTOR}\s?\))"
    r"|(?:\\\||\\lVert).{1,40}(?:\\\||\\rVert)(?:_\w|_\{\w+\}|_\\infty)?"  # a norm
    r"|\{\}\s?_\{?\w{1,3}\}?\s?[pq]_\{?[\w+]{1,5}\}?"  # a probability to survive
    rf"|\[\s?(?:\\hat\{{[^{{}}]{{1,9}}\}}|[A-Z])(?:_\w|_\{{\w+\}})?\s?,\s?(?:\\hat\{{[^{{}}]{{1,9}}\}}|[A-Z])(?:_\w|_\{{\w+\}})?\s?\]"
    r"|D_.{1,16}|\\(?:sin|cos|tan)\s?\\(?:alpha|beta|gamma|theta|phi)",
    re.DOTALL,
)
_FUNCTION = lazy_compile(
    rf"(?!\\(?:{_NO_LETTER})(?![a-z]))(?:[f-hA-Z]|\\[A-Za-z]+){_INDEX}*\s?(?:\(.*\)|\[.*\]|\\\{{.*\\\}}){_INDEX}*"
    rf"|{_LETTER}{_INDEX}*\s?\(\s?\\?[a-z]+(?:,\s?\\?[a-z]+)*\s?\)",  # x(t), but x(x+1) is a product
    re.DOTALL,
)
_SPELLINGS = (("{div}", r"\nabla\cdot"), ("{curl}", r"\nabla\times"), ("{rot}", r"\nabla\times"), ("{grad}", r"\nabla"))
_DECORATION = lazy_compile(r"\\(?:vec|hat|text)(?![a-z])|[\s{}]")
ARGUMENT = lazy_compile(r"\([a-z](?:,[a-z])*\)\Z")
_INDEXED = lazy_compile(r"\\?[A-Za-z]+(?:_\w+)?")
_HEAD = lazy_compile(r"[^(\[]+")


def value_asked(text: str) -> str | None:
    """What stands right of the quantity that was asked for; ``None`` if the text is anything else."""
    if "=" not in text or len(text) > MAX_LENGTH:
        return None
    sides = split(text, "=")
    if len(sides) < 2 or not all(sides) or not is_quantity(sides[0]):
        return None
    value = " = ".join(sides[1:])
    is_recursive = sides[0].endswith(")") and f"{head(sides[0])}(" in value  # T(n) = 2T(n/2) + n
    return None if is_recursive else value


def head(name: str) -> str:
    """The function of a quantity: f for ``f(1,2)``."""
    match = _HEAD.match(name)
    return match.group().strip() if match else ""


def is_quantity(name: str) -> bool:
    """Whether a left side is a quantity rather than a side of an equation."""
    return is_operation(name) or _is_one_term(_FUNCTION, name.strip())


def is_operation(name: str) -> bool:
    """Whether a left side is an operation, such as an integral, rather than the name of a value."""
    name = name.strip()
    return _OPERATION.fullmatch(name) is not None or _is_one_term(_OPERATOR, name)


def _is_one_term(pattern: re.Pattern[str], name: str) -> bool:
    return pattern.fullmatch(name) is not None and len(split_sum(name)) == 1


def may_be_same(gold: str, answer: str) -> bool:
    """Whether two left sides may stand for one quantity.

    An operation may for a name, ``\\frac{d}{dx}(x^2)`` for ``f'(x)``; two operations only if they are the same.
    """
    if not is_operation(gold):
        return is_operation(answer) and not _are_other_derivatives(gold, answer)
    return _one_spelling(gold) == _one_spelling(answer)


def _are_other_derivatives(one: str, other: str) -> bool:
    r"""Whether two names are of different derivatives of one function, as ``u_{tt}`` and ``\partial_t u`` are."""
    names = [re.sub(r"[{}\s]", "", name) for name in as_names(one, other)]
    are_names = all(map(_INDEXED.fullmatch, names))
    return are_names and names[0] != names[1] and names[0].partition("_")[0] == names[1].partition("_")[0]


def _one_spelling(name: str) -> str:
    for old, new in _SPELLINGS:
        name = name.replace(old, new)
    return ARGUMENT.sub("", _DECORATION.sub("", name))
