"""Directions and changes in a word or two: ``to the left`` and leftward, ``increases`` and "It will increase."."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 80

_VERB = r"(?:is |are )?(?:directed|pointing|points?|acts?|acting|moves?|moving|flows?|flowing|turns?|rotates?|rotating)"
_NO_SUBJECT = (  # denials, and what makes two statements of one
    r"(?:not|never|no|hardly|barely|rarely|seldom|longer|then|first|or|and|but|neither|nor"
    r"|increas\w*|decreas\w*|doubl\w*|halv\w*|ris\w*|fall\w*|chang\w*)\b"
)
_SUBJECT = rf"(?:(?:it|the(?: (?!{_NO_SUBJECT})[a-z]+){{1,4}}) )"
_HEADING = lazy_compile(
    rf"{_SUBJECT}?(?:{_VERB} |is )?(?:in (?:the|an?) )?"
    r"(?:(?:to(?:wards?)? (?:the )?)?(?P<side>left|right|north|south|east|west)(?:wards?)?"
    r"|(?:vertically )?(?P<vertical>up|down)(?:wards?)?|(?P<radial>in|out|for|back)wards?"
    r"|(?P<turn>(?:anti|counter)?[- ]?clockwise)|(?P<page>into|out of) the (?:plane of the )?(?:page|paper|screen))"
    r"(?: direction)?",
    re.IGNORECASE,
)
_CHANGES = {"increas": "increase", "decreas": "decrease", "doubl": "double", "halv": "halve", "tripl": "triple",
            "quadrupl": "quadruple", "ris": "increase", "fall": "decrease"}  # fmt: skip
_CHANGE = lazy_compile(
    rf"{_SUBJECT}?(?:(?:will|would|must|should|is|are|has|have|gets?|be|also) ){{0,3}}"
    rf"(?P<stem>{'|'.join(_CHANGES)})(?:e|es|ed|s|ing)?",
    re.IGNORECASE,
)
_SAME = lazy_compile(
    rf"{_SUBJECT}?(?:(?:will|would|must|should) )?"
    r"(?:(?:is |be |remains? |stays? |keeps? )?(?:unchanged|the same|unaffected)|(?:remains?|stays?|is) constant"
    r"|(?:does not|doesn't|do not|don't|not) change|no change)",
    re.IGNORECASE,
)


def heading(text: str) -> str | None:
    """``left`` of ``to the left``, ``leftward`` and "It points to the left."."""
    match = _HEADING.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    if turn := match["turn"]:
        return "clockwise" if turn.lower() == "clockwise" else "counterclockwise"
    return next(group.lower() for group in match.groups() if group)


def trend(text: str) -> str | None:
    """``increase`` of ``increases`` and "The resistance will increase."; ``same`` of ``remains constant``."""
    if len(text) > MAX_LENGTH:
        return None
    if _SAME.fullmatch(text):
        return "same"
    match = _CHANGE.fullmatch(text)
    return match and _CHANGES[match["stem"].lower()]
