"""Text as HTML with its steps colored by value and its answer marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup, escape

from grpo_env.core import StepScore

from ..part_scores import PartScore

LEVELS = 5  # colors from the lowest to the highest step value
LONGEST = 4500  # characters shown of a text
MAX_ANSWER = 200  # characters; longer answers are not marked
MAX_STEPS = 300  # colored steps of one text


class Span(NamedTuple):
    """Characters ``[start, end)`` of a text, with a class of the style sheet."""

    start: int
    end: int
    css: str


def visible(text: str) -> str:
    """The text with a code such as ⟨U+001B⟩ for each invisible or direction-changing character.

    Newlines and tabs stay. Lone surrogates, which UTF-8 cannot encode, become codes too.
    """
    return _INVISIBLE.sub(lambda match: f"\u27e8U+{ord(match[0]):04X}\u27e9", text)


# Controls; zero-width and direction marks; line separators; tags; lone surrogates; the byte-order mark.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def level(value: float, lowest: float, highest: float) -> int:
    """The color of a step value, 0 to ``LEVELS`` - 1."""
    return min(LEVELS - 1, int((value - lowest) / (highest - lowest) * LEVELS))


def value_range(steps: Sequence[StepScore]) -> tuple[float, float]:
    """The lowest and the highest value, at most 0 and at least 1, so that a text of wrong steps shows it."""
    values = [0.0, 1.0, *(step.value for step in steps)]
    return min(values), max(values)


def find_answer(text: str, answer: str | None) -> tuple[int, int] | None:
    """The last occurrence of the extracted answer that is not part of a longer word or number."""
    if not answer or not answer.strip() or len(answer) > MAX_ANSWER:
        return None
    pattern = rf"(?<![\w.]){re.escape(answer.strip())}(?![\w]|\.\d)"
    spans = [match.span() for match in re.finditer(pattern, text)]
    return spans[-1] if spans else None


def mark_text(
    text: str,
    steps: Sequence[StepScore] = (),
    answer: tuple[int, int] | None = None,
    scale: tuple[float, float] | None = None,
    longest: int = LONGEST,
    spans: Sequence[Span] = (),
) -> Markup:
    """The text as HTML. Steps are spans followed by their value, the answer is a ``mark``, ``spans`` are themselves.

    If steps overlap, the shorter one sets the color. ``scale`` is the range of values from the first to the last color,
    by default that of the steps. Of a text with more than ``longest`` characters the first two thirds of that many are
    shown, and the last third, where the answer usually is.
    """
    steps = [step for step in steps if 0 <= step.start < step.end <= len(text)][:MAX_STEPS]
    scale = scale or value_range(steps)
    head = 2 * longest // 3
    excerpts = [(0, len(text))] if len(text) <= longest else [(0, head), (len(text) - longest + head, len(text))]
    bounds = {bound for place in (*excerpts, answer or ()) for bound in place}
    places: list[StepScore | Span] = [*steps, *spans]
    bounds |= {bound for place in places for bound in (place.start, place.end)}
    pieces = []
    for number, (first, last) in enumerate(excerpts):
        if number:
            omitted = first - excerpts[0][1]
            pieces.append(Markup('<span class="note">… {:,} characters omitted …</span>').format(omitted))
        cuts = sorted(bound for bound in bounds if first <= bound <= last)
        for start, end in pairwise(cuts):
            piece = _piece(text, start, end, steps, answer, scale)
            for span in spans:
                if span.start <= start and end <= span.end:
                    piece = Markup('<span class="{}">{}</span>').format(span.css, piece)
            pieces.append(piece)
    return Markup("").join(pieces)


def _piece(
    text: str,
    start: int,
    end: int,
    steps: Iterable[StepScore],
    answer: tuple[int, int] | None,
    scale: tuple[float, float],
) -> Markup:
    """Characters ``[start, end)`` of the text, in which no step and no answer begins or ends."""
    enclosing = [step for step in steps if step.start <= start and end <= step.end]
    html = escape(visible(text[start:end]))
    if answer and answer[0] <= start and end <= answer[1]:
        html = Markup("<mark>{}</mark>").format(html)
    if enclosing:
        step = min(enclosing, key=lambda step: step.end - step.start)
        color = level(step.value, *scale)
        html = Markup('<span class="step v{}" title="{}">{}</span>').format(color, visible(step.explanation), html)
    for step in enclosing:
        if step.end == end:
            value = Markup('<sup class="v{}">{:g}</sup>')
            html += value.format(level(step.value, *scale), step.value)
    return html


def merge_steps(parts: Mapping[str, PartScore]) -> list[StepScore]:
    """The step scores of all parts in text order, each explanation with the name of its part. Raises ``TypeError``."""
    steps = [
        replace(step, explanation=f"{name}: {step.explanation}")
        for name, part in parts.items()
        for step in part.step_scores()
    ]
    return sorted(steps, key=lambda step: (step.start, step.end, step.value))
