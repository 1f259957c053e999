"""A completion's text as HTML: harmless, with its steps coloured by value and its answer marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from markupsafe import Markup, escape

LEVELS = 5  # colours from the lowest to the highest step value
HEAD, TAIL = 3000, 1500  # characters shown of a long text: the answer stands near its end
LONGEST_ANSWER = 200  # characters that are looked for
MOST_STEPS = 300  # that are coloured in one text


class Step(NamedTuple):
    """Characters ``[start, end)`` of a text with their value, and who gave it why."""

    start: int
    end: int
    value: float
    why: str = ""


def visible(text: str) -> str:
    """The text with a code for every character that has no shape of its own, or turns others round.

    Newlines and tabs stay. Lone surrogates, which a page cannot hold, become codes too.
    """
    return _UNSEEN.sub(lambda match: f"\u27e8U+{ord(match[0]):04X}\u27e9", text)


# Controls; zero-width and direction marks; line separators; tags; lone surrogates; the byte-order mark.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def level(value: float, lowest: float, highest: float) -> int:
    """The colour of a step value, 0 to ``LEVELS`` - 1; the highest where all values are equal."""
    if highest <= lowest:
        return LEVELS - 1
    return min(LEVELS - 1, int((value - lowest) / (highest - lowest) * LEVELS))


def find_answer(text: str, answer: str | None) -> tuple[int, int] | None:
    """Where the extracted answer last stands in the text by itself, not inside a longer word or number."""
    if not answer or not answer.strip() or len(answer) > LONGEST_ANSWER:
        return None
    pattern = rf"(?<![\w.]){re.escape(answer.strip())}(?![\w]|\.\d)"
    found = [match.span() for match in re.finditer(pattern, text)]
    return found[-1] if found else None


def marked(text: str, steps: Sequence[Step] = (), answer: tuple[int, int] | None = None,
           scale: tuple[float, float] | None = None, head: int = HEAD, tail: int = TAIL) -> Markup:  # fmt: skip
    """The text as HTML. Steps are spans with their value behind them, the answer is a ``mark``.

    Where steps overlap the shorter one gives the colour. ``scale`` is the range of values that the colours stand
    for, by default that of the steps. Of more than ``head + tail`` characters the middle is left out, with a note.
    """
    steps = [step for step in steps if 0 <= step.start < step.end <= len(text)][:MOST_STEPS]
    low, high = scale or (min((s.value for s in steps), default=0.0), max((s.value for s in steps), default=0.0))
    shown = [(0, len(text))] if len(text) <= head + tail else [(0, head), (len(text) - tail, len(text))]
    bounds = {at for pair in shown for at in pair} | {at for step in steps for at in (step.start, step.end)}
    bounds |= set(answer or ())
    pieces = []
    for number, (first, last) in enumerate(shown):
        if number:
            left_out = first - shown[0][1]
            pieces.append(Markup('<span class="note">… {:,} characters left out …</span>').format(left_out))
        cuts = sorted(at for at in bounds if first <= at <= last)
        for start, end in pairwise(cuts):
            pieces.append(_piece(text[start:end], start, end, steps, answer, low, high))
    return Markup("").join(pieces)


def _piece(
    text: str, start: int, end: int, steps: Iterable[Step], answer: tuple[int, int] | None, low: float, high: float
) -> Markup:
    around = [step for step in steps if step.start <= start and end <= step.end]
    html = escape(visible(text))
    if answer and answer[0] <= start and end <= answer[1]:
        html = Markup("<mark>{}</mark>").format(html)
    if around:
        step = min(around, key=lambda step: step.end - step.start)
        colour = level(step.value, low, high)
        html = Markup('<span class="step v{}" title="{}">{}</span>').format(colour, visible(step.why), html)
    for step in around:
        if step.end == end:
            value = Markup('<sup class="v{}">{:g}</sup>')
            html += value.format(level(step.value, low, high), step.value)
    return html


def steps_of(parts: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Step]:
    """The step scores that parts gave, unweighted, in the order of the text."""
    found = [
        Step(step["start"], step["end"], step["value"], f"{name}: {step.get('explanation') or ''}")
        for name, part in parts
        for step in part.get("steps") or ()
    ]
    return sorted(found)
