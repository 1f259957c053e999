"""The source ``last_line`` where the gold answer is an option's letter, yes or no: what one of the last lines names.

"This is option C.", "**B. 20 GeV** fits best.", "(D) It will fall.", "So the result is **False**." Needed by outputs
on GPQA and MMMU-Pro, which seldom say "the answer is".
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..hedges import CORRECTS, DENIES, LEAVES_OPEN, WRONG
from .last_line import is_option_list, last_line
from .last_sentence import DOUBTFUL
from .result import ExtractedAnswer, extracted

MAX_LINES = 4  # that are searched for an option
LONGEST_END = 2000  # characters of them

_LETTER = lazy_compile(
    r"\*\*\W{0,2}(?P<bold>[A-J])(?=\W{0,2}\*\*|[.):]\s)|\b(?:[Oo]ption|[Cc]hoice)(?:\s|\\?_)[*(]{0,3}(?P<named>[A-J])(?![\w'])"
    r"|(?:\A[*\s]{0,4}|\b(?:is|are|be|as|option|choice|answer):?\s[*]{0,2})\((?P<bracketed>[A-J])\)"
    r"|(?<!\))\((?P<at_end>[A-J])\)(?=[*.]{0,4}(?:\s|\Z))(?!\s[a-z])|\A(?P<label>[A-J])[.)]\s(?![A-Z]\.)"
    r"|\b(?:is|be|likely):?\s[*(]{0,3}(?P<said>[A-J])(?=[.:)]\s)"
)
# Another letter that is offered: "(B) looks right until ... so pick C"; not "C. A = 3, B = 4", the text of an option
_OFFERED = lazy_compile(
    r"\b(?i:or|pick|choose|chose|select|option|choice|be)\s(?i:(?:maybe|perhaps|possibly|also|rather|even|else)\s)?"
    r"\(?(?P<letter>[A-J])\b"
)
_PREFERRED = lazy_compile(r"(?<![\w(])(?P<letter>[A-HJ])\s(?:is|was|would|could|may|might|seems|looks|fits)\b")
_CORRECTED = lazy_compile(
    rf"\b(?:{CORRECTS}|(?:is|are|was|were)\s(?:\w+\s)?(?:{WRONG})"
    r"|(?:not|isn['\u2019]t) (?:it|right|correct|the answer))\b",
    re.IGNORECASE,
)
# An option that is being looked at: "* **D. 37:**", unless it is called right (Multi-Lingual CoT Faithfulness)
_ITEM = lazy_compile(r"\s*[*-]\s+\*{0,2}[A-J][.):](?!.*(?:\b(?:correct|right|best|answer|sahihi)\b|正确))", re.I)
_EXPLAINED = lazy_compile(r"\s*(?P<letter>[A-J])(?:[.)] [^\n]*)?\n\s*Explanation\b")  # on the first line (MedQA2026)
_CODE = lazy_compile(r"`[^`\n ]* [^`\n]*`")
_TRUTH_AT_END = lazy_compile(
    r"(?:so|thus|therefore|hence|finally|in conclusion)\b(?!.*\bif\b).{0,200}\b(?:is|be|to|in|yields|gives):?\s"
    r"[*`\"']{0,3}(?P<truth>true|false|yes|no)\W*\Z",
    re.IGNORECASE,
)
_CHOSEN = lazy_compile(  # without a mark: "Therefore I choose C.", "D it is.", "None of them is correct."
    r"\b(?i:none|neither|either)\b"
    r"|\b(?:choose|chose|pick|select|go (?:with|for)|answer|be|is)\W{1,3}[B-HJ](?![\w'])|\A\W*[B-HJ] it is\b"
)
_ENDS = "0123456789.!?*)`:\"'\u201d]|"  # of a text that is not cut off
# What rules an option out, or only supposes it
_AGAINST = lazy_compile(
    rf"{DOUBTFUL.pattern}|\A\W*if\b|\b(?:{DENIES}|{LEAVES_OPEN}|depends|eliminat\w*|exclud\w*|rul\w+ out|discard\w*"
    r"|contradict\w*|nothing|opposite|evidence|tempting|students|people|says?|said)\b",
    re.IGNORECASE,
)


def truth_at_end(text: str) -> ExtractedAnswer | None:
    """Yes, no, true or false that the last line is marked with or ends in: "So the result is **False**." """
    line = _CODE.sub("", text.rstrip().rpartition("\n")[2])
    truth = _TRUTH_AT_END.match(line)
    if truth is None or _AGAINST.search(line[: truth.start("truth")]):
        return last_line(text)
    return extracted([truth["truth"]], "last_line")


def letter_at_end(text: str) -> ExtractedAnswer | None:
    """The only option that one of the last lines names: "This is option C.", "(D) It will fall.", "**B. 20 GeV**".

    Else the option on a first line with an explanation below it; or all of a short last line, such as ``D``, unless it
    is the last of a list of options.
    """
    if letter := _named_at_end(text):
        return extracted([letter], "last_line")
    if first := _EXPLAINED.match(text):
        return extracted([first["letter"]], "last_line")
    answer = last_line(text)
    return answer if answer and not answer.end else None


def _named_at_end(text: str) -> str | None:
    if "\\boxed" in text:
        return None
    lines = [line.rstrip() for line in text[-LONGEST_END:].splitlines() if line.strip()]
    for at in range(len(lines) - 1, max(-1, len(lines) - 1 - MAX_LINES), -1):
        if _LETTER.search(lines[at]):
            is_item = _ITEM.match(lines[at]) or is_option_list(lines[max(0, at - 1) : at + 1])
            return None if is_item else only_letter(lines[at])
        if _CHOSEN.search(lines[at]) or lines[-1][-1] not in _ENDS:
            return None
    return None


def only_letter(line: str) -> str | None:
    """The only option that a line names by a mark: ``option C``, ``(C)``, ``**C. 20 GeV**``, or ``C.`` at its start."""
    letters = {match[match.lastgroup or 0]: match for match in _LETTER.finditer(line)}
    if len(letters) != 1:
        return None
    letter, match = letters.popitem()
    is_label = not line[: match.start()].strip("*(- ")  # what follows is the text of the option
    others = [*_OFFERED.finditer(line), *(_PREFERRED.finditer(line) if is_label else ())]
    if any(other["letter"] != letter for other in others) or _AGAINST.search(line[: match.start()]):
        return None
    return None if (_CORRECTED if is_label else _AGAINST).search(line, match.end()) else letter
