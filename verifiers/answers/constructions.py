"""The same in another construction: ``Sarah's brother`` and the brother of Sarah, ``2 h at 60 mph`` and 60 mph for 2 h.

Each function reads one construction, and returns ``None`` for any other text. Texts are in the spelling of
``codes.plain``.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from .normal import normal
from .number import Number, OverLimitError, read_number
from .units import is_measure

MAX_LENGTH = 80

_NAME = r"[A-Z][\w.-]*(?: [A-Z][\w.-]*){0,3}"
_POSSESSOR = rf"(?P<owner>(?:[Tt]he )?{_NAME}|the [a-z]{{2,20}})"
_THING = r"(?P<thing>[a-z]{3,20}(?: [a-z]{3,20})?)"
_POSSESSIVE = lazy_compile(rf"{_POSSESSOR}(?:'s|(?<=s)') {_THING}")
_OF = lazy_compile(rf"(?:[Tt]he )?{_THING} of {_POSSESSOR}")
_NO_THING = lazy_compile(
    r"\b(?:none|all|most|some|many|few|any|half|part|out|instead|because|one|each|both|of|not|kind)\b"
)
_TIMES = frozenset(("s", "min", "h", "day", "week", "month", "year"))
_AT_FOR = lazy_compile(
    r"(?P<verb>(?:(?!for )[A-Za-z]{3,12} )?)(?:at )?(?P<at>[^a-z]*\d.*?),? for (?P<length>.+)", re.IGNORECASE
)
_FOR_AT = lazy_compile(
    r"(?P<verb>(?:(?!for )[A-Za-z]{3,12} )?)(?:for )?(?P<length>\d.*?),? at (?P<at>.+)", re.IGNORECASE
)


def possession(text: str) -> str | None:
    """``Sarah's brother`` and ``the brother of Sarah``."""
    match = (_POSSESSIVE.fullmatch(text) or _OF.fullmatch(text)) if len(text) <= MAX_LENGTH else None
    if match is None or _NO_THING.search(match["thing"]):
        return None
    return f"{match['owner'].removeprefix('The ').removeprefix('the ')}|{match['thing']}"


def at_for(text: str) -> str | None:
    """``350 °F for 25 minutes`` and ``25 min at 350 °F``: a quantity, and how long it has it."""
    match = (_AT_FOR.fullmatch(text) or _FOR_AT.fullmatch(text)) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    length, at = _quantity(match["length"]), _quantity(match["at"])
    if length is None or at is None or [name for name, _ in length.unit if name not in _TIMES]:
        return None
    if not all(is_measure(name) for name, _ in at.unit):
        return None
    return f"{match['verb'].lower()}{at.value} {at.unit} {length.value} {length.unit}"


def _quantity(text: str) -> Number | None:
    try:
        number = read_number(normal(text))
    except OverLimitError:
        return None
    return number if number and number.unit and not number.also else None
