"""The same in another construction: ``Sarah's brother`` and the brother of Sarah, ``2 h at 60 mph`` and 60 mph for 2 h.

Each function reads one construction, and returns ``None`` for any other text. Texts are in the spelling of
``codes.plain``.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..quantities.number import Number, OverLimitError, read_number
from ..quantities.units import is_measure
from ..spelling.normal import normal

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

_HEAD = r"(?P<head>[A-Za-z]{3,14}(?:tion|sion|lysis|thesis)|deficiency|deficit|shortage|cancer|theorem|elasticity)"
_HEAD_BEHIND = lazy_compile(
    rf"(?:[Tt]he |[Aa]n? )?(?P<thing>[\w-]{{1,20}}(?: [\w-]{{1,20}}){{0,2}}) {_HEAD}", re.IGNORECASE
)
_HEAD_BEFORE = lazy_compile(
    rf"(?:[Tt]he |[Aa]n? )?{_HEAD} of (?P<thing>[\w-]{{1,20}}(?: [\w-]{{1,20}}){{0,2}})", re.IGNORECASE
)
_NO_HEADS = frozenset(
    ("function", "fraction", "equation", "question", "section", "portion", "option", "nation", "version")
)
"""Nouns with other endings of actions: a consumption function is no function of consumption."""

_CURVE = r"(?:the )?(?P<subject>(?:[a-z-]{2,15} ){0,2}(?:curve|demand|supply))"
_EQUILIBRIUM = r"(?:the )?(?:reaction|equilibrium(?: position)?|position of (?:the )?equilibrium)"
_SIDE = r"(?:right|left|up|down)"
_SHIFTS = lazy_compile(
    rf"(?:(?:{_CURVE}|{_EQUILIBRIUM}) )?"
    rf"(?:will |would )?(?:shift(?:s|ed)?|moves?) (?:to the )?(?P<behind>{_SIDE})(?:wards?)?",
    re.IGNORECASE,
)
_SHIFT_OF = lazy_compile(
    rf"(?:there (?:is|will be) )?(?:an? |the )?(?:(?P<before>{_SIDE})ward )?shift"
    rf"(?: (?:of|in) (?:{_CURVE}|{_EQUILIBRIUM}))?"
    rf"(?(before)| to the (?P<behind>{_SIDE}))",
    re.IGNORECASE,
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


def headed(text: str) -> str | None:
    """``vitamin B12 deficiency`` and deficiency of vitamin B12, ``energy conservation`` and conservation of energy."""
    if len(text) > MAX_LENGTH:
        return None
    match = _HEAD_BEHIND.fullmatch(text) or _HEAD_BEFORE.fullmatch(text)
    if match is None or _NO_THING.search(match["thing"]) or match["head"].lower() in _NO_HEADS:
        return None
    return f"{match['thing'].replace('_', '').removeprefix('the ').lower()}|{match['head'].lower()}"


def shift(text: str) -> str | None:
    """``demand shifts right``, "The demand curve shifts to the right" and "a rightward shift of the demand curve"."""
    match = _SHIFTS.fullmatch(text) or _SHIFT_OF.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    direction, subject = match["before"] if "before" in match.groupdict() else None, match["subject"] or ""
    return f"{subject.lower().removesuffix(' curve')} {(direction or match['behind']).lower()}"
