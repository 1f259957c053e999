r"""What a text says about its answer after it: that it is wrong, another one beside it, or a corrected one.

    rejected      ``\boxed{18} is wrong``, "The answer is 18. No, that cannot be right."
    alternatives  ``\boxed{5} or 6``, "The correct option is (C). Or maybe (B)."
    corrected     "Wait, it is 20.", "Actually, 20.", "Correction: 20", "I change my answer to 20."

A correction needs a correcting word before the value, so "We check: 2*9 = 18." or "It lasts 7 days." is none. One that
follows an answer and states another one, which nothing after it contradicts, replaces the answer: ``replaced``.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..languages.foreign_text import uses_other_language
from ..quantities.number import OverLimitError, read_number
from ..spelling.normal import normal
from ..vocabulary.currencies import SIGNS
from ..vocabulary.foreign_doubts import WITHDRAWS, WITHDRAWS_AT_START, WITHDRAWS_INSIDE
from .extracted import MAX_LENGTH, TRUTH, ExtractedAnswer, extracted, is_answer, is_value
from .statements import statement

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
# "18... no, wait.", unless the text says so again or confirms it
_TAKEN_BACK = lazy_compile(rf"{_CLOSE}(?:\u2026\s?)?(?:no,? wait|wait,? no|(?:scratch|strike) that)\b", re.IGNORECASE)
_WITHDRAWN = lazy_compile(  # in another language
    rf"(?:\A|[.!?\n])[\s$)\]}}*_\\]{{0,9}}(?:{WITHDRAWS_AT_START})\s?[,!.:…{_DASHES}]"
    rf"|\b(?:{WITHDRAWS})(?!\w)|{WITHDRAWS_INSIDE}",
    re.IGNORECASE,
)
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
    rf"{_CLOSE}\(?(?:\band/or|\bor|(?<![.!;])\b(?P<and>and))\b(?!\sso\b|\s(?:more|less|some))\s?(?:maybe|perhaps|possibly|probably|also|even|else|rather)?"
    r"(?:\s(?:it (?:is|could be|might be|may be)))?(?:\\\(|[\s,$(]){0,3}(?=[\s$\\(]*\S)",
    re.IGNORECASE,
)
_EXCLAMATION = (
    r"(?:wait|actually|correction|sorry|oops|hmm+|hold on|scratch that|strike that|on second thought|i meant?|rather"
    r"|apologies|my mistake|my bad|not quite|instead)\b"
)
_NO = r"(?:no|nope)(?=[,.!:;\u2014]|\swait)\b"
_MISTAKEN = (
    r"\bi (?:have )?made an? \w{0,12}\s?(?:mistake|error)|\b(?:i was|that was|that is|that's|this is|it is) wrong"
    r"|\blet me (?:correct|fix|redo|recompute|recalculate|recheck|re-check|reconsider|revise)\b"
    r"|\b(?:change|revise|update|correct)(?:d|ing)? (?:my|the) (?:final )?answer\b|不对|错了|更正|等等"
)
_CORRECTING = lazy_compile(
    rf"(?:\A|[.!?;:,(\n{_DASHES}])[\s$)\]}}*_\\]{{0,9}}(?:{_NO}|{_EXCLAMATION})|{_MISTAKEN}", re.IGNORECASE
)
# A correction that may replace an answer: not ", no, " inside of a sentence.
_RETRACTING = lazy_compile(
    rf"(?:\A|[.!?\n{_DASHES}])[\s$)\]}}*_\\]{{0,9}}(?:{_NO}|{_EXCLAMATION})|[$)\]}}>]\s{_EXCLAMATION}|{_MISTAKEN}",
    re.IGNORECASE,
)
# One of these stands in every match of the pattern above, which is slow to search for.
_HINTS = (
    "wait", "actual", "correct", "sorry", "oops", "hmm", "hold on", "scratch", "strike", "second thought", "i mean",
    "rather", "apologies", "mistake", "my bad", "not quite", "instead", "error", "wrong", "let me", "answer", "nope",
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
# Before a correction in words: "Wait, it is ", "Actually, ", and those that are nothing else: "Correction: ".
_IS_WORDS = lazy_compile(
    r"(?:[^.!?\n]{0,80}?[^\w.!?\n])?\b"
    r"(?:it|that|this|(?P<sure>the (?:(?:correct|right|final|real) )?(?:answer|option)))"
    r"(?:['\u2019]s| is| was|(?P<must> should be| should have been| must be| has to be))\s(?:actually |really )?(?=\S)",
    re.IGNORECASE,
)
_WORDS = lazy_compile(rf"(?P<sure>(?:(?<=mean)|(?<=meant)|(?<=answer) to)\s|:\s)|[,{_DASHES}]\s", re.IGNORECASE)
_LATER_SENTENCE = lazy_compile(
    r"[.!?\n]\s{1,3}(?=(?:(?:so|thus|therefore|hence)\b,? )?(?:it|the [a-z ]{0,9}answer) is\b)", re.IGNORECASE
)
_NAME = lazy_compile(r"[A-Z][\w'\u2019.-]*(?: (?:(?:of|the|and|de|von|van|la|du) )?[A-Z][\w'\u2019.-]*){0,3}")
_MARKED = lazy_compile(r"(`|\*{1,2}|[\"\u201c])([^`*\"\u201c\u201d\n]+)(?:\1|\u201d)")
_NOT_WORDS = lazy_compile(
    r"(?:correct|right|wrong|incorrect|true|false|fine|good|ok(?:ay)?|clear|obvious|easy|simple|done|all|it|that|this"
    r"|yes|no|nope|wait|really|indeed|sure|never|not|also|still|well|quite|very|rather|just|only|even|so|possible|known"
    r"|important|interesting|common|i|we|you|he|she|they|there|let|sorry|actually|sir|thanks|hmm+|oops|what|why|how"
    r"|because|since|if|but|and|or|always|usually|often|sometimes|called|as|in|on|at|to|for|from|with|by|\w+ing|\w+ly)"
    r"\b(?!')",
    re.IGNORECASE,
)
_ARTICLE = lazy_compile(r"(?:an?|the)\s", re.IGNORECASE)
_FORM = lazy_compile(r"\s(?:as an?|in) (?:decimals?|fractions?|percent(?:age)?|simplest form)(?: form)?\Z")
_DECIMALS = lazy_compile(r"\.(\d{2,})")
_MOST = 20  # corrections that are looked at
_MOST_REPLACED = 5  # of which the last ones may replace an answer
_REVERTS = lazy_compile(r"never ?mind|\b(?:first|original|initial|previous|earlier)\b|after all", re.IGNORECASE)


class Corrections(NamedTuple):
    """What follows an answer: further answers, and whether it is rejected."""

    answers: list[str]
    rejected: bool


def corrections(text: str, end: int, answers: tuple[str, ...]) -> Corrections:
    """What the text after ``end`` says about the ``answers`` before it."""
    if _REJECTED.match(text, end) and not _STATEMENT.search(_before(text, end, answers[-1])):
        return Corrections([], True)
    further = []
    if alternative := _ALTERNATIVE.match(text, end):
        value = _value(text, alternative.end(), answers)
        if alternative["and"] and _WORD.search(value):  # "and 6 apples are left"
            value = ""
        further += [value] if value and not _restates(value, answers) else []
        if not value and not alternative["and"] and _are_words(answers):
            further += _words(text, alternative.end(), answers, names=True)
    text = text[end:]
    if uses_other_language(text) and _WITHDRAWN.search(text):
        return Corrections(further, True)
    lower = text.lower()
    if not any(hint in lower for hint in _HINTS):
        return Corrections(further, False)
    if _DISOWNED.search(text):
        return Corrections(further, True)
    words = list(islice(_CORRECTING.finditer(text), _MOST))
    if words:
        starts = [match.end() for word in words if (match := _VALUE.match(text, word.end()))]
        starts += [match.end() for match in deque(_RESULT.finditer(text, words[0].end()), maxlen=1)]
        further += [value for start in starts if (value := _value(text, start, answers))]
        if _are_words(answers):
            sentences = deque(_LATER_SENTENCE.finditer(text, words[0].end()), maxlen=1)
            starts = [word.end() for word in words] + [sentence.end() for sentence in sentences]
            further += [value for start in starts for value in _corrected_words(text, start, answers)]
    return Corrections(further, not further and _is_taken_back(text, answers))


def _is_taken_back(text: str, answers: tuple[str, ...]) -> bool:
    """Whether the text after the ``answers`` begins with "no, wait" and neither names nor confirms them later."""
    taken_back = _TAKEN_BACK.match(text)
    if taken_back is None:
        return False
    rest = text[taken_back.end() :]
    return answers[-1] not in rest and not _CONFIRMED.search(rest)


def replaced(
    text: str, answer: ExtractedAnswer, read: Callable[[str], ExtractedAnswer | None]
) -> ExtractedAnswer | None:
    """The answer that a text names after it has withdrawn what it said before: "Wait, no. The answer is 20."

    ``read`` finds the answer that a text states, with what follows it. Without a statement after the correcting word,
    it is the value that the correction gives ("Wait, it is 20."); ``None`` if that is in doubt as well.
    """
    lower = text.lower()
    if not any(hint in lower for hint in _HINTS):
        return None
    for word in reversed(deque(_RETRACTING.finditer(text), maxlen=_MOST_REPLACED)):
        later = read(text[word.end() :])
        if later is None or not later.answers:
            later = _stated_by_correction(text, word.end(), answer)
        if later:
            return later
    return None


def _stated_by_correction(text: str, start: int, answer: ExtractedAnswer) -> ExtractedAnswer | None:
    """The value after a correcting word that ends at ``start``, if nothing after it takes it back."""
    starts = [match.end() for match in deque(_RESULT.finditer(text, start), maxlen=1)]
    starts += [match.end()] if (match := _VALUE.match(text, start)) else []
    found = [(value, at) for at in starts if (value := _value(text, at, answer.answers))]
    if not found and _are_words(answer.answers):
        found = [(value, start) for value in _corrected_words(text, start, answer.answers)]
    for value, at in found:
        end = text.find(value, at) + len(value)
        rest = text[end:].lower()
        if any(hint in rest for hint in _HINTS) or _REVERTS.search(rest) or _ALTERNATIVE.match(text, end):
            return None
        if not _REJECTED.match(text, end):
            return extracted([value], answer.source)
    return None


def _corrected_words(text: str, start: int, answers: tuple[str, ...]) -> list[str]:
    """The answer in words after a correcting word that ends at ``start``: "Wait, it is Rome.", "I meant blue."."""
    if match := _IS_WORDS.match(text, start):
        return _words(text, match.end(), answers, sure=bool(match["sure"] or match["must"]))
    if match := _WORDS.match(text, start):
        return _words(text, match.end(), answers, sure=bool(match["sure"]))
    return []


def _words(text: str, start: int, answers: tuple[str, ...], sure: bool = False, names: bool = False) -> list[str]:
    """What stands from ``start`` to the end of the sentence, if it may be an answer in words as the ``answers`` are.

    Names are, and what is marked; other words if the answers are no names and have as many words, or if it is ``sure``
    that no remark follows.
    """
    if marked := _MARKED.match(text, start):
        return [marked[2]]
    value = statement(text, start)[0].split(",")[0].strip()
    if not value or len(value) >= MAX_LENGTH or _NOT_WORDS.match(value):
        return []
    if _NAME.fullmatch(value):
        return [value]
    if names or (value[:1].isupper() and not sure):
        return []
    lengths = [len(_ARTICLE.sub("", answer).split()) for answer in answers]
    length = len(_ARTICLE.sub("", value).split())
    if sure:
        return [value] if length <= max(lengths) + 1 else []
    articles = {bool(_ARTICLE.match(answer)) for answer in answers}
    same_form = length in lengths and bool(_ARTICLE.match(value)) in articles
    return [value] if same_form and not any(answer[:1].isupper() for answer in answers) else []


def _are_words(answers: tuple[str, ...]) -> bool:
    return all(len(answer) == 1 or not (is_value(answer) or TRUTH.fullmatch(answer)) for answer in answers)


def _before(text: str, end: int, answer: str) -> str:
    """The text before an answer that ends at ``end``."""
    start = max(0, end - len(answer) - 60)
    return text[start : max(start, text.rfind(answer, start, end))]


def _value(text: str, start: int, answers: tuple[str, ...]) -> str:
    """The answer that is stated from ``start`` on, or "" if it is a remark."""
    value = statement(text, start)[0].rstrip("*_` $" if text[start] != "$" else "*_` ")
    if value.endswith(")") and value.count("(") < value.count(")"):
        value = value[:-1]
    return value if value and is_answer(value, answers) else ""


def _restates(value: str, answers: tuple[str, ...]) -> bool:
    """Whether an alternative may be the same answer in another unit or rounded: "90 minutes or 1.5 hours"."""
    try:
        other = read_number(normal(_FORM.sub("", value)))
        numbers = [read_number(normal(answer)) for answer in answers]
    except OverLimitError:
        return False
    if other is None:
        return False
    if None in numbers:  # \sqrt2 or 1.414
        return "." in value
    decimals = len(match[1]) if (match := _DECIMALS.search(value)) else 0
    return any(
        number is not None
        and (
            number.value == other.value
            or (number.unit and other.unit and number.unit != other.unit)
            or (decimals and round(number.value, decimals) == other.value)
        )
        for number in numbers
    )
