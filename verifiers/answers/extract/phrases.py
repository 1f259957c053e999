"""The sources ``phrase`` ("The answer is 18.", "**Answer:** 18", "答案是18") and ``a_line`` (``A: 18``)."""

from __future__ import annotations

import re
from collections import deque

from grpo_env.lazy_regex import lazy_compile

from .extracted import MAX_ANSWERS, ExtractedAnswer, extracted, is_value
from .languages import in_other_languages
from .statements import statement, value_of

_MARKER = lazy_compile(
    r"\banswers?\b(?:\s(?:choice|option|letter)\b)?|\b(?:correct|right|best)\s(?:option|choice)\b|答案|(?<![不别勿])(?<!不[应该能会可要])选项?(?![A-D、,和]{1,7}(?:都|均)?(?:不|错|误|不符))",
    re.IGNORECASE,
)
_STATES = (
    r"(?:\b(?:is|are|would be|must be|should be|will be|has to be|ought to be|becomes|equals|comes out to(?: be)?"
    r"|turns out to be)\b(?:\s(?:therefore|thus|then|hence|simply|just|indeed|clearly|also|exactly|definitely"
    r"|certainly|surely|given by|equal to)\b)?"
    r"|[:=\uff1a])"
)
_STATED = lazy_compile(
    rf"(?:[ \t]{{1,3}}(?:to|for)\b[^\n.:=]{{0,80}}?)?[*_ \t\xa0]{{0,4}}{_STATES}[*_:\s]{{0,9}}(?=\S)", re.IGNORECASE
)
_STATED_IN_CHINESE = lazy_compile(
    r"(?:应该|应当|应|就|便)?(?:选|是|为|等于|[:=\uff1a])[*_:\uff1a\s]{0,9}(?=\S)|\s?(?=[(\uff08]?[A-Z](?![A-Za-z])|不[是为选])"
)
_HEADING = lazy_compile(r"[*_: \t]{0,9}\n(?:[-=]{3,80}[ \t]*\n)?\s{0,9}(?=\S)")
_FORMULA_NEXT = lazy_compile(r"[*_ \t]{1,4}(?=\$|\\\[|\\\()")  # "Answer $18$"
_BEFORE_HEADING = lazy_compile(r"(?:\A|\n)[#*_> \t]{0,9}(?:the\s)?(?:final\s|correct\s|my\s)?\Z", re.IGNORECASE)
_A_LINE = lazy_compile(r"A(?:ns)?\*{0,2}[ \xa0]?[:\uff1a][ \t*]{0,9}(\S[^\n]*)")
_OPTION_B = lazy_compile(r"\n[ \t*]{0,9}B\*{0,2}[ \xa0]?[:\uff1a]")  # of a list of options, not of answers
# "Not enough information" is an answer.
_NEGATION = lazy_compile(
    r"(?:not|never)\b(?!\s(?:enough|given|applicable|available|possible|defined|stated|mentioned|specified|provided)\b)|不",
    re.IGNORECASE,
)
_NOT_BUT = lazy_compile(
    r"not\b[^,;\n]{1,60}?,?\s(?:but|rather)\s(?:rather\s)?(?=\S)|不[是为选][^\n]{1,60}?而[是为选]\s?(?=\S)",
    re.IGNORECASE,
)
# What makes "the answer is 18" no statement: "If the answer is 18, ...", "a tempting answer is 18"; or denies it.
_NOT_STATED = lazy_compile(
    r"\b(?:(?:if|suppose|assume|assuming|unless|whether)\b[^.!?\n,;:]{0,40}"
    r"|(?:wrong|incorrect|tempting|initial|previous|earlier)\s)$",
    re.IGNORECASE,
)
_DOUBTED = lazy_compile(
    r"(?:n['\u2019]t|\bnot|\bnever)\s(?:think|believe|say|mean|true|certain|sure|the case|correct)\b[^.!?\n,;:]{0,40}$"
    r"|\b(?:doubt|unlikely|false) that\b[^.!?\n,;:]{0,40}$"
    r"|\b(?:common|popular|usual|frequent|first) (?:claim|belief|guess|mistake|misconception)s?\b[^.!?\n,;:]{0,40}$"
    r"|(?:不能说|不是说|并非|不认为|不代表|不意味着)[^\u3002\uff01\uff1f\uff0c\n]{0,20}$",
    re.IGNORECASE,
)
_JUDGED = lazy_compile(r"[A-D][、,和A-D]{0,6}(?:是|都|均)?(?:正确|符合.*|对)的?")  # of one option, before the choice
_CHOSEN = lazy_compile("故选|答案|应选|因此选|所以选")
_LIST = lazy_compile(
    r"(?:(?:-|\u2022|\d{1,2}[.)])\s[^\n:]{1,40}(?:\n\s{0,9}|\Z)){2,20}\Z"
    r"|(?=.{0,9}(?:[Nn]ull|H_?\{?0|H\u2080))(?:[-*\u2022]|\d\.)\s[^\n]{1,80}\n\s{0,9}(?:[-*\u2022]|\d\.)\s[^\n]{1,80}\Z"
)  # below a marker
_FORMULA = lazy_compile(r"[\d\\$]")
_REMARKS = {"correct", "right", "wrong", "incorrect", "as follows", "below", "above", "clear", "obvious"}
_MANY_WORDS = 7
_REST = 200  # characters that may follow the answer below a heading


def phrases(text: str) -> ExtractedAnswer | None:
    """What "the answer is" states; of several statements those with a number or formula, if there are any."""
    lower = text.lower()
    marked = "answer" in lower or "option" in lower or "choice" in lower
    if not marked and (text.isascii() or ("答案" not in text and "选" not in text)):
        return None
    stated: list[tuple[str, int]] = []
    denied = False
    for word in deque(_MARKER.finditer(text), maxlen=MAX_ANSWERS):
        start = _start(text, word)
        before = text[max(0, word.start() - 80) : word.start()]
        if start is None or _NOT_STATED.search(before):
            continue
        if (listed := _LIST.match(text, start)) and not _DOUBTED.search(before):
            stated.append((listed[0], listed.end()))
            continue
        answer, at = statement(text, start)
        if _DOUBTED.search(before):
            denied = True
            continue
        if _NEGATION.match(answer):
            corrected = _NOT_BUT.match(text, start, at + 60)
            if corrected is None:
                denied = True
                continue
            answer, at = statement(text, corrected.end())
        if answer:
            stated.append((value_of(answer), at))
    if not text.isascii() and any(_CHOSEN.search(text, 0, at) for _, at in stated):
        stated = [pair for pair in stated if not _JUDGED.fullmatch(pair[0])] or stated
    stated = [pair for pair in stated if _FORMULA.search(pair[0])] or stated
    if len(stated) > 1:
        stated = [pair for pair in stated if not _is_remark(pair[0])] or stated
    if not stated:
        return ExtractedAnswer(("",), "phrase", denied=True) if denied else None
    return extracted([answer for answer, _ in stated], "phrase", end=stated[-1][1])


def _is_remark(statement: str) -> bool:
    """Whether a statement is none beside others: "The answer is correct.", "Answer: Let us count the eggs." """
    return statement.lower() in _REMARKS or (len(statement.split()) >= _MANY_WORDS and not is_value(statement))


def _start(text: str, word: re.Match[str]) -> int | None:
    """Where the statement starts that a marker introduces."""
    if not word.group().isascii():
        stated = _STATED_IN_CHINESE.match(text, word.end())
        return stated.end() if stated else None
    if stated := _STATED.match(text, word.end()):
        return stated.end()
    heading = _HEADING.match(text, word.end()) or _FORMULA_NEXT.match(text, word.end())
    if heading is None or not _BEFORE_HEADING.search(text[max(0, word.start() - 40) : word.start()]):
        return None
    answer, end = statement(text, heading.end())
    rest = text[end : end + _REST].strip(" \n.*_")
    is_last = len(rest) < _REST - 9 if is_value(answer) else not rest and is_value(value_of(answer))
    return heading.end() if is_last else None


def a_lines(text: str) -> ExtractedAnswer | None:
    """The lines that start with ``A:`` or ``Ans:``, else what is stated in languages other than English and Chinese."""
    matches = [match for match in _A_LINE.finditer(text) if _starts_line(text, match.start())]
    if not matches:
        return in_other_languages(text)
    if _OPTION_B.search(text, matches[0].end()):
        return None
    return extracted([match[1] for match in matches], "a_line", end=matches[-1].end())


def _starts_line(text: str, start: int) -> bool:
    if start == 0 or text[start - 1] == "\n":
        return True
    before = text[max(0, start - 10) : start].rpartition("\n")
    return not before[2].strip(" \t*") and (before[1] == "\n" or start < 10)
