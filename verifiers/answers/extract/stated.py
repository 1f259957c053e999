"""The source ``phrase``: what a marker states: "The answer is 18.", "**Answer:** 18", ``A: 18``, "La respuesta es 18".

A marker is the word for answer (in English also "the correct option") with a verb or a colon behind it; between them
may stand a parenthesis or what it is the answer to: "the answer (arabic numerals) is 8", as in the prompts of
zero-shot-CoT. Below a heading ``Answer`` it is the next line. Other languages: the words of MGSM's prompts.
"""

from __future__ import annotations

import re
from collections import deque

from grpo_env.lazy_regex import lazy_compile

from .languages import ANSWER, IS, NOT
from .result import MAX_ANSWERS, ExtractedAnswer, extracted, is_value
from .sentence import statement

_MARKER = lazy_compile(
    r"\banswers?\b(?:\s(?:choice|option|letter)\b)?|\b(?:correct|right|best|first)\s(?:option|choice)(?:\sletter)?\b"
    rf"|(?<![A-Za-z\u00c0-\u04ff])(?:{ANSWER})|(?<![不别勿])(?<!不[应该能会可要])选项?(?=是|为|[:\uff1a](?!\W*\n)|[(\uff08]?[A-Z](?![A-Za-z]))",
    re.IGNORECASE,
)
_STATES = (
    r"(?:\b(?:is|are|was|would be|must be|should be|will be|has to be|ought to be|becomes|equals|comes out to(?: be)?"
    r"|turns out to be)\b(?:\s(?:therefore|thus|then|hence|simply|just|indeed|clearly|also|exactly|definitely"
    r"|certainly|surely|given by|equal to)\b)?:?"
    rf"|\b(?:{IS})\b:?"
    r"|(?:は|是|为|선택|은|는)|[:=\uff1a\u2014])"
)
_STATED = lazy_compile(
    r"(?:[ \t]{0,3}\([^()\n]{1,60}\)|[ \t]{1,3}(?:to|for)\b[^\n.:=]{0,80}?)?[*_ \t\xa0]{0,4}"
    rf"{_STATES}[*_:,\s]{{0,9}}(?=\S)",
    re.IGNORECASE,
)
_HEADING = lazy_compile(r"[*_: \t]{0,9}\n(?:[-=]{3,80}[ \t]*\n)?\s{0,9}(?=\S)")
_MARKED_AGAIN = lazy_compile(
    rf"[#*_ \t]{{0,9}}(?:(?:the |final |correct ){{0,3}}answer|{ANSWER})[*_]{{0,3}}\s?(?:[:\uff1a]|is\b)", re.IGNORECASE
)
_FORMULA_NEXT = lazy_compile(r"[*_ \t]{1,4}(?=\$|\\\[|\\\()|(?=[(\uff08]?[A-Z](?![A-Za-z]))")  # "Answer $18$", 故选A
_BEFORE_HEADING = lazy_compile(r"(?:\A|\n)[#*_> \t]{0,9}(?:the\s)?(?:final\s|correct\s|my\s)?\Z", re.IGNORECASE)
_A_LINE = lazy_compile(r"\n[ \t*]{0,9}A(?:ns)?\*{0,2}[ \xa0]?[:\uff1a][ \t*]{0,9}(\S[^\n]*)")
_OPTION_B = lazy_compile(r"\n[ \t*]{0,9}B\*{0,2}[ \xa0]?[:\uff1a]")  # of a list of options, not of answers
# "Not enough information" is an answer.
_NEGATION = lazy_compile(
    r"(?:not|never)\b(?!\s(?:enough|given|applicable|available|possible|defined|stated|mentioned|specified|provided)\b)|不",
    re.IGNORECASE,
)
_NOT_ASCII = tuple(word for word in (*ANSWER.split("|"), "选") if not word.isascii())
_IN_ASCII = ("answer", "option", "choice", "antwort", "respuesta", "sposta", "jibu")
_ABROAD = lazy_compile(ANSWER, re.IGNORECASE)
_NOT_ABROAD = lazy_compile(rf"(?:{NOT})\b", re.IGNORECASE)
# What makes "the answer is 18" no statement: "If the answer is 18, ...", "a tempting answer is 18"; or denies it.
_NOT_STATED = lazy_compile(
    r"\b(?:(?:if|suppose|assume|assuming|unless|whether|maybe|perhaps)\b[^.!?\n,;:]{0,40}"
    r"|(?:wrong|incorrect|tempting|initial|previous|earlier|common|check (?:our|my|the))\s)$",
    re.IGNORECASE,
)
_CONDITION = lazy_compile(r"\b(?:if|had|were|supposing|assuming)\b[^.!?\n]{0,140}\Z", re.IGNORECASE)
"""Before "the answer would be 12." (Mr-Ben)."""
_DOUBTED = lazy_compile(
    r"(?:n['\u2019]t|\bnot|\bnever)\s(?:think|believe|say|mean|true|certain|sure|the case|correct)\b[^.!?\n,;:]{0,40}$"
    r"|\b(?:doubt|unlikely|false) that\b[^.!?\n,;:]{0,40}$"
    r"|\b(?:common|popular|usual|frequent|first) (?:claim|belief|guess|mistake|misconception)s?\b[^.!?\n,;:]{0,40}$"
    r"|(?:不能说|不是说|并非|不认为)[^\u3002\uff01\uff1f\uff0c\n]{0,20}$",
    re.IGNORECASE,
)
_INTRODUCED = lazy_compile(r"[^\n]*:\s*(?:\n|\Z)")  # "To find the answer, let's look at every option:"
_LIST = lazy_compile(r"\n(?:(?:1[.)]|[-*]|Step 1)\s+\*{0,2}[A-Za-z]|\(?A[.)\u3001][^\n]*\n\s*\(?B[.)\u3001])")
_REMARKS = {"correct", "right", "wrong", "incorrect", "as follows", "below", "above", "clear", "obvious"}
_FORMULA = lazy_compile(r"[\d\\$]")
_OPTION = lazy_compile(r"(?:option|choice|letter)\s+(?=[(\[]?[A-Za-z][)\].:]?)", re.IGNORECASE)
_MANY_WORDS = 7
_REST = 200  # characters that may follow the answer below a heading


def stated(text: str) -> ExtractedAnswer | None:
    """What the markers of a text state; of several statements those with a number or formula, if there are any."""
    found, denied = statements(text)
    if len(found) > 1:
        found = [pair for pair in found if _FORMULA.search(pair[0])] or found
        found = [pair for pair in found if not _is_remark(pair[0])] or found
    if not found:
        return ExtractedAnswer(("",), "phrase", denied=True) if denied else None
    return extracted([answer for answer, _ in found], "phrase", end=found[-1][1])


def statements(text: str) -> tuple[list[tuple[str, int]], bool]:
    """All that the markers of a text state, in order, each with its end; and whether anything was denied instead."""
    lines = _lines(text) if "A" in text else []
    first = _first_marker(text)
    if first is None:
        return lines, False
    found, denied = _marked(text, first)
    return [*found, *(line for line in lines if is_value(line[0]))] if found else lines, denied


def _marked(text: str, first: int) -> tuple[list[tuple[str, int]], bool]:
    """What markers in sentences and headings state, from ``first`` on, and whether anything was denied instead."""
    found: list[tuple[str, int]] = []
    denied = False
    for word in deque(_MARKER.finditer(text, first), maxlen=MAX_ANSWERS):
        start = _start(text, word)
        earlier = text[max(0, word.start() - 160) : word.start()]
        before = earlier[-80:]
        if start is None or _NOT_STATED.search(before):
            continue
        if "would be" in text[word.end() : start] and _CONDITION.search(earlier):
            continue
        # "How to find the answer:\n1. Add the apples.", "The final answer is:\n### Answer: 3"
        if _LIST.match(text, start - 1) or _MARKED_AGAIN.match(text, start):
            continue
        answer, end = statement(text, start)
        if (
            _DOUBTED.search(before)
            or _NEGATION.match(answer)
            or (_ABROAD.match(word.group()) and _NOT_ABROAD.match(answer))
        ):
            denied = True
        elif answer and not (answer.endswith(":") and _INTRODUCED.match(text, start)):
            option = _OPTION.match(answer)
            found.append((answer[option.end() :] if option else answer, end))
    return found, denied


def _first_marker(text: str) -> int | None:
    """Where the first marker may begin, ``None`` if there is none: every match has a word that is found faster."""
    lower = text.lower()
    if not text.isascii():
        return 0 if any(word in lower for word in (*_NOT_ASCII, *_IN_ASCII)) else None
    if not (
        "answer" in lower or "option" in lower or "choice" in lower or "antwort" in lower
        or "respuesta" in lower or "sposta" in lower or ("j" in lower and "jibu" in lower)
    ):  # fmt: skip
        return None
    return max(0, min(at for word in _IN_ASCII if (at := lower.find(word)) >= 0) - len("correct "))


def _is_remark(answer: str) -> bool:
    """Whether a statement is none beside others: "The answer is correct.", "Answer: Let us count the eggs." """
    is_known = answer.lower() in _REMARKS or answer.endswith("の通りです")  # "as follows" (jfinqa)
    return is_known or (len(answer.split()) >= _MANY_WORDS and not is_value(answer))


def _start(text: str, word: re.Match[str]) -> int | None:
    """Where the statement starts that a marker introduces."""
    if match := _STATED.match(text, word.end()):
        return match.end()
    heading = _HEADING.match(text, word.end()) or _FORMULA_NEXT.match(text, word.end())
    if heading is None or (
        word.group().isascii() and not _BEFORE_HEADING.search(text[max(0, word.start() - 40) : word.start()])
    ):
        return None
    answer, end = statement(text, heading.end())
    rest = text[end : end + _REST].strip(" \n.*_")
    return heading.end() if (len(rest) < _REST - 9 if is_value(answer) else not rest) else None


def _lines(text: str) -> list[tuple[str, int]]:
    """What the lines that start with ``A:`` or ``Ans:`` say, unless they are a list of options."""
    lines = [(line[1], line.end() - 1) for line in _A_LINE.finditer(f"\n{text}")]
    return [] if lines and _OPTION_B.search(text, lines[0][1]) else lines[-MAX_ANSWERS:]
