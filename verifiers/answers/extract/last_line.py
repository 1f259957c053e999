"""The source ``last_line``: a short last line, the only bold text or code in it, or italic text at its end."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.doubts import DOUBTS, MONTH, NOT, UNSURE
from .conclusions import conclusion
from .extracted import MAX_LENGTH, ExtractedAnswer, extracted
from .json_object import is_json_answer, json_answers, json_object
from .last_formula import last_formula
from .statements import block_at_end

MAX_WORDS = 6

_MARKED = lazy_compile(r"(\*\*|`)([^*`\n]{1,80})\1")
_ITALIC = lazy_compile(r"(?<![\w*\\])([*_])(?=[^\s*_])([^*_`\n]{1,80})(?<=\S)\1(?!\w)")
_LABEL = lazy_compile(r"\A\*\*[A-Z][A-Za-z -]{2,40}(?::\*\*|\*\*:)(?=\s)")  # **Result:** 5
_SENTENCE_ENDS = (".", "!", "")
# "It is not **18**.", "Avoid `git pull`.", "Maybe **18**.", "17 or **18**"
_UNSURE = lazy_compile(
    rf"(?:(?:\b(?:not|never)\b(?! only)|\bcannot\b|{NOT}|\b(?:{DOUBTS}|avoid"
    r"|neither|nor|whether|except|instead of|rather than)\b)[^.!?\n,;:]{0,80}|\b(?:or|either)[\s$(]{1,3})\Z",
    re.IGNORECASE,
)
_QUESTION = lazy_compile(r"[^.!\n]{0,80}[?\uff1f]")
# "Yes, because penguins are birds.", "No. The bridge is shorter than that."
_TRUTH = lazy_compile(
    r"(?:yes|no|true|false)(?:[.,;:!]| [\u2013\u2014-]| because\b| since\b)\s?[^.!?\n]+[.!]?(?:\s[^.!?\n]+[.!]?)?", re.I
)
_ONE_SENTENCE = lazy_compile(
    r"(?=.{0,160}\Z)[A-Z\u4e00-\u9fff](?:[^.!?\n:;*`。]|[.:](?=[\w/@])|(?<=i\.e)\.|(?<=e\.g)\.){5,159}[.!。]"
)
_LABELLED = lazy_compile(r"[A-Z][a-z]*(?: [a-z]+){0,3}: \S")
# "- red\n- green", as all of the text or below a line that ends in a colon
_LIST = lazy_compile(
    r"(?:\A|:\**\n\s{0,3})(?P<list>(?:(?:[-*\u2022]|\d{1,2}[.)]) [^\d\s:=][^\d\n:=]{0,39}(?:\n|\Z)){2,20})\Z"
)
_ENTRIES = lazy_compile(
    r"(?:\A|\n)[ \t*-]{0,9}(?P<debit>(?:Dr\b\.?|Debit) [^\n*]{3,60}?)[ \t*]{0,9}\n\s{0,9}[ \t*-]{0,9}"
    r"(?P<credit>(?:Cr\b\.?|Credit) [^\n*]{3,60}?)[ \t*]{0,9}\Z"
)  # of a journal
_LONGEST_LIST = 600
_SIGN = lazy_compile(r"\s[<>](?=\s)")  # Na > Mg > Al > Si
_LONGEST = 200
_BOLD_LINE = lazy_compile(r"\*\*([^*\n]{1,80})\*\*")
_CHAIN = lazy_compile(  # 3 * 45 = 135 minutes = 2 h 15 min
    r"(?:[A-Za-z][A-Za-z ]{0,30}|[^A-Za-z=]{1,40}|[A-Z]\w{0,3}) ?= ?[^=:;!?]{1,40}(?:=[^=:;!?]{1,40}){1,4}"
)
_RULES = "`~*_=-# "  # a line of these is a fence or a rule


def last_line(text: str) -> ExtractedAnswer | None:
    """The last line if it is short, or its bold text or code if there is one in a longer line.

    Of a fence or a display block that ends the text it is the line inside, and of a JSON object its answer field, or
    all of it if it has none. A sentence that is all of the text is read as well, and in other languages a conclusion.
    """
    text = text.rstrip()
    if text.endswith(("}", "]", "```")) and (whole := json_object(text)):
        if answers := json_answers(whole):
            return extracted(answers, "last_line")._replace(whole=whole)
        if is_json_answer(whole):
            return extracted([whole], "last_line")
    line = block_at_end(text)
    if line is None and (listed := _LIST.search(text[-_LONGEST_LIST:])):
        return extracted([listed["list"]], "last_line")
    if line is None and (entries := _ENTRIES.search(text[-_LONGEST_LIST:])):
        return extracted([f"{entries['debit']}; {entries['credit']}"], "last_line")
    if line is None:
        line = text[-MAX_LENGTH - 9 :].rpartition("\n")[2].strip()
    if marked := _only_mark(line):
        value, mark = marked
        end = text.rfind(mark) + len(mark)
        start = text.rfind(mark + value, 0, end)
        if not _UNSURE.search(text[max(0, start - 99) : start]) and not _QUESTION.match(text, end):
            return extracted([value], "last_line", end=end)
    if len(text) <= _LONGEST and _TRUTH.fullmatch(text):
        return extracted([text], "last_line")
    if (formula := last_formula(text)) is not None:
        return extracted([formula], "last_line") if formula else None
    if concluded := conclusion(text):
        return extracted([concluded], "last_line")._replace(is_all=True)
    if _ONE_SENTENCE.fullmatch(text.strip()) and not UNSURE.search(MONTH.sub("", text)):
        return extracted([text], "last_line")._replace(is_all=True)
    if bold := _BOLD_LINE.fullmatch(line):
        line = bold[1]
    is_chain = len(line.split("=")) > 2 and _CHAIN.fullmatch(line) and not UNSURE.search(line)
    is_short = is_chain or len(_SIGN.sub(" ", line).split()) <= MAX_WORDS or (line == text and _LABELLED.match(line))
    if not line.strip(_RULES) or len(line) > MAX_LENGTH or not is_short:
        return None
    return extracted([line], "last_line")


def _only_mark(line: str) -> tuple[str, str] | None:
    """The only bold text or code in a line, else its only italic text, if that ends it; and how it is marked."""
    marked = {match.strip(): mark for mark, match in _MARKED.findall(_LABEL.sub("", line))}
    if len(marked) == 1 and set(marked) != {line.strip("*`")}:
        return next(iter(marked.items()))
    italic = [] if marked else list(_ITALIC.finditer(line))
    if len(italic) == 1 and italic[0].start() and line[italic[0].end() :].strip() in _SENTENCE_ENDS:
        return italic[0][2], italic[0][1]
    return None
