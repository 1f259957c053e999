"""Without a sentence around the answer.

A subject ("The ZIP code is 90210."), a pronoun ("It was Captain Reyes.", "It can't be determined."), "The statement is
true.", "Not B, but C.", "There are 9 seedlings.".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.doubts import UNSURE
from .labels import NO_LABEL
from .mathematics import MATHEMATICS
from .sentences import TRUTHS

_NOT_BUT = lazy_compile(r"not [^\s,][^,]{0,40},? but (?:rather )?([^,]{1,60}?)\.?", re.IGNORECASE)
_THERE_ARE = lazy_compile(
    r"there (?:is|are|was|were|will be)"
    r" (?P<count>(?:\d[\d,]*|[a-z]{3,9}(?:-[a-z]{3,5})?)"
    r"(?: (?!(?:more|less|fewer|per|percent|left|short|missing|others?|extra)\b)[a-z]{3,20})?)"
    r"(?: (?:in|on|at) (?:the|this|that|my|your|our|their|his|her|it|a)\b(?: [a-z]{2,15}){0,3})?\.?",
    re.IGNORECASE,
)
_SUBJECT = lazy_compile(r"the (?:[a-z][a-z-]{1,19} ){1,4}(?:is|are|was|were):? ", re.IGNORECASE)
_NO_SUBJECT = lazy_compile(
    r"\b(?:bounds?|limits?|estimates?|approximations?|candidates?|others?|rest|next|last|closest|nearest|second|runner-up"
    r"|statements?|claims?|worst|least|reciprocal|inverse|negation|complement|answers?)\b",
    re.IGNORECASE,
)
_VERB = lazy_compile(" (?:is|are|was|were|to) ")
_STATEMENT = lazy_compile(
    r"(?:the|this|that) (?:given )?"
    r"(?:statement|claim|assertion|sentence|proposition|conclusion|hypothesis|argument|expression)"
    r" (?:is|evaluates to) ",
    re.IGNORECASE,
)
_IS = lazy_compile(r"(?:it|there|this|that|he|she|they) (?:is|are|was|were) (?:called |named )?", re.IGNORECASE)
_ITS_VERB = lazy_compile(
    r"(?:it|this|that) (?=(?:can(?:not)?|could|will|would|does|did|has|had)\b|(?:can|won|does|did)n?['\u2019]?t)",
    re.IGNORECASE,
)


def without_lead(gold: str, kind: str, answer: str) -> Iterator[str]:
    """What a short sentence says."""
    if " but " in answer and (not_but := _NOT_BUT.fullmatch(answer)):
        yield not_but[1]
    if kind == "number" and (there := _THERE_ARE.fullmatch(answer)):
        yield there["count"]
    if kind != "choice" and _VERB.search(answer):
        yield from _without_subject(gold, kind, answer)
    if kind in ("words", "code") and gold.lower() not in TRUTHS and (match := _IS.match(answer)):
        yield from [] if UNSURE.search(match[0]) else [answer[match.end() :]]
    if kind == "words" and (verb := _ITS_VERB.match(answer)):
        yield answer[verb.end() :]


def _without_subject(gold: str, kind: str, answer: str) -> Iterator[str]:
    """``90210`` of "The ZIP code is 90210.", unless the subject or what it is said to be is denied or doubted."""
    if gold.lower() in TRUTHS:
        if statement := _STATEMENT.match(answer):
            yield answer[statement.end() :]
        return
    match = _SUBJECT.match(answer)
    if match is None or UNSURE.search(match[0]) or NO_LABEL.search(match[0]):
        return
    if kind not in ("words", "code") and _NO_SUBJECT.search(match[0]):
        return
    rest = answer[match.end() :]
    if kind not in MATHEMATICS or not UNSURE.search(rest) or UNSURE.search(gold):
        yield rest.rstrip(".")
