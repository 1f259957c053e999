"""The sentence that closes a text without any mark of its answer: "So she makes $18 a day. I hope this helps!"

It is read only where no source names an answer, and only in view of the gold answer: see ``rewordings.at_end``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..languages.foreign_text import uses_other_language
from ..vocabulary.currencies import SIGNS
from ..vocabulary.doubts import CORRECTS, DENIES, DOUBTS, LEAVES_OPEN, NOT, TRIES, UNSURE, WRONG
from .statements import NO_ABBREVIATION

WINDOW = 600  # characters
MAX_LENGTH = 240

_FORMULA = lazy_compile(r"\$(?![^$]*[a-z]{2} [a-z]{2})(?:[^\s$][^$\n]*)?[^\s$=+*/(-]\$|\\\(.+?\\\)")  # not $20 - $15
_END = lazy_compile(rf"[.!?]{NO_ABBREVIATION}[*_)\"'\u201d]*(?=\s|\Z)|\n+")
# What follows the answer and is no part of it.
_CLOSER = lazy_compile(
    r"[\W_]*(?:(?:(?:i )?hope (?:this|that|it)|let me know|feel free|(?:please )?(?:ask|tell me)"
    r"|(?:any|if) (?:other )?(?:questions|you)|need (?:any|more|help|anything)|do you want|would you like|good luck"
    r"|happy to|\(?check(?:ing)?|\(?(?:to )?verif\w*"
    r"|(?:this|that) makes sense|does that|in other words|thanks?|tip|note|great question)\b.*)?[\W_]*",
    re.IGNORECASE | re.DOTALL,
)
_LEAD = lazy_compile(
    r"(?:(?:so|hence|thus|therefore|then|finally|in total|altogether|overall|all in all|to sum up|in the end|and|now"
    r"|in conclusion|as a result|consequently|(?:that|this) means|it follows that|we (?:see|find) that)\b,?\s+)+"
    r"(?:that\s+)?",
    re.IGNORECASE,
)
_CLAUSE = lazy_compile(
    r"(?P<mark>[,;:]\s|\s[-\u2014\u2013]\s(?=[A-Za-z])|\u2014|->|=>|\u2192)\s*"
    r"(?P<words>(?:(?:and|so|hence|thus|therefore|which|that|then|but)\b,?\s*)*)|\s(?P<word>so|hence|thus|therefore|which)\s"
)
_SO = lazy_compile(r"so|hence|thus|therefore|then", re.IGNORECASE)
# What makes a sentence the result of those before it, and what makes a clause one about something else.
_CONCLUDES = lazy_compile(
    r"\b(?:so|hence|thus|therefore|total|altogether|in all|overall|finally|in the end|leaves?|leaving|left with"
    r"|that(?:'s| is)|(?:that|this|which) (?:makes|gives|means)|works out|comes to|amounts to|result"
    r"|consequently|in short|to sum up)\b",
    re.IGNORECASE,
)
_ASIDE = lazy_compile(
    r"\b(?:while|whereas|unlike|since|because|although|though|after|before|chapter|page|step|table|figure|section|part"
    r"|last (?:year|week|month|time)|previous\w*|ago|being)\b",
    re.IGNORECASE,
)
_UNDONE = lazy_compile(r"\A(?:first|next)\b|\b(?:step|plan|now we)\b", re.IGNORECASE)
_EARLIER = lazy_compile(r"\b(?:ago|still|start\w*)\b", re.IGNORECASE)
_NUMBER = lazy_compile(
    rf"(?<![\w.,])(?P<number>(?:[-\u2212]\s?)?(?:[A-Z]{{1,3}})?(?:[{SIGNS}]|Rs\.?|\\\$)?\s?"
    r"(?:\d+(?:[,\u202f]\d{3})*(?:\.\d+)?|\.\d+)(?:\s?/\s?\d+| \d/\d+)?"
    rf"(?:\s?(?:hundred|thousand|million|billion|trillion|dozen|percent|per cent)\b|[kKM]\b|\s?%|\s?[{SIGNS}])?)"
    r"(?![\d:]|[/.,]\d)"
)
_UNFINISHED = lazy_compile(
    r"(?:[?,:;=$(+*/\u2013\u2014-]|\b(?:is|are|was|the|an?|of|to|and|but|or|for|with|by|in|at|so|that|than))[\s*_]*\Z",
    re.IGNORECASE,
)  # or a question
_BRACKETS = lazy_compile(r"\s?\([^()]{1,80}\)")
_REMARK = lazy_compile(  # a clause behind the answer
    r"[,;:\u2013\u2014 -]+(?:which|who|whose|where|with|in|on|at|by|an?|the|his|her|its|their|according|as) [^\d$]*",
    re.IGNORECASE,
)
_CALCULATION = lazy_compile(r"\d[^=]{0,40}?[-+*/\u00d7\u00f7\u00b7x\u2212][^=]{0,40}?\d[^=]{0,24}\Z")
_HEDGE = lazy_compile(
    rf"\b(?:{DOUBTS}|{LEAVES_OPEN}|{WRONG}|could|may|about|cannot|at (?:most|least))\b|\?",
    re.IGNORECASE,
)  # whatever is calculated
_TRIED = lazy_compile(rf"\b(?:{TRIES}|rule out)\b", re.IGNORECASE)
_TAKES_BACK = lazy_compile(rf"\b(?:{DENIES}|{WRONG}|errors?)\b|{NOT}", re.IGNORECASE)
_CHOICE = lazy_compile(
    r"(?:(?P<before>[^.]{0,160}?\b(?:leaves|left with|my pick is|my choice is|pick|choose|go with|going with|select"
    r"|must be|has to be|so|hence|thus|therefore))\s+(?:us with\s+|only\s+|just\s+|the\s+)*)?"
    r"(?P<noun>(?:option|choice|answer|letter)\s+)?[(\[]?(?P<letter>[A-J])[)\]]?(?P<end>\s+it is)?",
    re.IGNORECASE,
)
_CORRECTING = lazy_compile(rf"\b(?:{CORRECTS}|on second thought)\b", re.IGNORECASE)
_TRUTH = lazy_compile(
    r"(?P<lead>(?:.{0,160}?\W)?(?:so|thus|hence|therefore|i'd say|i would say|that's a|that is a),?\s)?"
    r"(?P<truth>yes|no)(?P<behind>(?:[,.!;:]| [\u2014\u2013-]| from me\b| because\b).{0,160})?",
    re.IGNORECASE,
)
_NO = lazy_compile(r"\b(?:no|not|cannot)\b|n't\b", re.IGNORECASE)
_YES = lazy_compile(r"\byes\b", re.IGNORECASE)


class ClosingSentence(NamedTuple):
    """A sentence without a word such as "So" at its start, and whether it concludes the text."""

    text: str
    concludes: bool


class ClosingValue(NamedTuple):
    """A number, the text behind it in its clause, and all other words of the clause and of those behind it.

    ``is_calculated`` if an equals sign is before it: "she has 3 * 6 = 18 eggs".
    """

    number: str
    behind: str
    around: str
    is_calculated: bool


def closing_statements(last: ClosingSentence) -> Iterator[str]:
    """The last sentence if it is a conclusion, without a remark behind it, and the clause that it concludes with."""
    sentence, concludes = last
    edges = list(_CLAUSE.finditer(sentence))[-3:]
    for edge in [None, *edges]:
        start = edge.end() if edge else 0
        is_concluded = _says_so(edge) if edge else concludes
        if not is_concluded or UNSURE.search(sentence, 0, start) or _ASIDE.search(sentence, start):
            continue
        yield sentence[start:]
        for end in (later.start() for later in edges if later.start() > start):
            if _REMARK.fullmatch(sentence, end) and not UNSURE.search(sentence, end):
                yield sentence[start:end]


def closing_value(last: ClosingSentence) -> ClosingValue | None:
    """The only number of the last clause that has one, if that concludes, or the result of a calculation there."""
    sentence, concludes = last
    if "\\" in sentence or _FORMULA.search(sentence):
        return None
    plain = _BRACKETS.sub("", sentence).replace("**", "")
    edges = list(_CLAUSE.finditer(plain))
    for edge, later in reversed(list(zip([None, *edges], [*edges, None], strict=True))):
        start, end = edge.end() if edge else 0, later.start() if later else len(plain)
        clause, rest = plain[start:end], plain[end:]
        sides = clause.split("=")
        is_calculated = len(sides) > 1 and _CALCULATION.search(sides[-2]) is not None
        side = sides[-1] if is_calculated else clause
        numbers = list(_NUMBER.finditer(side))
        if not numbers:
            if edge and _says_so(edge):
                return None
            continue
        is_clear = is_calculated or (
            (_says_so(edge) if edge else concludes) and not UNSURE.search(plain, 0, start) and not _ASIDE.search(plain)
        )
        is_only = len(numbers) == 1 or (is_calculated and not side[: numbers[0].start()].strip())
        if not is_only or not is_clear or _HEDGE.search(clause) or _HEDGE.search(rest):
            return None
        if _UNDONE.search(plain) or _EARLIER.search(plain, start):
            return None
        before, behind = side[: numbers[0].start()], side[numbers[0].end() :]
        if not is_calculated and _TRIED.search(before):
            return None
        return ClosingValue(numbers[0]["number"].strip(), behind, f"{before} {behind} {rest}", is_calculated)
    return None


def _says_so(edge: re.Match[str]) -> bool:
    """Whether a clause begins as a conclusion."""
    return _SO.search(edge["words"] or edge["word"] or "") is not None or edge["mark"] in ("->", "=>", "\u2192")


def closing_choice(last: ClosingSentence, text: str) -> str | None:
    """The letter of the option that the first or the last sentence chooses: "That leaves B.", "I'd go with (C)." """
    if (said := _CHOICE.fullmatch(_first_clause(last.text))) and not UNSURE.search(said["before"] or ""):
        return said["letter"] if said["before"] or said["noun"] or said["end"] or last.concludes else None
    first = _END.split(text.strip()[:WINDOW], maxsplit=1)[0].strip("*_ ")
    said = _CHOICE.fullmatch(_first_clause(first)) if first != text.strip() else None
    is_sure = said and (said["before"] or said["noun"]) and not UNSURE.search(said["before"] or "")
    return said["letter"] if said and is_sure and not _CORRECTING.search(text) else None


def closing_truth(last: ClosingSentence, text: str) -> str | None:
    """``yes`` or ``no`` if the last sentence says one of them: "So yes, it is prime.", "I'd say no." """
    said = _TRUTH.fullmatch(last.text)
    if said is None or _CORRECTING.search(text):
        return None
    is_said = last.concludes or said["lead"] or not said["behind"]
    against = _NO if said["truth"].lower() == "yes" else _YES
    return said["truth"].lower() if is_said and not against.search(said["behind"] or "") else None


def _first_clause(sentence: str) -> str:
    return re.split(r"[;,]\s|\s[\u2014\u2013-]\s", sentence, maxsplit=1)[0]


def closing_sentence(text: str) -> ClosingSentence | None:
    """The last sentence that is no polite phrase or check."""
    tail = text.strip()[-WINDOW:]
    if tail.endswith("```") or uses_other_language(tail):
        return None
    masked = _FORMULA.sub(lambda match: "x" * len(match[0]), tail)
    edges = [0, *(match.end() for match in _END.finditer(masked)), len(tail)]
    sentences = [part for start, end in pairwise(edges) if (part := tail[start:end].strip())]
    has_closer = False
    while sentences and _CLOSER.fullmatch(sentences[-1]) and not _TAKES_BACK.search(sentences[-1]):
        sentences.pop()
        has_closer = True
    if not sentences or len(sentences[-1]) > MAX_LENGTH or _UNFINISHED.search(sentences[-1]):
        return None
    sentence = sentences[-1].strip("*_ ").rstrip(".!")
    lead = _LEAD.match(sentence)
    is_only = len(sentences) == 1 and len(text) <= WINDOW
    concludes = lead is not None or (is_only and has_closer) or _CONCLUDES.search(sentence) is not None
    return ClosingSentence(sentence[lead.end() :] if lead else sentence, concludes)
