"""Rewards for the form of the reasoning, its visible steps and its length, whether it is correct or not."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.lazy_regex import lazy_compile
from grpo_env.plural import counted
from grpo_env.registry import verifier

from .blocks import Block, first_block, reasoning_span, whole_turn
from .segments import spans
from .words import words

_COUNT = r"[\d一二三四五六七八九十]{1,3}"
_HEADING = lazy_compile(
    rf"[#*_ ]{{0,9}}(?:step\s{{0,3}}\d{{1,3}}|第\s?{_COUNT}\s?步|步骤\s?{_COUNT})[*_]{{0,3}}(?:\s?[:：.)、，,–—-]|\s*$)[*_ ]{{0,9}}",  # noqa: E501, RUF001
    re.IGNORECASE,
)
_NUMBERED = lazy_compile(
    r"[#*_ ]{0,9}(?:\d{1,3}[.)](?=[*_]{0,3}\s|[^\W\d_])|\d{1,3}[、．]|[一二三四五六七八九十]{1,3}、"  # noqa: RUF001
    r"|[(（]\d{1,3}[)）](?=\s{0,3}[^\W\d_])|[①-⑳])[*_ ]{0,9}"  # noqa: RUF001
)
_BULLETED = lazy_compile(r"[-*+•]\s{1,9}")
_TRANSITION = lazy_compile(
    r"\b(?:first of all|firstly|first|secondly|second|thirdly|third|next|then|after that|afterwards|finally|lastly"
    r"|therefore|thus|hence|to begin with|to start)\b(?:[*_]{0,3}[,:][*_]{0,3}|[*_]{1,3}(?=\s)|(?=\s))\s{0,9}"
    r"|(?:首先|其次|再次|然后|接着|接下来|随后|最后|最终|因此|所以|于是|第[一二三四五六七八九十]{1,3}(?=[，,、：:]))"  # noqa: RUF001
    r"[，,、：:]?\s{0,9}",  # noqa: RUF001
    re.IGNORECASE,
)
_LED = 'led by a word such as "then"'


@verifier("reasoning_steps")
@dataclass(frozen=True)
class ReasoningSteps(Verifier):
    """``min(1, steps / target)``: counts visible steps in the reasoning block, or in the whole text without one.

    A step is a numbered line (``1.``, ``(2)``, ``Step 1:``, ``第一步``, ``一、``), a bulleted line, or a sentence that
    begins with a transition word ("Next, ...", "**Finally:** ...", "然后"), in English or Chinese. It must contain
    words or an equation: a bare bullet or "First, Second, Next," is not a step. A repeated step counts once.

    Source: the reasoning steps reward of open-r1, which pays three bare hyphens.
    """

    format: Format = field(default_factory=Format)
    target: int = 3
    """The number of steps for full credit, 1 or more."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("1. 16-3-4=9 eggs are left\n2. they sell for 2 dollars\n3. 9*2=18", 1.0, "three numbered steps"),
        Case("First, we count the eggs. Then we take off 7. Finally, we multiply by 2.", 1.0, "three transitions"),
        Case("**Step 1:** 16-3-4=9 eggs are left\n- they sell for 2 dollars", 2 / 3, "a numbered and a bulleted step"),
        Case("Finally,\n\\[9*2=18\\]", 1 / 3, "the content is in the next line"),
        Case("首先，数一数鸡蛋。然后减去七个。最后乘以二。", 1.0, "three transitions"),  # noqa: RUF001
        Case("<think>\n1. 16-7=9\n</think>\n1. a\n2. b\n3. c", 1 / 3, "only the reasoning counts"),
        Case("1. add the eggs\n2. add the eggs\n3. add the eggs", 1 / 3, "the same step three times"),
        Case("-\n-\n-\n---\n1.\n2.\n3.", 0.0, "bare markers"),
        Case("First, Second, Next, Finally,", 0.0, "bare transition words"),
    )

    def __post_init__(self) -> None:
        if self.target < 1:
            raise UsageError(f"reasoning_steps: target must be at least 1, not {self.target}")

    def __call__(self, example: Example, completion: Completion) -> Score:
        text = whole_turn(self.format, completion)[0]
        start, end = reasoning_span(text, self.format) or (0, len(text))
        steps: dict[str, set[str]] = {"numbered": set(), "bulleted": set(), _LED: set()}
        heading: str | None = None  # the kind of the line before, if its content is still to come
        for first, last in spans(text, start, end, "line"):
            line = text[first:last]
            kind, body = _kind(line)
            transitions = _transitions(line) if kind is None else set()
            kind = kind or (None if transitions else heading)
            heading = kind if kind and not body and kind != "bulleted" else None
            if kind and _has_content(body):
                steps[kind].add(_folded(body))
            steps[_LED] |= transitions
        count = len(set().union(*steps.values()))
        kinds = ", ".join(f"{len(bodies)} {kind}" for kind, bodies in steps.items() if bodies)
        why = f"{counted(count, 'step')}: {kinds}" if count else f"no step: no line or sentence is {', '.join(steps)}"
        return Score(min(1.0, count / self.target), explanation=why)


@verifier("reasoning_length")
@dataclass(frozen=True)
class ReasoningLength(Verifier):
    """Rewards the number of words in the reasoning: by default 0.25 from 20 words, 0.5 from 50, 0.75 from 100.

    In scripts without spaces (Chinese, Japanese, Thai) every character counts as a word. Numbers count, TeX commands
    and punctuation do not. The text is the first reasoning block, or everything if the format has no reasoning tag; a
    missing or unclosed block scores 0 (``no_answer``). Length is easily padded: use a gate (``when: accuracy``) or
    combine it with ``repetition``.

    Source: the reasoning length reward of the R1 tutorials, which splits at spaces.
    """

    format: Format = field(default_factory=Format)
    tiers: Mapping[int, float] = field(default_factory=lambda: {20: 0.25, 50: 0.5, 100: 0.75})
    """The value from each number of words; below the smallest it is 0."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(f"<think>{'we count the eggs ' * 25}</think>", 0.75, "100 words"),
        Case(f"<think>{'we count the eggs ' * 24}</think>", 0.5, "96 words"),
        Case(f"<think>{'我们先数鸡蛋。' * 9}</think>", 0.5, "54 Chinese characters"),
        Case(f"<think>{'我们先数鸡蛋 six eggs, ' * 3}</think>", 0.25, "18 characters and 6 words"),
        Case("<think>a b c d</think>", 0.5, "other tiers", options={"tiers": {1: 0.5, 5: 1.0}}),
        Case(f"<think>{'we count the eggs ' * 4}</think>{'eggs ' * 99}", 0.0, "16 words; the answer does not count"),
        Case(f"<think>{'. - ... ' * 99}</think>", 0.0, "punctuation does not count as words"),
        Case(f"<think>{'we count the eggs ' * 25}", 0.0, "the block is not closed"),
    )

    def __post_init__(self) -> None:
        if not self.tiers or min(self.tiers) < 1 or not all(map(math.isfinite, self.tiers.values())):
            raise UsageError("reasoning_length: tiers must map numbers of words (1 or more) to finite values")

    def __call__(self, example: Example, completion: Completion) -> Score:
        text, written = whole_turn(self.format, completion)
        name = self.format.reasoning
        block = first_block(text, name) if name else Block(0, len(text), len(text))
        if block is None or block.closed_at is None:
            why = "not closed" if block else "missing"
            return Score(0.0, "no_answer", explanation=f"the reasoning block is {why}")
        count = sum(1 for _ in words(text[max(block.start, written) : block.end]))
        value = self.tiers[max(reached)] if (reached := [tier for tier in self.tiers if tier <= count]) else 0.0
        return Score(value, explanation=f"{count} words")


def _kind(line: str) -> tuple[str | None, str]:
    """The kind of step that a line is, and its content without the marker."""
    for kind, marker in (("numbered", _HEADING), ("numbered", _NUMBERED), ("bulleted", _BULLETED)):
        match = marker.match(line)
        if match:
            return kind, line[match.end() :].strip()
    is_bare = _TRANSITION.fullmatch(f"{line.strip('*_ ')} ")
    return (_LED, "") if is_bare else (None, line)


def _transitions(line: str) -> set[str]:
    bodies = set()
    for first, last in spans(line, 0, len(line), "sentence"):
        sentence = line[first:last].strip("*_ \t.!?。！？")  # noqa: RUF001
        transition = _TRANSITION.match(sentence)
        body = sentence[transition.end() :] if transition else ""
        if transition and len(list(words(_TRANSITION.sub("", f"{body} ")))) > 1:
            bodies.add(_folded(body))
    return bodies


def _has_content(body: str) -> bool:
    return re.search(r"[^\W\d_]|\d\s?[-+*/=]", body) is not None


def _folded(body: str) -> str:
    return " ".join(body.casefold().split()).rstrip(".!?,;:。！？，；： ")  # noqa: RUF001
