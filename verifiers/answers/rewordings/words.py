"""Words that say the same.

Yes and no (``No it does not``, ``nobody`` for no one), reasons (``it rained`` for because it rained), one of several
(``left`` for the left one), abbreviations (``Ph.D.`` for PhD, ``NW`` for northwest, ``N/A``; see ``other_names``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..codes.spelling import plain
from ..spelling.spellings import without_greek
from ..vocabulary.doubts import UNSURE
from ..words.other_names import is_short_for, without_country

_YES = "yes yeah yep yup correct affirmative true indeed".split()  # noqa: SIM905
_NO = ["no", "nope", "nah", "false", "not at all", "incorrect", "no way"]
_REPLY = lazy_compile(
    r"(yes|no) (?:it|they|he|she|that|there|this|you|we|I) (?:is|are|was|were|does|do|did|has|have|can|will|must"
    r"|should)(?P<negated>n['\u2019]t| not)?[.!]?",
    re.IGNORECASE,
)
_SYNONYMS = {"yes": {*_YES, "that is correct", "that's correct"}, "no": {*_NO}} | {
    "no one": {"nobody"}, "nobody": {"no one"}, "everyone": {"everybody"}, "everybody": {"everyone"},
    "someone": {"somebody"}, "somebody": {"someone"}, "anyone": {"anybody"}, "anybody": {"anyone"},
    "true": {*_YES, "t", "that is true", "that's true"}, "false": {*_NO, "f", "untrue", "not true", "not correct"},
}  # fmt: skip
"""What says the same as yes, no, true and false, as the whole answer."""
_CAUSE = lazy_compile(r"because of |due to |owing to ", re.IGNORECASE)
_BECAUSE = lazy_compile(r"because (?!of )", re.IGNORECASE)
_REASON = lazy_compile(r"(?:because|since|as) (?!of )", re.IGNORECASE)
_PURPOSE = lazy_compile(r"(?:in order )?to (?=[a-z])", re.IGNORECASE)
_ONE = lazy_compile(
    r"the (?P<which>(?!(?:only|wrong|other|same|number|no|any|last but)\b)[a-z]{3,12}(?: [a-z]{3,12})?"
    r"|\d{1,2}(?:st|nd|rd|th)) one\.?"
)
_ONE_AT = lazy_compile(
    r"(?:the one )?(?:on|at|in) the (left|right|top|bottom|front|back|middle|center|centre)(?:[- ]hand)?(?: side)?\.?",
    re.IGNORECASE,
)
_PERIODS = lazy_compile(r"(?:[A-Z][a-z]{0,2}\.?){2,5}")  # Ph.D.
_COMPASS = {
    "NW": "northwest", "NE": "northeast", "SW": "southwest", "SE": "southeast", "NNW": "north northwest",
    "NNE": "north northeast", "SSW": "south southwest", "SSE": "south southeast",
}  # fmt: skip


def other_words(gold: str, answer: str) -> Iterator[str]:
    """``Yes`` of "Yes it does.", ``no one`` for nobody; ``left`` for the left one, and the other way round."""
    if synonyms := _SYNONYMS.get(gold.lower()):
        yield from [gold] if plain(answer).lower() in synonyms - {gold.lower()} else []
        if (reply := _REPLY.fullmatch(answer)) and bool(reply["negated"]) == (reply[1].lower() == "no"):
            yield reply[1]
    yield from _without_greek(gold, answer)
    yield from _reasons(gold, answer)
    if _ONE.fullmatch(gold):
        yield f"the {answer.removeprefix('the ').rstrip('.')} one"
    if of_answer := _ONE.fullmatch(answer):
        yield of_answer["which"]
    if place := _ONE_AT.fullmatch(answer):
        yield from (place[1], f"the {place[1]} one")


def _without_greek(gold: str, answer: str) -> Iterator[str]:
    r"""``alpha helix`` of ``\alpha-helix``; and the other way round."""
    shown = plain(without_greek(answer))
    if shown != plain(answer):
        yield shown
    named = plain(without_greek(gold))
    if named != plain(gold):
        yield from [gold] if named.lower().replace("-", " ") == shown.lower().replace("-", " ") else []


def _reasons(gold: str, answer: str) -> Iterator[str]:
    """``because it rained`` for ``it rained`` and since it rained, ``to rest`` for in order to rest."""
    for lead, leads in ((_CAUSE, _CAUSE), (_BECAUSE, _REASON), (_PURPOSE, _PURPOSE)):
        if of_gold := lead.match(gold):
            of_answer = leads.match(answer)
            rest = answer[of_answer.end() :] if of_answer else answer
            yield from [] if UNSURE.match(rest) else [gold[: of_gold.end()] + rest]
        elif lead is not _PURPOSE and (of_answer := lead.match(answer)):
            yield answer[of_answer.end() :]


def abbreviated(gold: str, answer: str) -> Iterator[str]:
    """``north-west`` for NW, ``N/A`` for Not applicable, each in both directions."""
    short, text = answer.rstrip("."), gold.rstrip(".")
    if is_short_for(answer, gold):
        yield gold
    if "," not in gold and "," in answer and (place := without_country(answer)):
        yield place
    if "." in answer + gold and gold != answer and _PERIODS.fullmatch(answer) and _PERIODS.fullmatch(gold):
        yield from [gold] if answer.replace(".", "") == gold.replace(".", "") else []
    if short in _COMPASS:
        yield _COMPASS[short]
    if text in _COMPASS and re.sub("[- ]", "", short.lower()) == _COMPASS[text].replace(" ", ""):
        yield gold
    if {short.lower(), text.lower()} == {"n/a", "not applicable"}:
        yield gold
