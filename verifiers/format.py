"""Checks that a completion has the task's output format, strictly or with partial credit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.registry import verifier

from .answers.extract.boxed import boxed as box_in
from .blocks import Block, Tag, find_tags, first_block, is_blank, tag_names, whole_turn


@verifier("strict_format")
@dataclass(frozen=True)
class StrictFormat(Verifier):
    """1 if the turn consists of exactly the format's blocks, each once, in order and not empty; else 0.

    White space around the blocks is allowed, other text is not. Tags must match exactly (``<think>``, not ``<Think>``)
    and must not be nested. A block without visible characters is empty. In a format without an answer tag, the answer
    is what follows the reasoning: any text, but not none. A prefill counts as part of the turn.

    Source: the format rewards of the R1 tutorials and of open-r1, whose regular expressions refuse reasoning of two
    lines or a ``<think>`` that the template wrote, or pay trailing text and empty blocks.
    """

    format: Format = field(default_factory=Format)
    newlines: Literal["required", "allowed"] = "allowed"
    """Whether every tag must be on its own line."""
    boxed: bool = False
    r"""Whether the answer must have a ``\boxed{}`` that is closed and not empty: in its block, or behind the reasoning
    in a format without an answer tag."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>\n9*2=18\n</think>\n<answer>\n18\n</answer>", 1.0, "the blocks and nothing else"),
        Case("<think>3*3=9\nso 9*2=18</think> <answer>18</answer>\n", 1.0, "two lines of reasoning"),
        Case(Completion("9*2=18</think><answer>18</answer>", prefill="<think>\n"), 1.0, "the prefill counts"),
        Case(
            "<think>9*2=18</think><answer>18</answer>",
            0.0,
            "tags inside lines",
            options={"newlines": "required"},
        ),
        Case(r"<think>18 is C</think><answer>\boxed{C}</answer>", 1.0, "the box", options={"boxed": True}),
        Case("<think>18 is C</think><answer>C</answer>", 0.0, "no box", options={"boxed": True}),
        Case("<think>\n9*2=18\n</think>\n<answer>\n18\n</answer>\nGood luck!", 0.0, "text after the answer"),
        Case("<think>9*2=18</think><answer>18</answer><answer>19</answer>", 0.0, "a second answer"),
        Case("<think>it is <answer>18</answer></think><answer>19</answer>", 0.0, "an answer inside the reasoning"),
        Case("<think>\n\n</think>\n<answer>\n18\n</answer>", 0.0, "no reasoning in the block"),
        Case(
            r"<think>9*2=18</think> So it is \boxed{18}.",
            1.0,
            "the answer has no tag",
            options={"format": {"answer": None}},
        ),
        Case("<think>9*2=18</think>", 0.0, "no answer", options={"format": {"answer": None}}),
        Case("<think>9*2=18</think> 18", 0.0, "no box", options={"format": {"answer": None}, "boxed": True}),
    )

    def __call__(self, example: Example, completion: Completion) -> Score:
        if not tag_names(self.format):
            return Score(None, "not_applicable", explanation="the task's format names no tags")
        fault = self._fault(whole_turn(self.format, completion)[0])
        return Score(0.0 if fault else 1.0, explanation=fault or "all blocks in order")

    def _fault(self, text: str) -> str | None:
        names = tag_names(self.format)
        expected = [bracket.format(name) for name in names for bracket in ("<{}>", "</{}>")]
        tags = find_tags(text, *names)
        for number, tag in enumerate(expected):
            if number >= len(tags):
                return f"{tag} is missing"
            if str(tags[number]) != tag:
                return f"{tags[number]} where {tag} was expected"
        if len(tags) > len(expected):
            return f"{tags[len(expected)]} after the last block"
        return self._fault_between(text, names, expected, tags)

    def _fault_between(self, text: str, names: tuple[str, ...], expected: list[str], tags: list[Tag]) -> str | None:
        """What is wrong with the text inside, around and behind tags that are those expected."""
        ends = [0, *(tag.end for tag in tags)]
        starts = [*(tag.start for tag in tags), len(text)]
        untagged = self.format.answer is None  # the answer is then what follows the last tag
        if untagged and is_blank(text[ends[-1] :]):
            return f"no answer after {expected[-1]}"
        for number, (start, end) in enumerate(zip(ends, starts, strict=True)):
            between = text[start:end]
            inside = number % 2 == 1
            is_answer = untagged and number == len(starts) - 1
            if inside and is_blank(between):
                return f"the {names[number // 2]} block is empty"
            is_answer = is_answer or (inside and names[number // 2] == self.format.answer)
            if is_answer and self.boxed and _lacks_box(between):
                return _NO_BOX
            if not inside and not is_answer and not is_blank(between):
                return f"text {_place(number, len(starts))}"
            if self.newlines == "required" and not _own_lines(between, number, len(starts)):
                return f"{expected[min(number, len(expected) - 1)]} is not on a line of its own"
        return None


@verifier("soft_format")
@dataclass(frozen=True)
class SoftFormat(Verifier):
    """Partial credit for the format: 0.8 divided among the blocks, 0.2 for their order. Other text is allowed.

    A block gets its part if it is opened, closed and has visible content; half of that if one of its tags is repeated.
    With ``boxed``, an answer block without a box gets nothing; in a format without an answer tag the box behind the
    reasoning counts as a block. The order is correct if every block is present and begins after the previous one ended.
    So 1.0 means each block exactly once, in order, not nested.

    Source: the soft format rewards of the R1 tutorials (0.5 or 0), where any capital A to D in the answer is enough.
    """

    format: Format = field(default_factory=Format)
    boxed: bool = False
    r"""Whether the answer must have a ``\boxed{}`` that is closed and not empty: in its block, or behind the reasoning
    in a format without an answer tag."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("Sure! <think>9*2=18</think> So: <answer>18</answer> Bye.", 1.0, "each block once, in order"),
        Case("<answer>18</answer><think>9*2=18</think>", 0.8, "the wrong order"),
        Case("<think>9*2=18</think><answer>18</answer><answer>19</answer>", 0.8, "half of 0.4 for a repeated answer"),
        Case("<think>9*2=18 <answer>18</answer></think>", 0.8, "nested: the answer begins before the reasoning ends"),
        Case("<think>9*2=18</think> The answer is 18.", 0.4, "one of two blocks"),
        Case(
            "<think>18 is C</think><answer>Beats me</answer>",
            0.4,
            "only the reasoning counts: the answer has no box",
            options={"boxed": True},
        ),
        Case(r"<think>9*2=18</think> \boxed{18}", 1.0, "the box", options={"format": {"answer": None}, "boxed": True}),
        Case("<think>9*2=18</think> 18", 0.4, "no box", options={"format": {"answer": None}, "boxed": True}),
        Case("<think></think><answer> </answer>", 0.0, "empty blocks"),
        Case("<think>9*2=18", 0.0, "a block that is not closed"),
    )

    def __call__(self, example: Example, completion: Completion) -> Score:
        names = tag_names(self.format)
        if not names:
            return Score(None, "not_applicable", explanation="the task's format names no tags")
        text = whole_turn(self.format, completion)[0]
        credits, end, faults = [], 0, []
        for name in names:
            block = first_block(text, name)
            if (fault := self._fault(text, block, name)) or block is None:
                faults.append(fault)
                continue
            repeated = len(find_tags(text, name)) != 2
            credits.append(0.5 if repeated else 1.0)
            faults += [f"{name} tags repeated"] * repeated + [f"{name} block {_OUT_OF_ORDER}"] * (block.start < end)
            end = block.closed_at or end
        if box_counts := self.boxed and self.format.answer is None:  # as a block
            lacks = _lacks_box(_behind(text, names[0]))
            credits += [] if lacks else [1.0]
            faults += [_NO_BOX] if lacks else []
        count = len(names) + box_counts
        in_order = len(credits) == count and not any(fault.endswith(_OUT_OF_ORDER) for fault in faults)
        value = 0.8 * sum(credits) / count + (0.2 if in_order else 0.0)
        return Score(round(value, 10), explanation="; ".join(faults) or "all blocks in order")

    def _fault(self, text: str, block: Block | None, name: str) -> str:
        """Why a block gets nothing, "" if it gets something."""
        content = "" if block is None or block.closed_at is None else text[block.start : block.end]
        if is_blank(content):
            return f"no complete {name} block"
        return _NO_BOX if name == self.format.answer and self.boxed and _lacks_box(content) else ""


_NO_BOX = "the answer has no box"
_OUT_OF_ORDER = "out of order"


def _lacks_box(answer: str) -> bool:
    found = box_in(answer)
    return not (found and found.answers)


def _behind(text: str, name: str) -> str:
    """The text behind a block: all of it without one, nothing if it is not closed."""
    block = first_block(text, name)
    return text if block is None else "" if block.closed_at is None else text[block.closed_at :]


def _place(number: int, gaps: int) -> str:
    return (
        "before the first block" if number == 0 else "after the last block" if number == gaps - 1 else "between blocks"
    )


def _own_lines(between: str, number: int, gaps: int) -> bool:
    """Whether line ends separate this text from the tags on both sides of it."""
    lines = between.replace("\r\n", "\n").split("\n")
    if number in (0, gaps - 1):  # the text after the last tag is white space, or an answer without a tag
        return number == 0 or is_blank(lines[0])
    return len(lines) > 1 and not lines[0].strip() and not lines[-1].strip() and (number % 2 == 0 or len(lines) > 2)
