"""The source ``answer_tag``: ``<answer>18</answer>``, or whatever the task calls the tag."""

from __future__ import annotations

from collections.abc import Sequence

from grpo_env.lazy_regex import lazy_compile

from ...blocks import Tag
from .extracted import MAX_ANSWERS, ExtractedAnswer, Source, extracted, is_denied
from .later import answer_in

_TAGS = lazy_compile(r"[`'\"]?\s(?:tags?|blocks?|elements?)\b")
_BETWEEN = lazy_compile(r"[`'\"]?\s?(?:\.\.\.|…|and)?\s?[`'\"]?")


def from_answer_tags(text: str, tags: list[Tag], sources: Sequence[Source]) -> ExtractedAnswer:
    """The answers inside all pairs of tags; none if a pair is incomplete, nested or empty."""
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
        return ExtractedAnswer((), "answer_tag", "the answer tag is not closed")
    parts = [answer_in(content, sources) for content in contents]
    for part in parts:
        if not part.answers:
            return part
    answers = [answer for part in parts for answer in part.answers]
    return extracted(answers, "answer_tag", denied=denied or any(part.denied for part in parts), end=tags[-1].end)


def not_mentioned(text: str, tags: list[Tag]) -> list[Tag]:
    """The tags without those that a sentence only mentions: "I will use <answer> tags", or in backquotes."""
    rest = []
    at = 0
    while at < len(tags):
        tag, following = tags[at], tags[at + 1] if at + 1 < len(tags) else None
        at += 1
        is_pair = not tag.closing and following is not None and following.closing
        if (
            is_pair
            and following
            and _is_mention(text, following)
            and _BETWEEN.fullmatch(text, tag.end, following.start)
        ):
            at += 1
            continue
        if tag.closing or not _is_mention(text, tag):
            rest.append(tag)
    return rest


def _is_mention(text: str, tag: Tag) -> bool:
    quoted = text[tag.start - 1 : tag.start] == "`" and text[tag.end : tag.end + 1] == "`"
    return quoted or _TAGS.match(text, tag.end) is not None
