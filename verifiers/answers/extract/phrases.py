"""The sources ``phrase`` ("The answer is 18.", "**Answer:** 18") and ``a_line`` (``A: 18``)."""

from __future__ import annotations

import re
from collections import deque

from .extracted import MAX_ANSWERS, ExtractedAnswer, extracted

_ANSWER = re.compile(r"\banswer\b", re.IGNORECASE)
_PHRASE = re.compile(
    r"answer(?:[ \t]{1,3}(?:to|for)\b[^\n.:=]{0,80}?)?[*_ \t]{0,4}(?:\bis\b|\bwould be\b|[:=])[*_:\s]{0,9}(?=\S)",
    re.IGNORECASE,
)
_A_LINE = re.compile(r"^[ \t*]{0,9}(?:A|Ans)[*]{0,2}:[ \t*]{0,9}(\S[^\n]*)", re.MULTILINE)
_SENTENCE_END = re.compile(
    r"\n|[.!?](?=\s|$)|;\s(?!\s{0,9}[-+$\\\d])|,\s+(?=(?:because|since|so|which|as|where|but|not|and (?:so|thus))\b)"
)
_NEGATION = re.compile(r"(?:not|never)\b", re.IGNORECASE)
_FORMULA = re.compile(r"[\d\\$]")
_MATH = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}


def phrases(text: str) -> ExtractedAnswer | None:
    """What "the answer is" states; of several statements those with a number or formula, if there are any."""
    if "answer" not in text.lower():
        return None
    answers, denied = [], False
    for word in deque(_ANSWER.finditer(text), maxlen=MAX_ANSWERS):
        match = _PHRASE.match(text, word.start())
        if match is None:
            continue
        answer = _statement(text, match.end())
        if _NEGATION.match(answer):
            denied = True
        elif answer:
            answers.append(answer)
    answers = [answer for answer in answers if _FORMULA.search(answer)] or answers
    if not answers:
        return ExtractedAnswer(("",), "phrase", denied=True) if denied else None
    return extracted(answers, "phrase")


def a_lines(text: str) -> ExtractedAnswer | None:
    """The lines that start with ``A:`` or ``Ans:``."""
    answers = [match[1] for match in _A_LINE.finditer(text)]
    return extracted(answers, "a_line") if answers else None


def _statement(text: str, start: int) -> str:
    """What is stated from ``start`` on: the formula that begins there, else the rest of the sentence."""
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
