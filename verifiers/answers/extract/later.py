r"""Answers after the tag or box that decides: ``\boxed{18}. The answer is 19.`` names two.

A later number, tuple or formula is an answer as well, and a contradiction if it differs. Of words only those of the
same kind are (number words, choice letters), and those in ``\text{…}``: "The answer is correct." adds nothing, nor does
an equation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..normal import normal
from ..number import OverLimitError, read_number
from ..parse import parse
from ..parsed import Words
from .boxed import NOT_CLOSED, boxed
from .extracted import SOURCES, ExtractedAnswer, Source, extracted
from .hash_marks import hash_marks
from .last_line import MAX_LENGTH, last_line
from .phrases import a_lines, phrases

IN_TEXT: dict[Source, Callable[[str], ExtractedAnswer | None]] = {
    "boxed": boxed,
    "hashes": hash_marks,
    "phrase": phrases,
    "a_line": a_lines,
    "last_line": last_line,
}
"""The sources that need no tags."""

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


def answer_in(text: str, sources: Sequence[Source] = SOURCES) -> ExtractedAnswer:
    """The answer in a text that is nothing but an answer, such as the content of an answer tag or a gold answer."""
    for source in sources:
        if source not in ("answer_tag", "last_line") and (answer := IN_TEXT[source](text)):
            return with_later_answers(answer, text, sources)
    return extracted([text], "text")


def with_later_answers(first: ExtractedAnswer, text: str, sources: Sequence[Source]) -> ExtractedAnswer:
    """The answers of a tag or box, and those that weaker sources name after it."""
    if not first.end or not first.answers:
        return first
    rest = text[first.end :]
    boxes = boxed(rest) if first.source == "answer_tag" and "boxed" in sources else None
    if boxes and boxes.reason == NOT_CLOSED:
        return boxes
    if boxes and boxes.answers:
        later = list(with_later_answers(boxes, rest, sources).answers)
    else:
        statements = [IN_TEXT[source](rest) for source in ("hashes", "phrase", "a_line") if source in sources]
        texts = [text for statement in statements if statement for text in statement.answers]
        later = [text for text in texts if _is_answer(text, first.answers)]
    return extracted([*first.answers, *later], first.source, denied=first.denied, end=first.end) if later else first


def _is_answer(later: str, answers: Sequence[str]) -> bool:
    """Whether a later statement is an answer, and not a remark on the answers before it."""
    if len(later) >= MAX_LENGTH:
        return False
    if any(kind.fullmatch(later) and all(kind.fullmatch(answer) for answer in answers) for kind in _SAME_KIND):
        return True
    try:
        if _RELATION.search(later):
            return read_number(normal(later)) is not None
        return _TEXT.fullmatch(later) is not None or not isinstance(parse(later).content, Words)
    except OverLimitError:
        return True
