r"""Answers whose form says how they are compared: families of solutions, branches, lines, vectors, sequences.

These are looked at only where the ordinary comparison has not said that an answer is right.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..compare import Rules, Verdict, compare
from ..formulas.algebra import ALGEBRA, UnreadableError
from ..formulas.asked import head
from ..parse import parse
from ..quantities.number import OverLimitError
from ..spelling.brackets import items
from ..spelling.normal import normal
from .constant_families import may_have_constants, same_constant_family
from .equation_lists import may_be_list, same_equations, same_solutions
from .flats import is_flat, may_be_flat, same_flat
from .integer_families import same_family
from .interval_families import is_interval_family, may_be_intervals, same_intervals
from .labelled_lists import may_be_labelled, same_labelled
from .piecewise import same_branches
from .vectors import same_vector

MAX_LENGTH = 500

_STRUCTURE = lazy_compile(
    r"\\begin\{d?cases\}|\\mathbb\s?\{?\s?Z|\\in\s?Z\b|integer|multiples|mod(?![a-z])|\\l?dots|\\langle|_\{?16\}?"
    r"|\\(?:mathbf|hat|vec|boldsymbol)|[bp]matrix|(?<![A-Za-z\\])[ijk](?![A-Za-z])|\+\s*[CcKk](?:_\{?[01]\}?)?\Z|\A[CcKk]\s*[+-]|\A\(.*,.*\)[^(),]{0,40}\Z"
    r"|[kmn]\s?\\pi|\\pi\s?[kmn](?![A-Za-z])|\\emptyset|\bDNE\b|\bexists?\b|\bsolutions?\b|\\\{\s*\\\}",
    re.IGNORECASE,
)
_C = r"(?:[CcKk](?:_\{?[01]\}?)?|constant)"
_CONSTANT = lazy_compile(rf"(?P<core>.+?)\s*\+\s*{_C}", re.DOTALL)
_COORDINATES = lazy_compile(r"(?<![A-Wa-w\\])[xyz]+(?![A-Wa-w])")
_FUNCTION = lazy_compile(r"(?:[A-Za-z]|\\[A-Za-z]+)(?:\s?\([a-z](?:,\s?[a-z])*\))?")
_LESS = lazy_compile(rf"{_C}\s*-")  # C - x may be what is left of a given C
_CONSTANT_FIRST = lazy_compile(rf"{_C}\s*(?P<core>[+-].+)", re.DOTALL)
_VARIABLE = lazy_compile(r"(?<![A-Za-z\\])[a-df-z](?![A-Za-z])|\\theta(?![a-z])")
_EQUATION = lazy_compile(r"=|<|>|\\(?:le|ge|ne|in|approx|equiv)(?![a-z])")
_HEXADECIMAL = lazy_compile(r"\(?(?P<digits>[0-9A-Fa-f]{1,40})\)?\s*_\s*\{?\s*(?:16|\(16\))\s*\}?")
_NO_SOLUTION = lazy_compile(
    r"(?:there (?:is|are) |(?:the|this) (?:equation|inequality|system(?: of equations)?|problem) has )?"
    r"no (?:(?:such )?solutions?)(?: exists?)?|(?:the )?empty set|\\emptyset|\\\{\s*\\\}|\{\s*\}",
    re.IGNORECASE,
)
_NOT_EXISTING = lazy_compile(
    r"D\.?N\.?E\.?|(?:(?:the )?limit |it )?(?:does not|doesn't|do not|don't) exist", re.IGNORECASE
)
_LEAST_TERMS = 3


def may_have_structure(gold: str) -> bool:
    """Whether a gold answer in normal spelling may be one of these."""
    if len(gold) > MAX_LENGTH:
        return False
    forms = (may_have_constants, may_be_flat, may_be_intervals, may_be_list, may_be_labelled)
    if any(may_be(gold) for may_be in forms):
        return True
    return _STRUCTURE.search(gold) is not None


def is_structure(gold: str) -> bool:
    """Whether a gold answer in normal spelling that algebra cannot read is surely one of these."""
    return len(gold) <= MAX_LENGTH and (is_interval_family(gold) or is_flat(gold))


def by_structure(gold: str, answer: str, rules: Rules) -> Verdict | None:
    """The verdict on an answer as it was written, if it has the form of the gold answer; else ``None``."""
    if len(answer) > MAX_LENGTH:
        return None
    try:
        if _both_absent(gold, parse(answer).text):
            return Verdict(True, "the same words")
        same = _same(gold, answer, rules)
    except (OverLimitError, UnreadableError):
        return None
    return None if same is None else Verdict(same, "equal by algebra" if same else "not equal by algebra")


def _same(gold: str, answer: str, rules: Rules) -> bool | None:
    """Whether an answer is right, by the first form that both have."""
    text = parse(answer).text

    def equal(one: str, other: str) -> bool:
        return _equal(one, other, rules)

    def equal_or_vector(one: str, other: str) -> bool:
        return equal(one, other) or same_vector(one, other, equal)

    gold = normal(gold)
    if rules.notation == "flexible" and same_vector(gold, answer, equal):
        return True
    same = same_family(gold, text)
    if same is None and may_be_intervals(gold):
        same = same_intervals(gold, text)
    if same is None and may_be_flat(gold):
        same = same_flat(gold, text)
    if same is None and "cases" in gold:
        same = same_branches(gold, text, equal)
    if same is None and "\\ldots" in gold:
        same = _sequences(gold, text, rules)
    if same is None and _antiderivatives(gold, text, rules):
        return True
    if same is None and may_have_constants(gold):
        same = same_constant_family(gold, text, rules.time)
    if same is None and may_be_list(gold) and (same_equations(gold, text, equal) or same_solutions(gold, text, equal)):
        return True
    if not same and same_labelled(gold, normal(answer), equal_or_vector):
        return True
    return True if same is None and _hexadecimal(gold, text) else same


def _both_absent(gold: str, answer: str) -> bool:
    """Whether both say that there is no solution, or both that something does not exist."""
    texts = gold.strip(" ."), answer.strip(" .")
    return any(all(map(pattern.fullmatch, texts)) for pattern in (_NO_SOLUTION, _NOT_EXISTING))


def _hexadecimal(gold: str, answer: str) -> bool:
    """``2a_{16}`` for ``2A_{16}``."""
    one, other = _HEXADECIMAL.fullmatch(gold), _HEXADECIMAL.fullmatch(answer)
    return bool(one and other and int(one["digits"], 16) == int(other["digits"], 16))


def _sequences(gold: str, answer: str, rules: Rules) -> bool | None:
    r"""Whether ``1, 2, 4, \ldots`` lists equal terms; ``None`` if one lists more, which nobody can check."""
    first, second = _terms(gold), _terms(answer)
    if first is None or second is None:
        return None
    pairs = list(zip(first[0], second[0], strict=False)) + list(zip(first[1][::-1], second[1][::-1], strict=False))
    if not all(_equal(one, other, rules) for one, other in pairs):
        return False
    lengths = [[len(part) for part in sequence] for sequence in (first, second)]
    return True if lengths[0] == lengths[1] and lengths[0][0] >= _LEAST_TERMS else None


def _terms(text: str) -> tuple[list[str], list[str]] | None:
    """The terms before and after the dots."""
    terms = items(text)
    if terms.count("\\ldots") != 1:
        return None
    at = terms.index("\\ldots")
    return terms[:at], terms[at + 1 :]


def _antiderivatives(gold: str, answer: str, rules: Rules) -> bool:
    """Whether two functions plus a constant C, of one variable or of x, y and z, differ by a constant."""
    gold, answer = _without_one_name(gold, answer)
    one, other = (_CONSTANT.fullmatch(text) or _CONSTANT_FIRST.fullmatch(text) for text in (gold, answer))
    if not (one and other) or _EQUATION.search(gold + answer):
        return False
    if _LESS.match(gold) and not _CONSTANT.fullmatch(gold):
        return False
    cores = one["core"], other["core"]
    variables = [set(_VARIABLE.findall(core)) for core in cores]
    coordinates = [set("".join(_COORDINATES.findall(core))) for core in cores]
    if len(variables[0] | variables[1]) != 1 and not ({"x", "y"} <= coordinates[0] == coordinates[1] >= variables[0]):
        return False
    return ALGEBRA.same_up_to_constant(*cores, rules.time)


def _without_one_name(gold: str, answer: str) -> tuple[str, str]:
    """The right sides of ``f(x,y)=…`` and ``f=…``, if both are the same function; else the texts as they are."""
    parts = [text.partition("=") for text in (gold, answer)]
    names = {head(name) for name, sign, _ in parts if sign}
    if len(names) != 1 or not all(_FUNCTION.fullmatch(name.strip()) for name, sign, _ in parts if sign):
        return gold, answer
    one, other = (value.strip() if sign else name for name, sign, value in parts)
    return one, other


def _equal(one: str, other: str, rules: Rules) -> bool:
    """Whether two parts are equal; one that cannot be read equals only the same text."""
    try:
        return compare(parse(one), parse(other), rules).correct
    except UnreadableError:
        return normal(one) == normal(other)
