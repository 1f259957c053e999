"""Does the completion have the form that the task asks for? A strict yes or no, and a graded version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from grpo_env.core import Completion, Example, Format, Score, Verifier
from grpo_env.registry import verifier

from .blocks import find_tags, tag_names, whole_turn


@verifier("strict_format")
@dataclass(frozen=True)
class StrictFormat(Verifier):
    """1 if the whole turn is exactly the format's blocks, each once, in order, not empty; else 0 and the reason.

    White space around the blocks is allowed, any other text is not. With ``newlines: required`` every tag must
    also stand on a line of its own. CRLF line ends count as newlines, and a prefill counts as written.
    """

    format: Format = field(default_factory=Format)
    newlines: Literal["required", "allowed"] = "allowed"

    def __call__(self, example: Example, completion: Completion) -> Score:
        if not tag_names(self.format):
            return Score(None, "not_applicable", explanation="the task's format names no tags")
        fault = self._fault(whole_turn(self.format, completion)[0])
        return Score(0.0 if fault else 1.0, explanation=fault or "all blocks in order")

    def _fault(self, text: str) -> str | None:
        names = tag_names(self.format)
        expected = [bracket.format(name) for name in names for bracket in ("<{}>", "</{}>")]
        tags = find_tags(text, *names)
        for number, wanted in enumerate(expected):
            if number >= len(tags):
                return f"{wanted} is missing"
            if str(tags[number]) != wanted:
                return f"{tags[number]} where {wanted} was expected"
        if len(tags) > len(expected):
            return f"{tags[len(expected)]} after the last block"
        ends = [0, *(tag.end for tag in tags)]
        starts = [*(tag.start for tag in tags), len(text)]
        for number, (start, end) in enumerate(zip(ends, starts, strict=True)):
            between = text[start:end]
            inside = number % 2 == 1
            if inside and not between.strip():
                return f"the {names[number // 2]} block is empty"
            if not inside and between.strip():
                return f"text {_place(number, len(starts))}"
            if self.newlines == "required" and not _own_lines(between, number, len(starts)):
                return f"{expected[min(number, len(expected) - 1)]} is not on a line of its own"
        return None


@verifier("soft_format")
@dataclass(frozen=True)
class SoftFormat(Verifier):
    """A graded format: 0.8 shared by the blocks, 0.2 for their order. Other text is allowed anywhere.

    A block earns its share (0.4 of two, 0.8 of one) if it is opened, then closed, and not empty; half of it if one of
    its tags occurs more than once. The order is right when every block is there and begins after the one before it
    ended. So 1.0 means: each block exactly once, in order.
    """

    format: Format = field(default_factory=Format)

    def __call__(self, example: Example, completion: Completion) -> Score:
        names = tag_names(self.format)
        if not names:
            return Score(None, "not_applicable", explanation="the task's format names no tags")
        text = whole_turn(self.format, completion)[0]
        value, end, in_order, faults = 0.0, 0, True, []
        for name in names:
            tags = find_tags(text, name)
            opening = next((tag for tag in tags if not tag.closing), None)
            closing = next((tag for tag in tags if opening and tag.closing and tag.start >= opening.end), None)
            if opening is None or closing is None or not text[opening.end : closing.start].strip():
                faults.append(f"no complete {name} block")
                in_order = False
                continue
            value += 0.8 / len(names) * (1.0 if len(tags) == 2 else 0.5)
            if len(tags) != 2:
                faults.append(f"{name} tags repeated")
            if opening.start < end:
                faults.append(f"{name} block out of order")
                in_order = False
            end = closing.end
        value += 0.2 if in_order else 0.0
        return Score(round(value, 10), explanation="; ".join(faults) or "all blocks in order")


def _place(number: int, gaps: int) -> str:
    return (
        "before the first block" if number == 0 else "after the last block" if number == gaps - 1 else "between blocks"
    )


def _own_lines(between: str, number: int, gaps: int) -> bool:
    """Whether the tags on both sides of this stretch are cut off from it by line ends."""
    lines = between.replace("\r\n", "\n").split("\n")
    if number in (0, gaps - 1):
        return True
    return len(lines) > 1 and not lines[0].strip() and not lines[-1].strip() and (number % 2 == 0 or len(lines) > 2)
