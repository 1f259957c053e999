"""Directions on a map: 30° north of east, 60° east of north and N 60° E are one.

The angle is part of the direction, so that 30° east of north is another one although the number is the same.
"""

from __future__ import annotations

import re
from fractions import Fraction

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 80

_QUARTERS = {"n": 0, "e": 90, "s": 180, "w": 270}
_POINT = r"(?:due\s)?(north|south|east|west|[NSEW])(?:ward)?"
_ANGLE = r"(\d{1,3}(?:\.\d+)?)\s?(?:°|deg(?:rees)?)\s?"
_LEAD = r"(?:(?:at|in|an?|the|angle|direction|of|is|directed|pointing|toward|bearing)\s){0,5}"
_OF = lazy_compile(
    rf"{_LEAD}{_ANGLE}(?:to the )?{_POINT}\s(?:of|from)\s(?:the )?{_POINT}(?: direction| axis)?", re.IGNORECASE
)
_FROM = lazy_compile(rf"{_LEAD}{_POINT}\s?{_ANGLE}(?:to(?: the)?\s)?{_POINT}", re.IGNORECASE)


def read_bearing(text: str) -> Fraction | None:
    """Degrees clockwise from north of a text in normal spelling; ``None`` for anything else."""
    if len(text) > MAX_LENGTH:
        return None
    plain = " ".join(text.replace("°", "° ").split())
    if match := _OF.fullmatch(plain):
        angle, toward, start = match.groups()
    elif match := _FROM.fullmatch(plain):
        start, angle, toward = match.groups()
    else:
        return None
    first, second = (_QUARTERS[point[0].lower()] for point in (start, toward))
    if (second - first) % 180 == 0 or Fraction(angle) > 90:
        return None
    sign = 1 if (second - first) % 360 == 90 else -1
    return (first + sign * Fraction(angle)) % 360
