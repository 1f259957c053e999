"""What is marked in a text: the extracted answer, and a search."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup

from grpo_env.core import StepScore
from grpo_env.results.report.spans import Span, find_answer, mark_text

LONGEST = 80_000  # characters shown of a text
MAX_HITS = 100  # marked occurrences of a search


def marked(text: str, steps: Sequence[StepScore] = (), answer: str | None = None, q: str = "") -> Markup:
    """The text with its steps colored by score, and marks for the answer and for hits of the search ``q``."""
    return mark_text(text, steps, find_answer(text, answer), longest=LONGEST, spans=find_hits(text, q))


def find_hits(text: str, q: str) -> list[Span]:
    """The occurrences of a search, which ignores case unless it has a capital letter."""
    if not q:
        return []
    searched = text if q != q.lower() else text.lower()
    if len(searched) != len(text):  # a few letters have a lower case of two characters, which moves positions
        searched = text
    hits = [match.span() for match, _ in zip(re.finditer(re.escape(q), searched), range(MAX_HITS), strict=False)]
    return [Span(start, end, "hit") for start, end in hits]
