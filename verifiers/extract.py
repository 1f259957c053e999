r"""Which text of a completion is its final answer.

Only what the model says *after* its reasoning counts:

    reasoning block closed        the text after it (a lone ``</think>`` closes what a template opened)
    reasoning block not closed    no answer
    no reasoning tag at all       the whole text

In that text the first of these sources that is present decides:

    answer tag     ``<answer>18</answer>``; inside it any of the next four, else all of its content
    box            ``\boxed{18}``, ``\boxed 18``, ``\fbox{18}``; a box that is not closed: no answer
    hashes         ``#### 18`` with a number, or as the last line
    phrase         "The answer is 18.", "Final answer: $18$", "**Answer:** 18"
    A line         ``A: 18``
    last line      if it is a short answer by itself, or holds one bold ``**18**``

A source yields every answer it names, in order and without repetition of the same text: who names several different
ones has not answered, and the caller decides so. A number that a weaker source names behind the deciding one is
an answer as well, a contradiction if it differs. An answer that is denied (``not \boxed{4}``) is no answer to accept.
Every search is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from grpo_env.core import Completion, Format

from .blocks import Tag, find_tags, whole_turn
from .exact import OverLimitError, read_number
from .normal import normal

_MOST_ANSWERS = 100  # the last so many are looked at; nobody honest gives more
_UNCLOSED = "the box is not closed"
_LONGEST_LAST_LINE = 80
_WORDS_IN_LAST_LINE = 6

_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,9}(?:\{|(?P<bare>[-+]?[\d.][^\s${}\\]{0,40}))|\\.|[{}]", re.DOTALL)
_HASHES = re.compile(r"^[ \t]{0,9}####[ \t]{0,9}(\S[^\n]*)", re.MULTILINE)
_PHRASE = re.compile(
    r"\banswer\b(?:[ \t]{1,3}(?:to|for)\b[^\n.:=]{0,80}?)?[*_ \t]{0,4}(?:\bis\b|\bwould be\b|[:=])[*_:\s]{0,9}(?=\S)",
    re.IGNORECASE,
)
_A_LINE = re.compile(r"^[ \t*]{0,9}(?:A|Ans)[*]{0,2}:[ \t*]{0,9}(\S[^\n]*)", re.MULTILINE)
_SENTENCE_END = re.compile(
    r"\n|[.!?](?=\s|$)|;\s(?!\s{0,9}[-+$\\\d])|,\s+(?=(?:because|since|so|which|as|where|but|not|and (?:so|thus))\b)"
)
_DENIED = re.compile(
    r"(?:\b(?:can)?not|\bnever|n['\u2019]t|≠|\\neq?|\\not\s?=|(?<=\s)!=)(?:\s{1,3}(?:be|equal|to))?[\s$*({\[\\]{0,9}$",
    re.IGNORECASE,
)
_BLANK = re.compile(r"(?:\\(?:phantom|hspace)\{[^{}]*\}|\\q?quad|\\[,;: ]|[\s?_~])*")
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")
_MATH = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}


@dataclass(frozen=True)
class Found:
    """The answers that the deciding source names; none, with the reason, if there is no answer."""

    answers: tuple[str, ...]
    source: str
    reason: str = ""
    denied: bool = False


def final_answer(format: Format, completion: Completion) -> Found:
    """The final answer of a completion, by the policy at the top of this module."""
    text = whole_turn(format, completion)[0]
    if format.reasoning:
        tags = find_tags(text, format.reasoning)
        if tags and not tags[-1].closing:
            return Found((), "reasoning", "the reasoning block is not closed")
        text = text[tags[-1].end :] if tags else text
    if format.answer:
        tags = find_tags(text, format.answer)
        if tags:
            return _from_answer_tags(text, tags)
    for source in (_boxes, _hashes, _phrases, _a_lines, _last_line):
        found = source(text)
        if found is not None:
            return found
    return Found((), "none", "no final answer in the text")


def inside(text: str) -> Found:
    """The answer within a text that is all answer, such as the content of an answer tag or a gold answer."""
    return (
        _boxes(text)
        or _hashes(text)
        or _phrases(text)
        or _a_lines(text)
        or _found([text], "text", "the answer is empty")
    )


def _from_answer_tags(text: str, tags: list[Tag]) -> Found:
    contents = []
    opening: Tag | None = None
    for tag in tags:
        if not tag.closing:
            if opening is not None:
                return Found((), "answer tag", "answer tags are nested")
            opening = tag
        elif opening is not None:
            contents.append(text[opening.end : tag.start])
            opening = None
    if opening is not None or not contents:
        return Found((), "answer tag", "the answer tag is not closed")
    found = [inside(content) for content in contents]
    if not all(one.answers for one in found):
        return next(one for one in found if not one.answers)
    answers = [answer for one in found for answer in one.answers]
    rest = text[tags[-1].end :]
    boxes = _boxes(rest)
    if boxes and boxes.reason == _UNCLOSED:
        return boxes
    answers += boxes.answers if boxes else _later(rest)
    return _found(answers, "answer tag", denied=any(one.denied for one in found))


def _boxes(text: str) -> Found | None:
    if "\\boxed" not in text and "\\fbox" not in text:
        return None
    stack: list[tuple[int, int] | None] = []
    answers: list[str] = []
    denied, depth, end = False, 0, 0
    for match in _BOX.finditer(text):
        token = match.group()
        if token == "}" and stack:
            box = stack.pop()
            depth -= box is not None
            content = text[box[1] : match.start()] if box is not None and depth == 0 else ""
            if box is not None and not _BLANK.fullmatch(content):
                end = match.end()
                answers.append(content)
                denied = denied or (len(answers) <= _MOST_ANSWERS and _is_denied(text, box[0]))
        elif match["bare"] and depth == 0:
            end = match.end()
            answers.append(match["bare"])
            denied = denied or (len(answers) <= _MOST_ANSWERS and _is_denied(text, match.start()))
        elif token == "{":
            stack.append(None)
        elif token[-1] == "{" and len(token) > 2:
            stack.append(match.span())
            depth += 1
    if depth:
        return Found((), "box", _UNCLOSED)
    answers += _later(text[end:]) if answers else []
    return _found(answers, "box", "the box is empty", denied)


def _hashes(text: str) -> Found | None:
    lines = [match[1].strip() for match in _HASHES.finditer(text)]
    numbers = [line for line in lines if _starts_like_number(line)]
    if numbers:
        return _found(numbers, "hashes")
    if not lines or not text.rstrip().endswith(lines[-1]):
        return None
    return _phrases(lines[-1]) or _found(lines[-1:], "hashes")


def _phrases(text: str) -> Found | None:
    answers, denied = [], False
    for match in deque(_PHRASE.finditer(text), maxlen=_MOST_ANSWERS):
        answer = _statement(text, match.end())
        if re.match(r"(?:not|never)\b", answer, re.IGNORECASE):
            denied = True
        elif answer:
            answers.append(answer)
    with_numbers = [answer for answer in answers if re.search(r"[\d\\$]", answer)]
    answers = with_numbers or answers
    if not answers:
        return Found(("",), "phrase", denied=True) if denied else None
    return _found(answers, "phrase")


def _a_lines(text: str) -> Found | None:
    answers = [match[1] for match in _A_LINE.finditer(text)]
    return _found(answers, "A line") if answers else None


def _last_line(text: str) -> Found | None:
    line = text.rstrip()[-_LONGEST_LAST_LINE - 9 :].rpartition("\n")[2].strip()
    bold = {match.strip() for match in _BOLD.findall(line)}
    if len(bold) == 1 and bold != {line.strip("*")}:
        return _found(list(bold), "last line")
    if not line or len(line) > _LONGEST_LAST_LINE or len(line.split()) > _WORDS_IN_LAST_LINE:
        return None
    return _found([line], "last line")


def _later(text: str) -> list[str]:
    """Numbers that a phrase, hashes or an A line name behind the source that decides: they are answers as well."""
    sources = (source(text) for source in (_hashes, _phrases, _a_lines))
    return [answer for found in sources if found for answer in found.answers if _is_number(answer)]


def _statement(text: str, start: int) -> str:
    """What is stated from ``start`` on: the formula that begins there, else up to the end of the sentence."""
    window = text[start : start + 400]
    for opening, closing in _MATH.items():
        if window.startswith(opening):
            end = window.find(closing, len(opening))
            if end > 0 and (opening != "$" or "\n" not in window[:end]):
                tail = _SENTENCE_END.split(window[end + len(closing) :], maxsplit=1)[0]
                return window[: end + len(closing)] + tail
    stop = _SENTENCE_END.search(window)
    if stop and stop.group() == "?":  # "The answer is 18? No, ..." states nothing
        return ""
    return window[: stop.start() if stop else None].strip().rstrip("*_")


def _is_denied(text: str, start: int) -> bool:
    return _DENIED.search(text[max(0, start - 30) : start]) is not None


def _starts_like_number(line: str) -> bool:
    return re.match(r"[-+$€£(\\*]{0,4}\s?\.?\d|\\[a-z]*frac", line) is not None


def _is_number(answer: str) -> bool:
    try:
        return len(answer) < _LONGEST_LAST_LINE and read_number(normal(answer)) is not None
    except OverLimitError:
        return True


def _found(answers: list[str], source: str, empty: str = "the answer is empty", denied: bool = False) -> Found:
    distinct = tuple(dict.fromkeys(stripped for answer in answers if (stripped := answer.strip())))
    return Found(distinct, source, "" if distinct else empty, denied)
