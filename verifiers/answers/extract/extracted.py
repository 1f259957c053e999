"""The result of extracting an answer, and what all sources of answers share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

Source = Literal["answer_tag", "boxed", "hashes", "phrase", "a_line", "last_line"]
SOURCES: tuple[Source, ...] = get_args(Source)
Place = Source | Literal["reasoning", "text", "none"]

MAX_ANSWERS = 100  # only the last ones are looked at

_DENIED = re.compile(
    r"(?:\b(?:can)?not|\bnever|n['\u2019]t|≠|\\neq?|\\not\s?=|(?<=\s)!=)(?:\s{1,3}(?:be|equal|to))?[\s$*({\[\\]{0,9}$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ExtractedAnswer:
    """The answers that the deciding source names. If there is no answer: none, and the reason.

    ``end`` is where the last tag or box ends, and 0 for other sources.
    """

    answers: tuple[str, ...]
    source: Place
    reason: str = ""
    denied: bool = False
    end: int = 0


def extracted(
    answers: list[str], source: Place, empty: str = "the answer is empty", denied: bool = False, end: int = 0
) -> ExtractedAnswer:
    """The distinct answers that a source names; ``empty`` is the reason if all of them are blank."""
    distinct = tuple(dict.fromkeys(stripped for answer in answers if (stripped := answer.strip())))
    return ExtractedAnswer(distinct, source, "" if distinct else empty, denied, end)


def is_denied(text: str, start: int) -> bool:
    """Whether what starts at ``start`` is denied by the words before it: ``it is not \\boxed{4}``."""
    return _DENIED.search(text[max(0, start - 30) : start]) is not None
