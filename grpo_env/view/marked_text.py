"""What is marked in a text: the extracted answer, a search, and what differs in a group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from markupsafe import Markup

from grpo_env.core import StepScore
from grpo_env.results.report.spans import Span, find_answer, mark_text

LONGEST = 80_000  # characters shown of a text
MAX_HITS = 100  # marked occurrences of a search
MAX_WORDS = 1000  # words of a text that are compared with another's


def marked(
    text: str, steps: Sequence[StepScore] = (), answer: str | None = None, q: str = "", spans: Sequence[Span] = ()
) -> Markup:
    """The text with its steps colored by score, and marks for the answer, hits of the search ``q``, and ``spans``."""
    spans = [*spans, *find_hits(text, q)]
    return mark_text(text, steps, find_answer(text, answer), longest=LONGEST, spans=spans)


def find_hits(text: str, q: str) -> list[Span]:
    """The occurrences of a search, which ignores case unless it has a capital letter."""
    if not q:
        return []
    searched = text if q != q.lower() else text.lower()
    if len(searched) != len(text):  # a few letters have a lower case of two characters, which moves positions
        searched = text
    hits = [match.span() for match, _ in zip(re.finditer(re.escape(q), searched), range(MAX_HITS), strict=False)]
    return [Span(start, end, "hit") for start, end in hits]


def differences(text: str, base: str) -> list[Span]:
    """The words of a text that are not those of ``base``, of the first ``MAX_WORDS`` of both."""
    words, others = _words(text), _words(base)
    matcher = SequenceMatcher(None, [base[a:b] for a, b in others], [text[a:b] for a, b in words])
    return [
        Span(words[first][0], words[last - 1][1], "differs")
        for tag, _, _, first, last in matcher.get_opcodes()
        if tag in ("insert", "replace")
    ]


def _words(text: str) -> list[tuple[int, int]]:
    """Words, tags and single signs."""
    matches = zip(re.finditer(r"</?\w{1,40}>|\w+|[^\w\s]", text), range(MAX_WORDS), strict=False)
    return [match.span() for match, _ in matches]
