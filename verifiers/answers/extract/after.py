"""What follows an answer: that it is wrong, an alternative to it, or another answer that contradicts it.

    rejected      ``\\boxed{72}. No: 73 is right.``, "The answer is 5. But that is wrong."
    alternatives  ``\\boxed{5} or 6``, "The correct option is (C), or maybe (B).", "18, I guess, or 20"
    corrected     "Wait, it is 20.", "Actually, 20.", "Correction: 20"
    stated again  ``\\boxed{18}. The answer is 19.``

Any of these that differs from the answer contradicts it, and a text that contradicts itself has no answer: nothing says
which one it stands by. A correction needs a correcting word before the value: "We check: 2*9 = 18." is none.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..quantities.currencies import SIGNS
from .boxed import NOT_CLOSED, boxed
from .hashes import hashes
from .json_field import json_field
from .languages import IS, NOT, TAKES_BACK
from .result import ExtractedAnswer, Source, extracted, is_answer, is_value
from .sentence import statement
from .stated import stated

NOTHING = lazy_compile(r"[\s.,;!$)\]}*_`'\"\\]*\Z")
_CLOSE = r"[\s$)\]}*_.,;:!\\'\"`-]{0,9}"
_DASHES = "\u2013\u2014-"
_SAYS = r"(?:['\u2019]s|\s(?:is|was|must be|seems|looks|has to be))"
_THE_ANSWER = r"the (?:final |correct |right )?(?:answer|result|solution)"
_WRONG = rf"(?:wrong|incorrect|a mistake|impossible|not (?:right|correct|possible|it|my answer|{_THE_ANSWER}))\b"
_ADVERB = r"(?:\s(?:clearly|obviously|definitely|also|actually|probably|surely|simply|just))?"
_REJECTED = lazy_compile(
    rf"{_CLOSE}\?\s{{0,3}}(?:no|nope)\b"
    rf"|{_CLOSE}(?:(?:but |wait|no|nope|hmm+|oops|sorry|actually|hold on)[\s,.!…{_DASHES}]{{0,6}}){{0,3}}"
    r"(?:which|(?:that|this|it|the)(?: answer| result| solution)?)?"
    rf"(?:{_SAYS}{_ADVERB}\s{_WRONG}"
    r"|\s?(?:cannot|can not|can['\u2019]?t|couldn['\u2019]?t) be (?:right|correct|true|possible|it)\b"
    rf"|\s?(?:isn|wasn)['\u2019]t(?: (?:right|correct|possible|{_THE_ANSWER})\b|(?=[.,;!])))",
    re.IGNORECASE,
)
# One of these stands in every match, which has at most so many characters before it.
_HINTS_OF_REJECTION = ("no", "n't", "n\u2019t", "wrong", "incorrect", "mistake", "impossible", "cant", "couldnt")
_NEAR = 160
# "18... no, wait.", unless the text says so again or confirms it
_TAKEN_BACK = lazy_compile(rf"{_CLOSE}(?:\u2026\s?)?(?:(?:no|but),? wait|wait,? no|(?:scratch|strike) that)\b", re.I)
_CONFIRMED = lazy_compile(r"\b(?:right|correct|confirm\w*|yes|yep|matches|stands|holds|fine|indeed)\b", re.IGNORECASE)
_DISOWNED = lazy_compile(
    r"\b(?:this|that|my) (?:answer|result|solution) (?:is|was) (?:wrong|incorrect|not (?:right|correct))\b",
    re.IGNORECASE,
)
# "The statement \boxed{C} is wrong" may be what was asked for.
_STATEMENT = lazy_compile(
    r"\b(?:statement|option|choice|claim|sentence|assertion|conclusion)s?"
    r"[\s$*({\\]{0,9}(?:boxed\{|fbox\{)?(?:\\?text\{)?\(?$",
    re.IGNORECASE,
)
_ALTERNATIVE = lazy_compile(
    rf"{_CLOSE}(?:\(?[a-z'\u2019 ]{{1,30}}[,)]{{1,2}}\s(?=or\b))?\(?(?:\band/or|\bor|(?<![.!;])\b(?P<and>and))\b"
    r"(?!\sso\b|\s(?:more|less|some))\s?(?:maybe|perhaps|possibly|probably|also|even|else|rather)?"
    r"(?:\s(?:it (?:is|could be|might be|may be)))?(?:\\\(|[\s,$(]){0,3}(?=[\s$\\(]*\S)"
    rf"|{_CLOSE}but (?:it |this |that )?(?:could|might|may) (?:also |equally |as well |well )?be\s(?=\S)",
    re.IGNORECASE,
)
_EXCLAMATION = (
    r"(?:wait(?! (?:for|until|to)\b)|actually|correction|sorry|oops|hmm+|hold on|scratch that|strike that"
    r"|on second thought|i meant?|rather(?! than\b)"
    r"|apologies|my mistake|my bad|not quite)\b"
)
_NO = r"(?:no|nope)(?=[,!:;\u2014]|\.(?! ?\d)|\swait)\b"  # not "door (No. 2)"
_MISTAKEN = (
    r"\b(?:i|we) (?:have )?made an? \w{0,12}\s?(?:mistake|error)|\b(?:i was|that (?:was|is)|that's|this is|it is) wrong"
    r"|\blet(?: me|['\u2019]s) (?:correct|fix|redo|recompute|recalculate|recheck|re-check|reconsider|revise)\b"
    r"|\b(?:change|revise|update|correct)(?:d|ing)? (?:my|the) (?:final )?answer\b|不对|错了|更正|等等"
)
_FOREIGN = lazy_compile(rf"\b(?:{IS}|et|und|y)\b", re.IGNORECASE)
_TAKEN_BACK_ABROAD = lazy_compile(
    rf"(?:\A|[.!?\n*])[\s$)\]}}*_\\]{{0,9}}(?:{TAKES_BACK})(?:,|\s?[.:!…—])", re.IGNORECASE
)
_MOST = 20  # corrections that are looked at
_CORRECTING = lazy_compile(
    rf"(?:\A|[.!?;:,(\n{_DASHES}])[\s$)\]}}*_\\]{{0,9}}(?:{_NO}|{_EXCLAMATION})|{_MISTAKEN}", re.IGNORECASE
)
# One of these stands in every match of the pattern above, which is slow to search for.
_HINTS = (
    "wait", "actual", "correct", "sorry", "oops", "hmm", "hold on", "scratch", "strike", "second thought", "i mean",
    "rather", "apologies", "mistake", "my bad", "not quite", "error", "wrong", "let me", "answer", "nope",
    "no,", "no.", "no!", "no:", "no;", "no\u2014", "no wait", "不对", "错了", "更正", "等等",
)  # fmt: skip
_VALUE = lazy_compile(
    rf"[\s,.:;!…*_{_DASHES}]{{0,9}}(?:(?:from\s\S{{1,20}}\sto|to|make|so|the|my|it|that|this|it's|that's|is"
    r"|should be|wait|no|sorry|actually|i mean|correct|right|new|final|real|true|answer|option|result|total|number"
    r"|must be|equals|has to be|would be|will be|should have been|rather|maybe)\b[\s,:.!]{1,3}){0,7}"
    rf"(?:=\s?)?(?=[-+{SIGNS}\\\d(\[A-Z])",
    re.IGNORECASE,
)
_RESULT = lazy_compile(
    r"(?:^|[.!?;:,\n]\s{0,3})(?:(?:so|thus|hence|therefore|then|and|but|yes|now|no|wait|actually)\b,?\s){0,3}"
    r"(?:(?:it|that|this"
    r"|the (?:correct |right |real |true |final |actual )?(?:result|value|total|number|sum|solution|one))"
    r"(?:\s(?:is|should be|must be|has to be|would be|will be|equals|becomes|should have been)|['\u2019]s)"
    r"|(?:so|thus|hence|therefore),? (?:we|i) (?:get|have|obtain|find))"
    rf"\s(?:actually\s|really\s|indeed\s|in fact\s|now\s|instead\s|therefore\s)?(?=[-+{SIGNS}\\\d(\[])"
    r"|应该?(?:是|为)\s?(?=\S)",
    re.IGNORECASE,
)
_WORD = lazy_compile(r"(?<!\\)[A-Za-z]{2}")
_NAME = lazy_compile(r"[A-Z][a-z]+\b")


class Corrections(NamedTuple):
    """What follows an answer: further answers, and whether it is rejected."""

    answers: list[str]
    rejected: bool


def corrections(text: str, end: int, answers: tuple[str, ...]) -> Corrections:
    """What the text after ``end`` says about the ``answers`` before it."""
    near = text[end : end + _NEAR].lower()
    if any(map(near.__contains__, _HINTS_OF_REJECTION)) and _REJECTED.match(text, end):
        start = max(0, end - len(answers[-1]) - 60)
        if not _STATEMENT.search(text[start : max(start, text.rfind(answers[-1], start, end))]):
            return Corrections([], True)
    further = _alternative(text, end, answers) if "or" in near or "and" in near or "but" in near else []
    rest = text[end:]
    if _is_taken_back_abroad(rest, answers) or _DISOWNED.search(rest):
        return Corrections(further, True)
    if not any(map(rest.lower().__contains__, _HINTS)):
        return Corrections(list(filter(None, further)), "" in further)
    words = list(islice(_CORRECTING.finditer(rest), _MOST))
    further += _corrected(rest, words, answers)
    rejected = "" in further or (bool(words) and _are_replaced(answers, rest))
    return Corrections(list(filter(None, further)), rejected or (not further and _is_taken_back(rest, answers)))


def _corrected(rest: str, words: list[re.Match[str]], answers: tuple[str, ...]) -> list[str]:
    """The values that stand behind correcting words, and the last one that is called the result."""
    if not words:
        return []
    starts = [match.end() for word in words if (match := _VALUE.match(rest, word.end()))]
    starts += [match.end() for match in deque(_RESULT.finditer(rest, words[0].end()), maxlen=1)]
    return [value for start in starts if (value := _value(rest, start, answers))]


def _alternative(text: str, end: int, answers: tuple[str, ...]) -> list[str]:
    """The alternative right behind an answer, "" for one in words: "Paris or Lyon"."""
    alternative = _ALTERNATIVE.match(text, end)
    if alternative is None:
        return []
    value = _value(text, alternative.end(), answers)
    if alternative["and"]:
        return [] if not value or _WORD.search(value) else [value]
    if value:
        return [value]
    return [""] if _NAME.match(text, alternative.end()) and not any(map(is_value, answers)) else []


def _are_replaced(answers: tuple[str, ...], rest: str) -> bool:
    """Whether words are corrected and neither named nor confirmed again: "Paris. Wait, it is Lyon." """
    if any(map(is_value, answers)):
        return False
    return not re.search(rf"\b{re.escape(answers[-1].lower())}\b", rest.lower()) and not _CONFIRMED.search(rest)


def _is_taken_back_abroad(text: str, answers: tuple[str, ...]) -> bool:
    """Whether a text in another language takes back or denies the number before it: "Il y en a 42, et non 24." """
    if text.isascii() and not _FOREIGN.search(text):
        return False
    if _TAKEN_BACK_ABROAD.search(text):
        return True
    number = re.search(r"\d[\d.,]*", answers[-1])
    return number is not None and re.search(rf"\b(?:{NOT})\s{re.escape(number[0])}(?!\w)", text) is not None


def _is_taken_back(text: str, answers: tuple[str, ...]) -> bool:
    """Whether the text after the ``answers`` begins with "no, wait" and neither names nor confirms them later."""
    taken_back = _TAKEN_BACK.match(text)
    if taken_back is None:
        return False
    rest = text[taken_back.end() :]
    return answers[-1] not in rest and not _CONFIRMED.search(rest)


def _value(text: str, start: int, answers: tuple[str, ...]) -> str:
    """The answer that is stated from ``start`` on, or "" if it is a remark."""
    value = statement(text, start)[0].rstrip("*_` $" if text[start] != "$" else "*_` ")
    if value.endswith(")") and value.count("(") < value.count(")"):
        value = value[:-1]
    return value if value and is_answer(value, answers) else ""


def with_later_answers(
    first: ExtractedAnswer, text: str, sources: Sequence[Source], accepts: Callable[[str], bool] | None = None
) -> ExtractedAnswer:
    """The answers of a source, and those that the text after them gives: by weaker sources, or as corrections; only
    those that ``accepts`` accepts, if it is given.
    """
    if not first.answers or not 0 < first.end < len(text) or NOTHING.match(text, first.end):
        return first
    rest, denied = text[first.end :], first.denied
    boxes = boxed(rest) if first.source == "answer_tag" and "boxed" in sources else None
    if boxes and boxes.reason == NOT_CLOSED:
        return boxes
    if boxes and boxes.answers:
        later = list(with_later_answers(boxes, rest, sources).answers)
    else:
        weaker = {"json": json_field, "hashes": hashes, "phrase": stated}
        found = [read(rest) for name, read in weaker.items() if name in sources and name != first.source]
        later = [text for answer in filter(None, found) for text in answer.answers if is_answer(text, first.answers)]
        corrected = corrections(text, first.end, first.answers)
        later += corrected.answers
        denied = denied or corrected.rejected
    later = list(filter(accepts, later)) if accepts else later
    if not later and denied == first.denied:
        return first
    return extracted([*first.answers, *later], first.source, denied=denied, end=first.end)
