"""The source ``last_line``: a short last line, or the only bold text or code in it.

Of a fence or a display block that ends the text it is the line inside. What a longer last line says is read by
``last_sentence``; of an option's letter, the only bracketed one.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..hedges import DOUBTS, UNSURE
from .json_field import json_at_end
from .last_sentence import LONGEST_SENTENCE, TRIES, line_and_sentence, name_at_end
from .result import MAX_LENGTH, ExtractedAnswer, extracted
from .sentence import block_at_end

MAX_WORDS = 6
LONGEST_LIST = 400  # characters of two options
_MARKED = lazy_compile(r"(\*\*|`)([^*`\n]{1,80})\1")
_LABEL = lazy_compile(r"\A(?:[-*]\s+)?\*\*[A-Z][A-Za-z -]{0,40}(?::\*\*|\*\*:)(?=\s)")  # **Result:** 5, - **D:** no
# "It is not **18**.", "Avoid `git pull`.", "Maybe **18**.", "17 or **18**"
_UNSURE = lazy_compile(
    rf"(?:(?:\b(?:not|never)\b(?! only)|\bcannot\b|n['\u2019]t\b|\b(?:{DOUBTS}|avoid"
    r"|neither|nor|whether|except|wrong|incorrect|all but|instead of|rather than)\b)[^.!?\n,;:]{0,80}"
    r"|\b(?:or|either)[\s$(]{1,3})\Z",
    re.IGNORECASE,
)
_QUESTION = lazy_compile(r"[^.!\n]{0,80}[?\uff1f]")
_TRUTH = lazy_compile(r"(?:yes|no|true|false)(?:[.,;:!]| [\u2013\u2014-]| because\b| since\b)\s?[^?\n]+", re.IGNORECASE)
_BOLD_LINE = lazy_compile(r"\*\*([^*\n]{1,80})\*\*")
_CHAIN = lazy_compile(  # 3 * 45 = 135 minutes = 2 h 15 min
    r"(?:[A-Za-z][A-Za-z ]{0,30}|[^A-Za-z=]{1,40}|[A-Z]\w{0,3}) ?= ?[^=:;!?]{1,40}(?:=[^=:;!?]{1,40}){1,4}"
)
_ENCLOSED = lazy_compile(
    r"\[.*\]|\{.*\}|\(.*\)|'[^']*'|\"[^\"]*\"|[\W\d_]*"
)  # a list, a text in quotes, a formula of numbers
_LABELED = lazy_compile(r"\W{0,4}(?:[Oo]ption\s)?[A-J](?:[.):]|\*\*)")
_RULES = "`~*_=-# \"'"  # a line of these is a fence or a rule


def last_line(text: str) -> ExtractedAnswer | None:
    """The last line if it is short, or its bold text or code if there is one in a longer line."""
    text = text.rstrip()
    if text.endswith(("}", "]", "```")) and (whole := json_at_end(text)):
        return extracted([whole], "last_line")
    line = block_at_end(text)
    if line is None:
        line = text[-MAX_LENGTH - 9 :].rpartition("\n")[2].strip()
    if marked := _only_mark(line):
        value, mark = marked
        end = text.rfind(mark) + len(mark)
        start = text.rfind(mark + value, 0, end)
        if not _UNSURE.search(text[max(0, start - 99) : start]) and not _QUESTION.match(text, end):
            return extracted([value], "last_line", end=end)
    if is_option_list(text[-LONGEST_LIST:].splitlines()[-2:]):
        return None
    if len(text) <= LONGEST_SENTENCE and _TRUTH.fullmatch(text.lstrip()):
        return extracted([text], "last_line")
    if bold := _BOLD_LINE.fullmatch(line):
        line = bold[1]
    is_chain = len(line.split("=")) > 2 and _CHAIN.fullmatch(line) and not UNSURE.search(line)
    is_short = (is_chain or len(line.split()) <= MAX_WORDS or _ENCLOSED.fullmatch(line)) and not TRIES.match(line)
    return extracted([line], "last_line") if line.strip(_RULES) and len(line) <= MAX_LENGTH and is_short else None


def is_option_list(lines: list[str]) -> bool:
    """Whether two lines are options with their labels, of which none is an answer."""
    return len(lines) == 2 and all(map(_LABELED.match, lines))


def _only_mark(line: str) -> tuple[str, str] | None:
    """The only bold text or code in a line, and how it is marked."""
    marked = {match.strip(): mark for mark, match in _MARKED.findall(_LABEL.sub("", line))}
    return next(iter(marked.items())) if len(marked) == 1 and set(marked) != {line.strip("*`")} else None


def text_at_end(text: str) -> ExtractedAnswer | None:
    """What a last sentence names, a short last line, or all of a last line that is one sentence."""
    line, sentence = line_and_sentence(text)
    is_whole = sentence == line and not line.endswith((":", "```"))
    return name_at_end(text) or last_line(text) or (extracted([line], "last_line") if is_whole and line else None)
