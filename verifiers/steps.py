"""The steps of a completion, and the tokens after which its text shows that a step has ended."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import NamedTuple

from grpo_env.core import Completion, Format

from .blocks import first_block, reasoning_span, whole_turn
from .segments import Segmenter, check_segments, spans

MAX_STEPS = 1000

# Whatever follows a text begins like one of these, as far as the end of a step depends on it: a letter, a digit, a
# display or the rest of one.
_DISPLAYS = (("\\[", "\\]"), ("$$", "$$"), ("\\begin{align*}", "\\end{align*}"))
_CONTINUATIONS = (
    *("a", "A", "1"),
    *(opening[start:] + closing for opening, closing in _DISPLAYS for start in range(len(opening))),
    *(closing[start:] for _, closing in _DISPLAYS for start in range(len(closing))),
)
_LOOK_AHEAD = 32  # characters: "Step 123:" is the longest that shows a step before it


@dataclass(frozen=True)
class Segmented:
    """The options that say what a step is, of each verifier that splits a text into steps. Raises ``UsageError``."""

    format: Format = field(default_factory=Format, kw_only=True)
    segments: Segmenter = field(default="line", kw_only=True)
    """Where a step ends: ``line``, ``paragraph``, ``sentence``, ``marker`` (``Step 2:``, ``2.``); or the tag around
    each step, such as ``<step>``."""

    def __post_init__(self) -> None:
        check_segments(self.segments)

    def steps_in(self, completion: Completion, most: int) -> tuple[str, list[tuple[int, int]], int]:
        """The whole turn, its first ``most`` steps and one more if there is one, and the length of the prefill."""
        text, start, end, offset = reasoning(self.format, completion)
        return text, list(islice(spans(text, start, end, self.segments), most + 1)), offset


class StepEnd(NamedTuple):
    """Characters ``[start, end)`` of a step in the completion's text, and the index of the token that ends it.

    ``None`` for a step that only the end of the text ends.
    """

    start: int
    end: int
    token: int | None


def reasoning(format: Format, completion: Completion) -> tuple[str, int, int, int]:
    """The whole turn, the span in it that contains the steps, and the length of the prefill before it.

    Steps are in the reasoning block if there is one, else everywhere.
    """
    text, offset = whole_turn(format, completion)
    start, end = reasoning_span(text, format) or (0, len(text))
    return text, max(start, offset), max(end, offset), offset


def step_ends(format: Format, completion: Completion, ends: Sequence[int], by: Segmenter) -> list[StepEnd]:
    """The first ``MAX_STEPS`` steps of a text, each with the first token after which the text shows that it has ended.

    That is the token with the line break, not the one before it: after ``3+4=7`` the model may still write another
    digit. So whether a step ends on a token depends on nothing after the token.

    Args:
        ends: number of characters of ``completion.text`` that are complete after each of its tokens.
    """
    text, start, end, offset = reasoning(format, completion)
    block = first_block(text, format.reasoning) if format.reasoning else None
    end_of_all = offset + len(completion.text) + 1  # also behind special tokens, which are no part of ``text``
    closed_at = end_of_all if block is None or block.closed_at is None else block.closed_at
    steps = list(islice(spans(text, start, end, by), MAX_STEPS + 1))
    found: list[StepEnd] = []
    before = start
    for (first, last), (following, _) in pairwise([*steps, (end, end)]):
        latest = closed_at if following == end else following + _LOOK_AHEAD
        ended_by = None
        for token in range(bisect_left(ends, last - offset), len(ends)):
            shown = ends[token] + offset
            if shown >= closed_at or _shows(text[before:shown], (first - before, last - before), by):
                ended_by = token
            if ended_by is not None or shown > latest:
                break
        found.append(StepEnd(max(first - offset, 0), last - offset, ended_by))
        before = first
    return found[:MAX_STEPS]


def _shows(window: str, step: tuple[int, int], by: Segmenter) -> bool:
    """Whether a text has a step ``[first, last)``, however it goes on."""
    texts = (window + more for more in _CONTINUATIONS)
    return all(step in islice(spans(text, 0, len(text), by), 2) for text in texts)
