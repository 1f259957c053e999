"""What is marked in a text: the extracted answer with its source, a search, and what differs in a group."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from markupsafe import Markup

from grpo_env.results.parts import PartScore, is_called
from grpo_env.results.report.spans import MAX_ANSWER, Span, find_answer, mark_text, merge_steps

HEAD, TAIL = 60_000, 20_000  # characters shown of a long text
MAX_HITS = 100  # marked occurrences of a search
MAX_WORDS = 1000  # words of a text that are compared with another's

# What stands before an answer, by the source that begins the explanation of ``accuracy`` (verifiers/answers/extract).
MARKERS = {
    "answer_tag": r"<answer>\s{0,20}",
    "boxed": r"\\f?boxed\s{0,5}\{?\s{0,5}",
    "hashes": r"#{4,6}[^\S\n]{0,9}",
    "json": r"\"\w{1,20}\"\s{0,9}:\s{0,9}\"?",
    "phrase": r"(?:\b(?:answer|option|choice)\b[^\n]{0,60}?|^[ \t*]{0,9}A(?:ns)?[ \t*]{0,3}:[ \t*]{0,9})",
}


def marked(
    text: str,
    parts: Mapping[str, PartScore],
    metric: str | None,
    *,
    q: str = "",
    spans: Sequence[Span] = (),
    head: int = HEAD,
    tail: int = TAIL,
) -> Markup:
    """The text with its steps colored by score, the metric's answer and its source, hits of ``q``, and ``spans``."""
    steps = merge_steps({name: part.step_scores() for name, part in parts.items()})
    part = metric_part(parts, metric)
    answer, source = find_source(text, part.answer, part.explanation) if part else (None, None)
    spans = [*([source] if source else []), *spans, *find_hits(text, q)]
    return mark_text(text, steps, answer, head=head, tail=tail, spans=spans)


def metric_part(parts: Mapping[str, PartScore], metric: str | None) -> PartScore | None:
    """The part of the task's metric, otherwise the first that has an answer."""
    named = (part for name, part in parts.items() if metric and is_called(name, metric))
    return next(named, None) or next((part for part in parts.values() if part.answer), None)


def find_source(text: str, answer: str | None, explanation: str) -> tuple[tuple[int, int] | None, Span | None]:
    """Where the answer is, and what it was extracted from, such as ``\\boxed{}`` around it.

    An explanation of ``accuracy`` begins with the source: ``boxed: the same number``. The answer is then its last
    occurrence after such a marker, otherwise its last occurrence.
    """
    source = explanation.partition(":")[0]
    if source in MARKERS and answer and answer.strip() and len(answer) <= MAX_ANSWER:
        pattern = rf"{MARKERS[source]}(?P<answer>{re.escape(answer.strip())})(?!\w|\.\d)"
        matches = deque(re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE), maxlen=1)
        for last in matches:
            return last.span("answer"), Span(last.start(), _closing(text, last.end()), "source", f"source: {source}")
    return find_answer(text, answer), None


def _closing(text: str, end: int) -> int:
    """The end of what closes an answer: a brace or a tag."""
    closing = re.compile(r"\s{0,20}(?:\}|</answer>)").match(text, end)
    return closing.end() if closing else end


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
