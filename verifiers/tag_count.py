"""Partial credit for tags: an easy first signal for a model that does not know the format yet."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .blocks import find_tags, first_block, is_blank, tag_names, whole_turn


@verifier("tag_count")
@dataclass(frozen=True)
class TagCount(Verifier):
    """The fraction of the format's tags that occur exactly once: 0.25 for each of four, 0.5 for each of two.

    The tags of an empty block, or of one that is closed before it is opened, do not count; the order of the blocks is
    not checked. With ``trailing_penalty`` every character after the answer block, white space around that text aside,
    reduces the value, at most to 0.

    Source: the tag counts of the R1 tutorials and of open-r1, where a tag needs a newline next to it.
    """

    format: Format = field(default_factory=Format)
    trailing_penalty: float = 0.0
    """Penalty per character after the answer block, 0 or more; 0.002 equals the tutorials' 0.001 of 0.5."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>9*2=18</think><answer>18</answer>", 1.0, "every tag once"),
        Case("<think>\r\n9*2=18\r\n</think>\r\n<answer>\r\n18\r\n</answer>", 1.0, "CRLF line endings"),
        Case("<think>9*2=18</think><answer>18", 0.75, "one tag is missing"),
        Case("<think>9*2=18</think><answer>18</answer><answer>19</answer>", 0.5, "the answer tags occur twice"),
        Case("<think></think><answer></answer>", 0.0, "empty blocks"),
        Case(
            "<think>9*2=18</think><answer>18</answer> I hope that helps!",
            0.982,
            "18 characters after the answer",
            options={"trailing_penalty": 0.001},
        ),
        Case("9*2=18 " * 99, 0.0, "no tags, and no penalty below 0", options={"trailing_penalty": 0.001}),
    )

    def __post_init__(self) -> None:
        if not (math.isfinite(self.trailing_penalty) and self.trailing_penalty >= 0):
            raise UsageError(f"tag_count: trailing_penalty must be 0 or more, not {self.trailing_penalty}")
        if self.trailing_penalty and tag_names(self.format) and self.format.answer is None:
            raise UsageError("tag_count: trailing_penalty: the format has no answer block")

    def __call__(self, example: Example, completion: Completion) -> Score:
        names = tag_names(self.format)
        if not names:
            return Score(None, "not_applicable", explanation="the task's format names no tags")
        text = whole_turn(self.format, completion)[0]
        credit, faults = 0, []
        for name in names:
            counts = {f"<{name}>": 0, f"</{name}>": 0}
            tags = find_tags(text, name)
            for tag in tags:
                counts[str(tag)] += 1
            faults += [f"{tag} {count} times" for tag, count in counts.items() if count != 1]
            if list(counts.values()) == [1, 1] and (tags[0].closing or is_blank(text[tags[0].end : tags[1].start])):
                faults.append(f"nothing between <{name}> and </{name}>")
            else:
                credit += sum(count == 1 for count in counts.values())
        trailing = self._trailing(text, names[-1])
        if trailing:
            faults.append(f"{trailing} characters after </{names[-1]}>")
        value = max(0.0, credit / (2 * len(names)) - self.trailing_penalty * trailing)
        return Score(value, explanation=", ".join(faults) or "every tag once")

    def _trailing(self, text: str, name: str) -> int:
        block = first_block(text, name) if self.trailing_penalty else None
        if block is None or block.closed_at is None:
            return 0
        return len(text[block.closed_at :].strip().replace("\r\n", "\n"))
