"""The result of extracting an answer, and what all sources of answers share."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

from grpo_env.lazy_regex import lazy_compile

from ..math.normal import normal
from ..math.parse import parse
from ..math.parsed import Words
from ..quantities.number import OverLimitError, read_number

Source = Literal["answer_tag", "boxed", "json", "hashes", "phrase", "last_line", "last_number"]
ALL_SOURCES: tuple[Source, ...] = get_args(Source)
SOURCES: tuple[Source, ...] = ALL_SOURCES[:-1]
"""The sources that are used unless a task names others."""
Place = Source | Literal["reasoning", "text", "none"]

MAX_ANSWERS = 100  # only the last ones are looked at
MAX_LENGTH = 80  # of a short answer

_DENIED = lazy_compile(
    r"(?:\b(?:can)?not|\bnever|n['\u2019]t|≠|\\neq?|\\not\s?=|(?<=\s)!=)(?:\s{1,3}(?:be|equal|to))?[\s$*({\[\\]{0,9}$",
    re.IGNORECASE,
)
_DENIALS = ("not", "never", "n't", "n\u2019t", "\u2260", "\\ne", "!=")  # one of them is in every match
_LETTER = lazy_compile(r"\(?[A-Z]\)?|(?:option|choice) \(?[A-Z]\)?", re.IGNORECASE)
_OPTION = lazy_compile(r"([A-H])\.\s[a-z]")  # B. photosynthesis
_NUMBER_WORD = lazy_compile(
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty)",
    re.IGNORECASE,
)
_MARK = lazy_compile(r"<<[^<>\n=]*=[^<>\n]*>>")
TRUTH = lazy_compile(r"yes|no|true|false", re.IGNORECASE)
_TEXT = lazy_compile(r"\$?\\text\{[^{}]*\}\$?")
_RELATION = lazy_compile(r"[=<>≡≈]|\\(?:equiv|approx|sim|leq?|geq?|mid)(?![a-z])")
# A check mark, a trophy and the like; not a cross or a question mark, which say that the answer is wrong or in doubt.
_SIGN = (
    r"(?:[\u2705\u2713\u2714\u2611\u2728\u2b50\u263a\U0001f389\U0001f38a\U0001f3af\U0001f3c6\U0001f44d\U0001f44f\U0001f31f"
    r"\U0001f4af\U0001f4a1\U0001f600-\U0001f60a\U0001f642\U0001f64c\U0001f680\U0001f973]\ufe0f?)"
)
_SUCCESS = lazy_compile(rf"\A(?:{_SIGN}\s?){{1,5}}\s?|\s?(?:\s?{_SIGN}){{1,5}}\Z")

# \boxed{45}$ radians, $\\boxed{5}\\ \\text{cm}$, **5** square meters
_UNIT = lazy_compile(
    r"(?:\\[,;: ]|~|\}|\$\$?|\\\)|\\\]|\*\*|\s){0,6}(?:\\(?:text|mathrm)\{\s?)?"
    r"(?P<unit>[^\W\d_](?:[^$}{\\\n^]|\^\{?-?\d\}?){0,40}|°\s?[CF]?|\\?%)"
)


class ExtractedAnswer(NamedTuple):
    """The answers that the deciding source names. If there is no answer: none, and the reason; of a last line, why it.

    ``end`` is where the last of them ends in the text, and 0 if nothing can follow it. ``unit`` is what stands right
    behind a box or marked text. ``text`` is all of the text that was searched.
    """

    answers: tuple[str, ...]
    source: Place
    reason: str = ""
    denied: bool = False
    end: int = 0
    unit: str = ""
    text: str = ""

    def told(self, why: str, correct: bool = False) -> str:
        """An explanation: the source and ``why``; of words on the last line that are wrong, also why they were read."""
        is_words = self.reason and not correct and any(" " in text and not is_value(text) for text in self.answers)
        return f"{self.source}: {why}" + (f"; {self.reason}" if is_words else "")


def extracted(
    answers: list[str],
    source: Place,
    empty: str = "the answer is empty",
    denied: bool = False,
    end: int = 0,
    unit: str = "",
) -> ExtractedAnswer:
    """The distinct answers that a source names; ``empty`` is the reason if all of them are blank."""
    distinct = tuple(filter(None, map(_stripped, answers)))
    if len(distinct) > 1:  # in the order of their last mentions, since the last letter decides
        distinct = tuple(dict.fromkeys(reversed(distinct)))[::-1]
    return ExtractedAnswer(distinct, source, "" if distinct else empty, denied, end, unit)


def _stripped(answer: str) -> str:
    """An answer without white space and signs of success at its ends, and without GSM8K's ``<<180=180>>``."""
    answer = (_MARK.sub("", answer) if "<<" in answer else answer).strip()
    return answer if answer.isascii() else _SUCCESS.sub("", answer) or answer


def unit_behind(text: str, end: int) -> str:
    """The words right behind an answer that may be its unit; "" for none."""
    match = _UNIT.match(text, end)
    return match["unit"] if match else ""


def is_denied(text: str, start: int) -> bool:
    """Whether what starts at ``start`` is denied by the words before it: ``it is not \\boxed{4}``."""
    before = text[max(0, start - 30) : start]
    return any(map(before.lower().__contains__, _DENIALS)) and _DENIED.search(before) is not None


def is_number(text: str) -> bool:
    """Whether a text is a number, perhaps with its unit."""
    try:
        return read_number(normal(text)) is not None
    except OverLimitError:
        return True


def is_value(text: str) -> bool:
    """Whether a text is a number, a formula or the like, and not words."""
    if len(text) >= MAX_LENGTH:
        return False
    try:
        return not isinstance(parse(text).content, Words)
    except OverLimitError:
        return True


def is_answer(later: str, answers: tuple[str, ...]) -> bool:
    """Whether what follows the ``answers`` is one as well, and not a remark on them.

    Numbers, formulas and tuples are, and named values (``x=6``), but no other equations. Of words only those of the
    same kind are (number words, choice letters, yes and no), and those in ``\\text{…}``.
    """
    if len(later) >= MAX_LENGTH:
        return False
    if option := _OPTION.match(later):
        later = option[1]
    for kind in (_LETTER, _NUMBER_WORD, TRUTH):
        if kind.fullmatch(normal(later)) and all(kind.fullmatch(normal(answer)) for answer in answers):
            return True
    try:
        if _RELATION.search(later):
            named = parse(later) if read_number(normal(later)) is None else None
            return named is None or (named.variable is not None and is_number(named.right_side))
        return _TEXT.fullmatch(later) is not None or not isinstance(parse(later).content, Words)
    except OverLimitError:
        return True
