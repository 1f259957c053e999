# ruff: noqa: RUF001  (letters of other alphabets)
r"""Answers after those of the source that decides: ``\boxed{18}. The answer is 19.`` names two.

A later number, tuple or formula is an answer as well, and a contradiction if it differs. "The answer is correct." adds
nothing, nor does an equation, unless it gives a value (``x=6``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from grpo_env.lazy_regex import lazy_compile

from .boxed import NOT_CLOSED, boxed
from .corrections import NOTHING, corrections, replaced
from .extracted import SOURCES, ExtractedAnswer, Source, extracted, is_answer
from .hash_marks import hash_marks
from .json_object import json_answers, json_object
from .last_line import last_line
from .last_number import last_number
from .phrases import a_lines, phrases

IN_TEXT: dict[Source, Callable[[str], ExtractedAnswer | None]] = {
    "boxed": boxed,
    "hashes": hash_marks,
    "phrase": phrases,
    "a_line": a_lines,
    "last_line": last_line,
    "last_number": last_number,
}
"""The sources that need no tags."""

_INVISIBLE = lazy_compile("[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_DENIALS = (
    " non ",
    " nicht ",
    " no ",
    " não ",
    " niet ",
    " не ",
    " nie ",
    " inte ",
    " ikke ",
    " bukan ",
    " không phải ",
    "不是",
)
_DENIED_VALUE = lazy_compile(
    r"(?:(?<=\W)(?:(?:et |e )?non(?: pas)?|(?:und )?nicht|y no|e não|(?:en )?niet"
    r"|а не|a nie|(?:och )?inte|(?:og )?ikke|bukan|không phải(?: là)?)\s|不是)"
    r"[\s$*]{0,3}(?P<value>-?\d+(?:[.,]\d+)?)(?![\w%])(?!\s(?:mal|fois|veces|vezes|volte|keer|gånger|ganger))"
)
_FENCE = lazy_compile(r"\s*```[a-z0-9+#]{0,12}[ \t]*\n((?:(?!```).)*)```\s*", re.DOTALL)
_WEAKER: tuple[Source, ...] = ("hashes", "phrase", "a_line")


def answer_in(text: str, sources: Sequence[Source] = SOURCES) -> ExtractedAnswer:
    """The answer in a text that is nothing but an answer, such as the content of an answer tag or a gold answer."""
    text = visible(text)
    answer = _stated(text, sources)
    if answer and (answer.denied or len(answer.answers) > 1):
        answer = replaced(text, answer, lambda part: _stated(part, sources)) or answer
    if answer is None and "```" in text and (fence := _FENCE.fullmatch(text)):
        text = fence[1].strip()
    return answer or extracted([text], "text")


def _stated(text: str, sources: Sequence[Source]) -> ExtractedAnswer | None:
    """The answer by the first source that is present, other than the last line, with what follows it."""
    for source in sources:
        if source not in ("answer_tag", "last_line", "last_number") and (answer := IN_TEXT[source](text)):
            return with_later_answers(answer, text, sources)
    return None


def visible(text: str) -> str:
    """The text without marks that have no width: byte order marks, directions, soft hyphens and the like."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def _is_denied_later(rest: str, answers: tuple[str, ...]) -> bool:
    """Whether what follows an answer in another language denies its number: "Il y en a 42, et non 24." """
    if len(answers) != 1 or not any(denial in rest for denial in _DENIALS):
        return False
    value = answers[0].strip(" $*.")
    return any(match["value"] == value for match in _DENIED_VALUE.finditer(rest[:400]))


def with_later_answers(first: ExtractedAnswer, text: str, sources: Sequence[Source]) -> ExtractedAnswer:
    """The answers of a source, and those that the text after them gives: by weaker sources, or as corrections."""
    if not first.answers or not 0 < first.end < len(text):
        return first
    end, denied = first.end, first.denied
    if NOTHING.match(text, end):
        return first
    rest = text[end:]
    boxes = boxed(rest) if first.source == "answer_tag" and "boxed" in sources else None
    if boxes and boxes.reason == NOT_CLOSED:
        return boxes
    if boxes and boxes.answers:
        later = list(with_later_answers(boxes, rest, sources).answers)
    else:
        statements = [IN_TEXT[source](rest) for source in _WEAKER if source in sources and source != first.source]
        texts = [text for statement in statements if statement for text in statement.answers]
        if rest.endswith(("}", "```")) and "last_line" in sources:
            texts += json_answers(json_object(rest))
        later = [text for text in texts if is_answer(text, first.answers)]
        corrected = corrections(text, end, first.answers)
        later += corrected.answers
        denied = denied or corrected.rejected or _is_denied_later(rest, first.answers)
    if not later and denied == first.denied:
        return first
    return extracted([*first.answers, *later], first.source, denied=denied, end=end)
