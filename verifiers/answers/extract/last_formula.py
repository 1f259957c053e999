r"""A formula that ends the last sentence: "Hence the force is $F = ma$.", "We get $$x = 2t$$ where $t$ is the time."

It is part of the source ``last_line``. Nothing before it in its sentence may deny, doubt, compare or ask, and what
follows it may only say where it holds or what its letters are.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from .statements import UNSURE

WINDOW = 600  # characters
MAX_JOINT = 9  # between two formulas of a list

_FORMULA = lazy_compile(
    r"\$\$(?P<dollars>[^$]+)\$\$|\\\[(?P<brackets>.+?)\\\]|\$(?P<dollar>[^$\n]+)\$|\\\((?P<bracket>.+?)\\\)", re.DOTALL
)
_SENTENCE_END = lazy_compile(r"[.!?](?=\s)|\n\s*\n")
_BEFORE = lazy_compile(
    r"(?:\b(?:is|are|be|was|gives?|giving|gets?|yields?|yielding|obtains?|obtained|has|have|finds?|found|becomes?|equals?"
    r"|as|so|thus|hence|therefore|that|reads|it|into|to|equal|value|function|solution|answer|formula|equation|result)"
    r"|[:=])[*_]{0,2}\s{0,2}\Z",
    re.IGNORECASE,
)
_NOT_BEFORE = lazy_compile(
    r"\b(?:of|from|by|with|using|at|for|on|in|since|because|as|via|through|into|given|both|substituting|setting|let|say"
    r"|assuming|assume|suppose|consider|dividing|multiplying|and)\s{0,2}\Z",
    re.IGNORECASE,
)
_HARMLESS = lazy_compile(r"\b(?:where|when|no-\w+)\b", re.IGNORECASE)  # in UNSURE
_AFTER = lazy_compile(
    r"\s?[.,;!]?\s?(?:(?:where|with|using|in which|valid for|for)\b[^?]{0,200}|c{3,})?[.!]?\s*", re.IGNORECASE
)
_CONDITION = lazy_compile(
    r"\W*-?[A-Za-z]\s*(?:=\s*-?\d+\s*,.*|\\(?:ge|le|in|geq|leq|neq?)(?![a-z]).*|[<>].*)", re.DOTALL
)
_LAST_CONDITION = lazy_compile(r",?\s*\\q?quad(?![a-z])\s*(?P<condition>.*)\Z", re.DOTALL)
_OPERATION = lazy_compile(r"[=+^_({]|.[-/]|\\[a-z]+\s?\\?[a-z({]")
_PLAIN = lazy_compile(
    r"(?:\A|[\s:])(?P<formula>(?:d[a-z]/d[a-z]|[A-Za-z][A-Za-z_\d]{0,9})(?:\([a-z](?:, ?[a-z])*\)|'|\*)? = "
    r"(?P<value>[^=\n]{1,120}?))[.!]?\s*\Z"
)
_WORD = lazy_compile(r"[A-Za-z]{2,}")
_NAME = lazy_compile(
    r"[A-Za-z]{2,3}|sqrt|alpha|beta|gamma|delta|epsilon|theta|lambda|sigma|omega|arc(?:sin|cos|tan)|sinh|cosh|tanh",
    re.I,
)
_LONE_WORD = lazy_compile(r"\s[A-Za-z]{2,}(?:\s|\Z)")


def last_formula(text: str) -> str | None:
    """The formula, or ``None``."""
    tail = text.rstrip()[-WINDOW:]
    formulas = list(_FORMULA.finditer(tail)) if "$" in tail or "\\" in tail else []
    masked = _FORMULA.sub(_mask, tail)
    ends = [match.end() for match in _SENTENCE_END.finditer(masked)]
    start = max((end for end in ends if masked[end:].strip()), default=0)
    previous = None
    for formula in formulas:
        if formula.start() < start or not _AFTER.fullmatch(masked, formula.end()):
            previous = formula
            continue
        is_joined = previous and start <= previous.start() and formula.start() - previous.end() < MAX_JOINT
        if previous and is_joined and not _NOT_BEFORE.search(masked[start : previous.start()]):
            return None  # $x = 1$ and $x = 2$
        before = _HARMLESS.sub("", masked[start : formula.start()])
        inside = _without_condition(formula[formula.lastgroup or 0])
        is_display = formula.lastgroup in ("dollars", "brackets")
        if UNSURE.search(before) or not (is_display or _leads_to(inside, before)):
            return None
        return f"${inside}$" if "&" not in inside or "matrix" in inside else None
    return _plain_formula(masked[start:])


def _mask(formula: re.Match[str]) -> str:
    """As many letters: c of a condition, such as n = 0, 1, 2 or x > 0."""
    inside = formula[formula.lastgroup or 0]
    return ("c" if _CONDITION.fullmatch(inside) else "x") * len(formula[0])


def _without_condition(inside: str) -> str:
    last = _LAST_CONDITION.search(inside)
    if last and (_CONDITION.fullmatch(last["condition"]) or last["condition"].startswith(r"\text{for")):
        inside = inside[: last.start()]
    return inside.strip().rstrip(".,;").rstrip()


def _leads_to(inside: str, before: str) -> bool:
    """Whether the words before a formula say that it is a result; of an operation, that it is no mere means."""
    if _BEFORE.search(before):
        return True
    return _OPERATION.search(inside) is not None and not _NOT_BEFORE.search(before) and bool(before.strip())


def _plain_formula(sentence: str) -> str | None:
    """``v = (2gh)^(1/2)`` at the end of a sentence without LaTeX."""
    found = _PLAIN.search(sentence)
    if found is None or UNSURE.search(_HARMLESS.sub("", sentence[: found.start("formula")])):
        return None
    value = found["value"]
    are_names = all(map(_NAME.fullmatch, _WORD.findall(value)))
    return found["formula"].replace("* = ", "^* = ") if are_names and not _LONE_WORD.search(value) else None
