"""Partial credit for tags: a first, easy signal for a model that does not know the format yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from grpo_env.core import Completion, Example, Format, Score, Verifier
from grpo_env.registry import verifier

from .blocks import find_tags, tag_names, whole_turn


@verifier("tag_count")
@dataclass(frozen=True)
class TagCount(Verifier):
    """The share of the format's tags that occur exactly once: 0.25 for each of four, 0.5 for each of two.

    Nothing is taken off for other text, wherever it stands. A prefill counts as written.
    """

    format: Format = field(default_factory=Format)

    def __call__(self, example: Example, completion: Completion) -> Score:
        names = tag_names(self.format)
        if not names:
            return Score(None, "not_applicable", explanation="the task's format names no tags")
        counts = {bracket.format(name): 0 for name in names for bracket in ("<{}>", "</{}>")}
        for tag in find_tags(whole_turn(self.format, completion)[0], *names):
            counts[str(tag)] += 1
        once = sum(count == 1 for count in counts.values())
        wrong = ", ".join(f"{tag} {count} times" for tag, count in counts.items() if count != 1)
        return Score(once / len(counts), explanation=wrong or "every tag once")
