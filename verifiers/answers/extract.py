r"""Which text of a completion is its final answer.

Only what the model says *after* its reasoning counts:

    reasoning block closed        the text after it (a lone ``</think>`` closes what a template opened)
    reasoning block not closed    no answer
    no reasoning tag at all       the whole text

In that text the first of these sources that is present decides; a task may name fewer of them, or another order:

    answer_tag     ``<answer>18</answer>``; inside it any of the next four, else all of its content
    boxed          ``\boxed{18}``, ``\boxed 18``, ``\fbox{18}``; a box that is not closed: no answer
    hashes         ``#### 18`` with a number, or as the last line
    phrase         "The answer is 18.", "Final answer: $18$", "**Answer:** 18"
    a_line         ``A: 18``
    last_line      if it is a short answer by itself, or holds one bold ``**18**``

A source yields every answer it names, in order and without repetition of the same text: who names several different
ones has not answered, and the caller decides so. A number, a tuple, a formula that a weaker source names behind the
deciding one is an answer as well, a contradiction if it differs. Of words only those of the same kind are (number
words, choice letters), and those in ``\text{…}``: "The answer is correct." says nothing new, nor does an equation.
An answer that is denied (``not \boxed{4}``) is no answer to accept.
Every search is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from grpo_env.core import Completion, Format

from ..blocks import Tag, find_tags, whole_turn
from .exact import OverLimitError, read_number
from .normal import normal
from .parse import read
from .parsed import Words

Source = Literal["answer_tag", "boxed", "hashes", "phrase", "a_line", "last_line"]
SOURCES: tuple[Source, ...] = get_args(Source)
Place = Source | Literal["reasoning", "text", "none"]

_MOST_ANSWERS = 100  # the last so many are looked at; nobody honest gives more
_UNCLOSED = "the box is not closed"
_LONGEST_LAST_LINE = 80
_WORDS_IN_LAST_LINE = 6
_RULES = "`~*_=-# "  # a line of these is a fence or a rule

_SYMBOL = r"\\(?:pi|infty|emptyset|varnothing|theta|alpha|beta)(?![A-Za-z])"
_BOX = re.compile(
    r"\\(?:boxed|fbox)\s{0,9}(?:\{|(?P<bare>[-+]?[\d.][^\s${}\\]{0,40}|" + _SYMBOL + r"))|\\.|[{}]", re.DOTALL
)
_HASHES = re.compile(r"^[ \t]{0,9}####[ \t]{0,9}(\S[^\n]*)", re.MULTILINE)
_ANSWER = re.compile(r"\banswer\b", re.IGNORECASE)
_PHRASE = re.compile(
    r"answer(?:[ \t]{1,3}(?:to|for)\b[^\n.:=]{0,80}?)?[*_ \t]{0,4}(?:\bis\b|\bwould be\b|[:=])[*_:\s]{0,9}(?=\S)",
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
_TEXT = re.compile(r"\$?\\text\{[^{}]*\}\$?")
_RELATION = re.compile(r"[=<>≡≈]|\\(?:equiv|approx|sim|leq?|geq?|mid)(?![a-z])")
_SAME_KIND = (
    re.compile(r"\(?[A-Z]\)?"),
    re.compile(
        r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
        r"|seventeen|eighteen|nineteen|twenty)",
        re.IGNORECASE,
    ),
)
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")
_MATH = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}


@dataclass(frozen=True)
class Found:
    """The answers that the deciding source names; none, with the reason, if there is no answer.

    ``end`` is where the last tag or box ends; 0 for other sources.
    """

    answers: tuple[str, ...]
    source: Place
    reason: str = ""
    denied: bool = False
    end: int = 0


def final_answer(format: Format, completion: Completion, sources: Sequence[Source] = SOURCES) -> Found:
    """The final answer of a completion, by the policy at the top of this module."""
    text = whole_turn(format, completion)[0]
    if format.reasoning:
        tags = find_tags(text, format.reasoning)
        if tags and not tags[-1].closing:
            return Found((), "reasoning", "the reasoning block is not closed")
        text = text[tags[-1].end :] if tags else text
    for source in sources:
        if source == "answer_tag":
            tags = find_tags(text, format.answer) if format.answer else []
            found = _from_answer_tags(text, tags, sources) if tags else None
        else:
            found = _IN_TEXT[source](text)
        if found is not None:
            return _with_later(found, text, sources)
    return Found((), "none", "no final answer in the text")


def inside(text: str, sources: Sequence[Source] = SOURCES) -> Found:
    """The answer within a text that is all answer, such as the content of an answer tag or a gold answer."""
    for source in sources:
        if source not in ("answer_tag", "last_line") and (found := _IN_TEXT[source](text)):
            return _with_later(found, text, sources)
    return _found([text], "text")


def _with_later(found: Found, text: str, sources: Sequence[Source]) -> Found:
    """With what a weaker source names as the answer behind the tag or box that decides: it is one as well."""
    if not found.end or not found.answers:
        return found
    rest = text[found.end :]
    boxes = _boxes(rest) if found.source == "answer_tag" and "boxed" in sources else None
    if boxes and boxes.reason == _UNCLOSED:
        return boxes
    if boxes and boxes.answers:
        later = list(_with_later(boxes, rest, sources).answers)
    else:
        weaker = [_IN_TEXT[source](rest) for source in ("hashes", "phrase", "a_line") if source in sources]
        later = [answer for one in weaker if one for answer in one.answers if _is_answer(answer, found.answers)]
    return _found([*found.answers, *later], found.source, denied=found.denied, end=found.end) if later else found


def _from_answer_tags(text: str, tags: list[Tag], sources: Sequence[Source]) -> Found:
    contents, denied = [], False
    opening: Tag | None = None
    for tag in tags:
        if not tag.closing:
            if opening is not None:
                return Found((), "answer_tag", "answer tags are nested")
            opening = tag
        elif opening is not None:
            contents.append(text[opening.end : tag.start])
            denied = denied or (len(contents) <= _MOST_ANSWERS and _is_denied(text, opening.start))
            opening = None
    if opening is not None or not contents:
        return Found((), "answer_tag", "the answer tag is not closed")
    found = [inside(content, sources) for content in contents]
    if not all(one.answers for one in found):
        return next(one for one in found if not one.answers)
    answers = [answer for one in found for answer in one.answers]
    return _found(answers, "answer_tag", denied=denied or any(one.denied for one in found), end=tags[-1].end)


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
        return Found((), "boxed", _UNCLOSED)
    return _found(answers, "boxed", "the box is empty", denied, end)


def _hashes(text: str) -> Found | None:
    if "####" not in text:
        return None
    lines = [match[1].strip() for match in _HASHES.finditer(text)]
    numbers = [line for line in lines if _starts_like_number(line)]
    if numbers:
        return _found(numbers, "hashes")
    if not lines or not text.rstrip().endswith(lines[-1]):
        return None
    return _phrases(lines[-1]) or _found(lines[-1:], "hashes")


def _phrases(text: str) -> Found | None:
    if "answer" not in text.lower():
        return None
    answers, denied = [], False
    for word in deque(_ANSWER.finditer(text), maxlen=_MOST_ANSWERS):
        match = _PHRASE.match(text, word.start())
        if match is None:
            continue
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
    return _found(answers, "a_line") if answers else None


def _last_line(text: str) -> Found | None:
    line = text.rstrip()[-_LONGEST_LAST_LINE - 9 :].rpartition("\n")[2].strip()
    bold = {match.strip() for match in _BOLD.findall(line)}
    if len(bold) == 1 and bold != {line.strip("*")}:
        return _found(list(bold), "last_line")
    if not line.strip(_RULES) or len(line) > _LONGEST_LAST_LINE or len(line.split()) > _WORDS_IN_LAST_LINE:
        return None
    return _found([line], "last_line")


_IN_TEXT: dict[Source, Callable[[str], Found | None]] = {
    "boxed": _boxes,
    "hashes": _hashes,
    "phrase": _phrases,
    "a_line": _a_lines,
    "last_line": _last_line,
}


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


def _is_answer(later: str, answers: Sequence[str]) -> bool:
    """Whether a later statement is an answer, and not a remark on the ones before it."""
    if len(later) >= _LONGEST_LAST_LINE:
        return False
    if any(kind.fullmatch(later) and all(kind.fullmatch(one) for one in answers) for kind in _SAME_KIND):
        return True
    try:
        if _RELATION.search(later):
            return read_number(normal(later)) is not None
        return _TEXT.fullmatch(later) is not None or not isinstance(read(later).shape, Words)
    except OverLimitError:
        return True


def _found(
    answers: list[str],
    source: Place,
    empty: str = "the answer is empty",
    denied: bool = False,
    end: int = 0,
) -> Found:
    distinct = tuple(dict.fromkeys(stripped for answer in answers if (stripped := answer.strip())))
    return Found(distinct, source, "" if distinct else empty, denied, end)
