"""Times and days.

``14:05`` for ``1405``, ``6:30`` for half past six (see ``clock``), ``11:30 pm`` for ``11.30 pm``; ``Tuesday`` of "It
falls on a Tuesday."; ``Tuesdays`` for every Tuesday.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..times.clock import in_figures
from ..vocabulary.doubts import UNSURE

_HOURS_AND_MINUTES = lazy_compile(r"([01]\d|2[0-3])([0-5]\d)")
_DOTTED_CLOCK = lazy_compile(r"(1[0-2]|[1-9])\.([0-5]\d) ?([ap])\.? ?m\.?", re.IGNORECASE)
_TAKES_PLACE = lazy_compile(
    r"it (?:takes place|took place|is held|was held|falls|fell|happens|happened|occurs|occurred|starts|begins)"
    r" (?:in|on|at) (?:an? )?",
    re.IGNORECASE,
)
_EVERY = lazy_compile(r"every (?=[a-z]*day\b)", re.IGNORECASE)
_DAY = lazy_compile(r"(?<=day)\b(?!s)")


def other_times(gold: str, kind: str, answer: str) -> Iterator[str]:
    """A time in figures, the day of a sentence, days of the week as the gold answer has them."""
    if kind == "time":
        if digits := _HOURS_AND_MINUTES.fullmatch(answer.rstrip(".")):
            yield f"{digits[1]}:{digits[2]}"
        if figures := in_figures(answer.rstrip(".")):
            yield figures
    if ":" in gold and (clock := _DOTTED_CLOCK.fullmatch(answer)):
        yield f"{clock[1]}:{clock[2]} {clock[3]}m"
    if (kind in ("words", "code", "date", "time") or ":" in gold) and (place := _TAKES_PLACE.match(answer)):
        rest = answer[place.end() :]
        yield from [] if UNSURE.search(rest) else [rest.rstrip(".")]
    if kind == "words":
        if every := _EVERY.match(answer):  # Every Tuesday and Thursday
            yield _DAY.sub("s", answer[every.end() :])
        if _EVERY.match(gold) and "days" in answer:
            yield "every " + answer.replace("days", "day")
