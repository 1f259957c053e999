r"""A formula that ends the last sentence: "Hence the force is $F = ma$.", "We get $$x = 2t$$ where $t$ is the time."

It is part of the source ``last_line``. Nothing before it in its sentence may deny, doubt, compare or ask, and what
follows it may only say where it holds or what its letters are.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.doubts import DOUBTS, RULES_OUT, TRIES, UNSURE, WRONG
from .statements import NO_ABBREVIATION

WINDOW = 600  # characters
MAX_JOINT = 9  # between two formulas of a list

_FORMULA = lazy_compile(
    r"\$\$(?P<dollars>[^$]+)\$\$|\\\[(?P<brackets>.+?)\\\]|\$(?P<dollar>[^$\n]+)\$|\\\((?P<bracket>.+?)\\\)", re.DOTALL
)
_SENTENCE_END = lazy_compile(rf"[.!?](?=\s){NO_ABBREVIATION}|\n\s*\n(?!\s*where\b)")
# Right before a formula: that it is a result, and a noun or the like that it may be in apposition to.
_RESULT = lazy_compile(
    r"(?:\A|\b(?:is|are|be|was|gives?|giving|gets?|yields?|yielding|obtains?|obtained|has|have|finds?|found|becomes?|equals?"
    r"|concludes?|means|implies|imply|so|thus|hence|therefore|then|finally)|[:=])[*_,]{0,2}\s{0,2}\Z",
    re.IGNORECASE,
)
_BEFORE = lazy_compile(
    r"\b(?:as|that|reads|it|into|to|equal|value|function|solution|answer|formula|equation|result)[*_]{0,2}\s{0,2}\Z",
    re.IGNORECASE,
)
_NOT_BEFORE = lazy_compile(
    r"\b(?:of|from|by|with|using|at|for|on|in|since|because|as|via|through|into|given|both|substituting|setting|let|say"
    r"|assuming|assume|suppose|consider|dividing|multiplying|and)\s{0,2}\Z",
    re.IGNORECASE,
)
_AND = lazy_compile(r"\d\s?[A-Za-z(][^=]{0,20}= [^=]{1,20} and \Z")  # 2x = 6 and
_CLAUSE = lazy_compile(r"[,;:]\s")
# What is put forward on the way, and what others say.
_NO_RESULT = lazy_compile(
    rf"\b(?:{TRIES}|{RULES_OUT}|sets?|setting|verif\w*|takes?|taking|choos\w*|initial\w*|insert\w*|contradict\w*"
    r"|rul(?:e|es|ing) out|both|each)\b"
    r"|\b(?:for|say|at|between|from)\s?\Z",
    re.IGNORECASE,
)
_DOUBTED = lazy_compile(
    rf"\b(?:{DOUBTS}|{WRONG}|errors?|tempting|claim\w*|would|candidates?|expect\w*|think|thinks|thought|many"
    r"|some(?:one|body)?|others?)\b",
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
_PLAIN_NAME = r"(?:d[a-z]/d[a-z]|[A-Za-z][A-Za-z_\d]{0,9})(?:\([a-z](?:, ?[a-z])*\)|'|\*)?"
_PLAIN = lazy_compile(rf"(?:\A|[\s:])(?P<formula>{_PLAIN_NAME} = (?P<value>[^=\n]{{1,120}}?))[.!]?\s*\Z")
_ONE_OF_LIST = rf"{_PLAIN_NAME} = (?:[^\s,;=]|,(?=\d)){{1,20}}(?: [a-z]{{1,10}}/?[a-z]{{0,3}})?"
_PLAIN_LIST = lazy_compile(
    rf"(?:\A|[\s:])(?P<formula>(?:{_ONE_OF_LIST}(?:, and |, or |; | and | or |, )){{1,9}}{_ONE_OF_LIST}?)[.!]?\s*\Z"
)
_NAMED = lazy_compile(r"\s*\\?[A-Za-z]+(?:_\{?\w+\}?)?\s*=[^=]+")
_WORD = lazy_compile(r"[A-Za-z]{2,}")
_NAME = lazy_compile(
    r"[A-Za-z]{2,3}|sqrt|alpha|beta|gamma|delta|epsilon|theta|lambda|sigma|omega|arc(?:sin|cos|tan)|sinh|cosh|tanh",
    re.I,
)
_LONE_WORD = lazy_compile(r"\s[A-Za-z]{2,}(?:\s|\Z)")


def last_formula(text: str) -> str | None:
    """The formula; "" if there is one that the text puts forward, tries or doubts, and ``None`` if there is none."""
    tail = text.rstrip()[-WINDOW:]
    formulas = list(_FORMULA.finditer(tail)) if "$" in tail or "\\" in tail else []
    masked = _FORMULA.sub(_mask, tail)
    ends = [match.end() for match in _SENTENCE_END.finditer(masked)]
    start = max((end for end in ends if masked[end:].strip()), default=0)
    joined: list[str] = []  # the formulas of a list, up to this one
    first = previous = None
    for formula in formulas:
        inside = _without_condition(formula[formula.lastgroup or 0])
        if previous and start <= previous.start() and formula.start() - previous.end() < MAX_JOINT:
            joined.append(inside)
        else:
            first, joined = formula, [inside]
        previous = formula
        if formula.start() < start or not _AFTER.fullmatch(masked, formula.end()):
            continue
        before = _HARMLESS.sub("", masked[start : formula.start()])
        if first and len(joined) > 1 and not _NOT_BEFORE.search(masked[start : first.start()]):
            if not all(map(_NAMED.fullmatch, joined)):
                return None
            inside = ", ".join(joined)  # $x = 1$ and $x = 2$
            before = _HARMLESS.sub("", masked[start : first.start()])
        is_display = formula.lastgroup in ("dollars", "brackets")
        if UNSURE.search(before) or not _leads_to(inside, before, is_display):
            return "" if _is_put_forward(before) else None
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


def _leads_to(inside: str, before: str, is_display: bool = False) -> bool:
    """Whether the words before a formula say that it is a result; of an operation, that it is no mere means."""
    if not _DOUBTED.search(before) and _RESULT.search(before):
        return True
    if _is_put_forward(before):
        return False
    if is_display or _BEFORE.search(before) or _AND.search(before):
        return True
    return _OPERATION.search(inside) is not None and not _NOT_BEFORE.search(before)


def _is_put_forward(before: str) -> bool:
    """Whether the words before a formula say that it is tried, given or wrong, or what others say."""
    return _DOUBTED.search(before) is not None or _NO_RESULT.search(_CLAUSE.split(before)[-1]) is not None


def _plain_formula(sentence: str) -> str | None:
    """``v = (2gh)^(1/2)`` or ``x = 2 and x = 3`` at the end of a sentence without LaTeX."""
    listed = _PLAIN_LIST.search(sentence)
    found = listed or _PLAIN.search(sentence)
    if found is None:
        return None
    before = _HARMLESS.sub("", sentence[: found.start("formula")])
    if UNSURE.search(before) or not _leads_to(found["formula"], before):
        return "" if _is_put_forward(before) else None
    if listed:
        return listed["formula"]
    value = found["value"]
    are_names = all(map(_NAME.fullmatch, _WORD.findall(value)))
    return found["formula"].replace("* = ", "^* = ") if are_names and not _LONE_WORD.search(value) else None
