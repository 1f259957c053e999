"""The source ``answer_tag``: ``<answer>18</answer>``, or whatever the task calls the tag.

Without that tag also the tags that models use instead, around an answer: ``<ans>``, ``<solution>``, ``[ANSWER]``,
``【答案】`` (public result files).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from grpo_env.lazy_regex import lazy_compile

from ...blocks import Tag
from .boxed import boxed
from .result import MAX_ANSWERS, ExtractedAnswer, extracted, is_denied

_TAGS = lazy_compile(r"[`'\"]?\s(?:tags?|blocks?|elements?)\b")
_BETWEEN = lazy_compile(r"[`'\"]?\s?(?:\.\.\.|…|and)?\s?[`'\"]?")
_OTHER = lazy_compile(
    r"<(?P<name>(?:final_?)?ans(?:wer)?|solution|Answer|ANSWER)>\s*(?P<content>[^<>]{1,400}?)\s*</(?P=name)>"
    r"|\[(?P<bracket>ANSWER|ANS|SOLUTION)\]\s*(?P<inner>[^\[\]]{1,400}?)\s*\[/(?P=bracket)\]"
    r"|(?:【(?:正确)?答案】|\[(?:正确)?(?:答案|金额)\])[:\uff1a]?\s*(?P<behind>[^\n【】]{1,200})",
    re.IGNORECASE,
)


def from_answer_tags(text: str, tags: list[Tag], read: Callable[[str], ExtractedAnswer]) -> ExtractedAnswer | None:
    """What ``read`` finds inside all pairs of tags; none if a pair is nested or empty, or has no end and no box."""
    tags = _not_mentioned(text, tags)
    if not tags:
        return None
    contents, denied = [], False
    opening: Tag | None = None
    for tag in tags:
        if not tag.closing:
            if opening is not None:
                return ExtractedAnswer((), "answer_tag", "answer tags are nested")
            opening = tag
        elif opening is not None:
            contents.append(text[opening.end : tag.start])
            denied = denied or (len(contents) <= MAX_ANSWERS and is_denied(text, opening.start))
            opening = None
    if opening is not None or not contents:
        not_opened = ExtractedAnswer((), "answer_tag", "the answer tag is not opened")
        return _not_closed(text, opening.end, len(tags)) if opening else not_opened
    parts = [read(content) for content in contents]
    if empty := next((part for part in parts if not part.answers), None):
        return empty
    answers = [answer for part in parts for answer in part.answers]
    return extracted(answers, "answer_tag", denied=denied or any(part.denied for part in parts), end=tags[-1].end)


def _not_closed(text: str, start: int, count: int) -> ExtractedAnswer:
    """No answer; or the box behind the only tag, since the stop string ``</answer>`` is not part of a text."""
    box = boxed(text[start:]) if count == 1 else None
    if box and box.answers and not text[start + box.end :].strip(" $.\n\\)]"):
        return box._replace(end=start + box.end)
    return ExtractedAnswer((), "answer_tag", "the answer tag is not closed")


def other_tags(text: str) -> ExtractedAnswer | None:
    """The answers inside of tags with other names."""
    # Every match holds one of these; a plain search is much faster than the pattern.
    if not (("/" in text and ("</" in text or "[/" in text)) or "答案" in text or "金额" in text):
        return None
    matches = list(_OTHER.finditer(text))
    if not matches:
        return None
    contents = [match["content"] or match["inner"] or match["behind"] for match in matches[-MAX_ANSWERS:]]
    return extracted(contents, "answer_tag", denied=is_denied(text, matches[-1].start()), end=matches[-1].end())


def _not_mentioned(text: str, tags: list[Tag]) -> list[Tag]:
    """The tags without those that a sentence only mentions: "I will use <answer> tags", or in backquotes."""
    rest: list[Tag] = []
    for tag in tags:
        is_closing = tag.closing and rest and not rest[-1].closing
        if is_closing and _is_mention(text, tag) and _BETWEEN.fullmatch(text, rest[-1].end, tag.start):
            rest.pop()
        else:
            rest.append(tag)
    return [tag for tag in rest if tag.closing or not _is_mention(text, tag)]


def _is_mention(text: str, tag: Tag) -> bool:
    quoted = text[tag.start - 1 : tag.start] == "`" and text[tag.end : tag.end + 1] == "`"
    return quoted or _TAGS.match(text, tag.end) is not None
