# ruff: noqa: E501, RUF001  (words of other languages)
"""Sentences in other languages that end in the answer: "Damit kostet es 18 Euro.", 所以面积是36平方厘米。, 각의 크기는 45도입니다.

Such a sentence is read if it is all of the text, or if it or its last clause begins with a word for "therefore". Of it
only the value at its end is read, and only if nothing else in it is a number, and no word denies, doubts or compares.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import pairwise

from grpo_env.lazy_regex import lazy_compile

from ..languages.clocks import spoken_clock
from ..languages.east_asian import in_our_years
from ..languages.foreign_text import FORMULA, uses_other_language
from ..languages.numerals import in_figures, with_halves
from ..languages.translated import (
    CONDITION_AT_END,
    NO_SOLUTION,
    in_english,
    joined_in_english,
    truth_in_english,
    unit_in_english,
)
from ..languages.which_language import languages_of
from ..vocabulary.currencies import SIGNS
from ..vocabulary.foreign_conclusions import (
    ARTICLE,
    IS,
    IS_AT_END,
    PER,
    SINCE,
    STATEMENT,
    STATEMENT_INSIDE,
    THEREFORE,
    THEREFORE_BEFORE_THE_VALUE,
    THEREFORE_BEHIND_THE_VERB,
    YES_OR_NO,
)
from ..vocabulary.foreign_doubts import (
    BEFORE_OR_AFTER,
    COMPARES,
    COMPARES_INSIDE,
    DENIES,
    DENIES_INSIDE,
    EXCEPT_OR_EVERY,
    NEAR_A_TIME,
    NEAR_A_TIME_INSIDE,
)
from ..vocabulary.foreign_words import MONTHS, WEEKDAYS

MAX_LENGTH = 240

_STARTS = lazy_compile(rf"\W{{0,4}}(?:{THEREFORE})", re.IGNORECASE)
_INSIDE = lazy_compile(rf"(?:[^\s,;:.!?]+\s){{1,4}}(?:{THEREFORE_BEHIND_THE_VERB})[\s,]", re.IGNORECASE)
_CLAUSE = lazy_compile(rf"[,，、;；:：]\s?(?={THEREFORE})", re.IGNORECASE)
_SENTENCE_END = lazy_compile(r"(?<!\b\w)[.!](?:\s+(?=[^\d\s])(?![a-zà-ÿа-яё])|\Z)|[。！।؟?？｡]|．(?=\s|\Z)|\n")
_IN_WORD = r"[\w\u0900-\u0963\u0966-\u0dff]"  # signs of vowels are no \w
_AGAINST = lazy_compile(
    rf"(?<!{_IN_WORD})(?:{DENIES}|{COMPARES}|avant|antes|sebelum|trước|przed|sau)(?!{_IN_WORD})"
    rf"|{DENIES_INSIDE}|{COMPARES_INSIDE}",
    re.IGNORECASE,
)
_QUALIFIED = lazy_compile(rf"(?<!\w)(?:{PER})(?!\w)", re.IGNORECASE)
_AGAINST_TIME = lazy_compile(
    rf"(?<!{_IN_WORD})(?:{DENIES}|{NEAR_A_TIME}|{BEFORE_OR_AFTER})(?!{_IN_WORD})|{DENIES_INSIDE}|{NEAR_A_TIME_INSIDE}",
    re.IGNORECASE,
)
_TIME_WITH_POINT = lazy_compile(
    r"(?<!\w)(?:saat|kl|kl\.|klokken|klockan|klo|pukul|godz\.|godzinie|alle|ore) (?P<hour>[01]?\d|2[0-3])\.(?P<minute>[0-5]\d)(?!\d|[.,]\d|\s?(?:€|%|euro|kg|km|m)\b)",
    re.IGNORECASE,
)
_HOURS_AND_A_HALF = lazy_compile(r"(\d{1,3}) (?:heures? et demie|giờ rưỡi)")
_TURKISH_COPULA = lazy_compile(r"(?<=\w)['’]?[dt][ıiuü]r\Z")
_QUESTION = lazy_compile(r"[?？؟¿]")
_DIGITS = lazy_compile(r"\d")
_CALCULATED = lazy_compile(
    r"\A(?:[\d\s.,+\-−–*/×·⋅÷:%％()（）^]|\\(?:times|cdot|div|frac|,|;)|[{}$]|[²³]){2,80}(?:=|＝)\s?"
)
_OPERATOR_AT_END = lazy_compile(r"(?:[±∓+*/^<>≤≥≠≈~|]|\\(?!quad|text)[A-Za-z]+|[A-Za-z]\s?[-−])[\s${(]*\Z")
_PAREN = lazy_compile(r"\\[(\[]|\\[)\]]")
_START_OF_VALUE = lazy_compile(
    rf"(?:(?<!\w)(?:[A-Z]{{1,3}})?[{SIGNS}]\s?|(?<!\w)(?:Rp|Rs|Sh|Tsh|Ksh|S/|R\\?\$|US\$|€|kr)\.?\s?|[-−–](?=\s?\d)|\\[$]|%\s?)?\d"
    r"|[-−]?[√π∞\[\](]\s?(?=[-−]?[\d√π∞\\])|\\(?:frac|dfrac|tfrac|sqrt|pi|infty|\{)|\{(?=-?\d)|(?:上午|下午|午前|午後|오전|오후|早上|晚上)\s?(?=\d)"
    r"|(?<![\w\\])[A-Za-z](?![^\W\d_²³])(?=[^A-Za-z\u0100-\u21ff\u2300-\uffff]{0,40}(?:[A-Za-z](?![A-Za-z])[^A-Za-z\u0100-\u21ff\u2300-\uffff]{0,40}){0,4}"
    r"(?:[=＝<>≤≥⩽⩾∈]|\\(?:le|ge|in)))|百分之|[①-⑳]"
)
_LAST_WORD = lazy_compile(r"(\S+)\s+\Z")
_TIME = lazy_compile(r"\d{1,2}(?:[:.h]|\s?(?:Uhr|heures?))")
_BARE = lazy_compile(r"[-\d.,\s]+")
_MATH_NAME = lazy_compile(r"\$\s?\\?[A-Za-z](?:_\{?\w\}?)?\s?\$")
_IS = lazy_compile(rf"\s(?:{IS})\s|(?<=\w)[是为為](?=\w)|は(?=\w)|(?<=[\uac00-\ud7af])[은는]\s")
_STATEMENT = lazy_compile(
    rf"(?:(?:{STATEMENT})(?!\w*[-])[^.!?\n,;:]{{0,60}}?(?:\s|เป็น)"
    rf"|(?:{STATEMENT_INSIDE})[^。，,、]{{0,20}}?[是为為은는がはも이가 ]\s?)"
    r"(?P<truth>[^\W\d_][^\s\d.,]*)\Z",
    re.IGNORECASE,
)
_ARTICLE = lazy_compile(rf"\A(?:es )?(?:{ARTICLE})\s", re.IGNORECASE)
_TRUTH_IN_CLAUSE = lazy_compile(  # "Poiché 9 + 16 = 25, sì, il triangolo è rettangolo."
    rf"(?:{SINCE})(?!\w)[^.!?\n]{{3,120}}?,\s(?P<rest>(?:{YES_OR_NO}),\s[^!?\n]{{3,100}})",
    re.IGNORECASE,
)
_ADVERB = lazy_compile(rf"(?:{THEREFORE_BEFORE_THE_VALUE})\s", re.IGNORECASE)
_COPULA = lazy_compile(rf"\s?(?:{IS_AT_END})\Z")
_LETTERS = lazy_compile(
    r"[A-H](?:(?:\s?[、,，]\s?|\s?[和与、]\s?|\s(?:y|e|et|und|en|och|og|i|и|ve|và|dan|e)\s)[A-H]){1,5}"
)
_IN_DAYS = lazy_compile(r"(?<!\w)(?:fra|tra) (?=\d+ (?:giorn|or|ann|mes|minut|settiman))")  # not "between"
_DAY_OF_MONTH = lazy_compile(
    rf"\d{{1,2}}(?:\.|er|º|°)?\s(?:de |di |d')?(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})(?!\w)",
    re.IGNORECASE,
)
_NOT_BEFORE = lazy_compile(r"(?:不是|并非|非|不|或|而不|可能)\s?\Z|不是|并非|不可能")
_ANSWERED = lazy_compile(r"\s{0,3}答[:：]\s?(?=[^\d]{1,4}\Z)")
_LAST_CLAUSE = lazy_compile(r"(?<=[,،，;؛])[^,،，;؛\d]{4,120}\Z")
_SEVERAL = lazy_compile(r"[,，、;；]|\s(?:und|et|y|e|i|и|en|och|og|ve|và|dan)\s|[和与と]")


def conclusion(text: str) -> str | None:
    """The sentence or clause at the end of a text in another language that is its conclusion; ``None`` for no such."""
    text = text.strip()
    sentences = _split(text[-1200:])
    if not sentences or len(sentences[-1]) > MAX_LENGTH or text[-1:] in "?？؟":
        return None
    last = sentences[-1]
    if not uses_other_language(last):
        return None
    if truth_in_english(last):
        return last
    clauses = list(_CLAUSE.finditer(last))
    if clauses:
        return last[clauses[-1].end() :]
    return last if len(sentences) == 1 or _STARTS.match(last) or _INSIDE.match(last) else None


def values_at_end(sentence: str, without_unit: bool) -> Iterator[str]:
    """The value that ends a sentence in another language, if it is the only one there.

    Words behind it may be left out, but not all of them if they may be its unit, unless it may stand ``without_unit``.
    """
    if len(sentence) > MAX_LENGTH or _QUESTION.search(sentence):
        return
    if not sentence.isascii():
        sentence = in_our_years(sentence)
    if (condition := CONDITION_AT_END.search(sentence.strip(" .。"))) and not _NOT_BEFORE.search(
        sentence[: condition.start()]
    ):
        yield condition[0]
    if NO_SOLUTION.fullmatch(_STARTS.sub("", sentence.strip(" .。"), count=1).strip(" ,，")):
        yield "no solution"
        return
    if truth := _TRUTH_IN_CLAUSE.fullmatch(sentence):
        yield truth["rest"]
    if weekday := _only_weekday(sentence):
        yield weekday
    yield from _values(with_halves(sentence), without_unit)
    time = _TIME_WITH_POINT.search(sentence)
    if time and not _AGAINST_TIME.search(sentence) and not _DIGITS.search(_TIME_WITH_POINT.sub("", sentence, count=1)):
        yield f"{time['hour']}:{time['minute']}"
    languages = languages_of(sentence)
    plain = _TURKISH_COPULA.sub("", sentence.strip(" .")) if "tr" in languages else sentence
    if clock := spoken_clock(plain):
        if not _AGAINST_TIME.search(_STARTS.sub("", clock.rest, count=1)):
            yield clock.time
            if hours := _HOURS_AND_A_HALF.search(in_figures(plain, languages) or plain):
                yield f"{hours[1]}.5 h"
        return
    if figures := in_figures(plain, languages):
        yield from _values(figures, without_unit)


def _only_weekday(sentence: str) -> str | None:
    """The only day of the week in a sentence, if it ends it but for a verb and nothing is counted from it."""
    found = list(_WEEKDAY.finditer(sentence.casefold()))
    if len(found) != 1:
        return None
    lead, rest = sentence[: found[0].start()], sentence[found[0].end() :].strip(" .。।!")
    if (
        len(rest.split()) > 1
        or _AGAINST.search(f"{_STARTS.sub('', lead, count=1)} {rest} ")
        or _COUNTED_FROM.search(lead + rest)
    ):
        return None
    if _DIGITS.search(in_figures(lead, languages_of(sentence)) or lead):
        return None
    return WEEKDAYS[found[0].group()]


_WEEKDAY = lazy_compile(
    rf"(?<![^\W\d_])(?:{'|'.join(re.escape(word) for word in sorted(WEEKDAYS, key=len, reverse=True) if not re.match('[一-鿿]', word))})(?![^\W\d_])"
)
_COUNTED_FROM = lazy_compile(rf"(?<!{_IN_WORD})(?:{BEFORE_OR_AFTER}|da|{EXCEPT_OR_EVERY})(?!{_IN_WORD})", re.IGNORECASE)


def _values(sentence: str, without_unit: bool) -> Iterator[str]:
    """The value that ends a sentence, with the numbers as they stand."""
    sentence = _PAREN.sub("$", sentence.strip()).rstrip(" .。｡।!！．*").replace("**", "")
    start = _start(sentence)
    said = deque(_IS.finditer(sentence), maxlen=1)
    if start is None or (said and not _DIGITS.search(sentence, said[0].end())):
        yield from _words_at_end(sentence)
    elif clause := _LAST_CLAUSE.search(sentence):  # "Since 17 is odd, the statement is false."
        yield from _truth_at_end(clause[0])
    if start is None:
        return
    before = _LAST_WORD.search(sentence[:start])
    if before and unit_in_english(before[1]) and not _TIME.match(sentence, start):  # mililita 10
        start = before.start()
    lead, value = sentence[:start], sentence[start:]
    if NO_SOLUTION.fullmatch(value.replace("$", "").replace("=", " ")):  # only then
        return
    if _OPERATOR_AT_END.search(lead):
        return
    if _AGAINST.search(_STARTS.sub("", lead, count=1) + " ") or _DIGITS.search(_MATH_NAME.sub("", lead)):
        return
    if (calculated := _CALCULATED.match(value)) and re.search("[+\\-−×·*/÷:]|\\\\", calculated[0][1:-1].strip()):
        value = value[calculated.end() :]
    if in_english(value) is None and _QUALIFIED.search(value):
        return
    solutions = joined_in_english(value) if value.count("=") > 1 else None
    if solutions is not None or in_english(value):
        yield value
    if solutions is None and _AGAINST.search(FORMULA.sub(" ", value)):
        return
    yield value
    if shorter := _COPULA.sub("", value):
        value = shorter if shorter != value else value
        yield shorter
    if _DAY_OF_MONTH.match(value):
        return
    for end in _ends(value):
        if without_unit or not _BARE.fullmatch(value[:end]):
            yield value[:end].rstrip(" ,")


def _words_at_end(sentence: str) -> Iterator[str]:
    """What a sentence says that something is, if that is no number: 甲 of 成绩更稳定的是甲; what follows 答."""
    if answered := _ANSWERED.match(sentence):
        words = sentence[answered.end() :].rstrip(" 。.")
        if truth_in_english(words) or not _AGAINST.search(words):
            yield words
    rest = _STARTS.sub("", sentence, count=1).strip(" ,，。.")
    if len(rest) < min(len(sentence) - 2, 40) and len(rest.split()) <= 3 and not _AGAINST.search(rest):
        yield rest
    yield from _truth_at_end(sentence)
    said = deque(_IS.finditer(sentence), maxlen=1)
    if not said or _AGAINST.search(_IN_DAYS.sub("", _STARTS.sub("", sentence[: said[0].start()], count=1)) + " "):
        return
    words = _ADVERB.sub("", sentence[said[0].end() :].strip(" :：")).strip()
    if _LETTERS.fullmatch(words):
        yield ", ".join(re.findall("[A-H]", words))
    if _SEVERAL.search(sentence, said[0].end()):
        return
    if _AGAINST.search(words) and not truth_in_english(words):
        return
    yield words
    if (shorter := _COPULA.sub("", words)) != words:
        yield shorter
    if (shorter := _ARTICLE.sub("", words)) != words:
        yield shorter


def _truth_at_end(sentence: str) -> Iterator[str]:
    """``false`` of a statement about a statement: "L'affirmation est donc fausse.", 所以该命题为假命题."""
    plain = _COPULA.sub("", sentence.strip(" .。")) if not sentence.isascii() else sentence.strip(" .")
    match = _STATEMENT.search(plain)
    if match is None or _AGAINST.search(_STARTS.sub("", plain[: match.start("truth")], count=1) + " "):
        return
    if truth := truth_in_english(match["truth"]):
        yield truth


def _start(sentence: str) -> int | None:
    """Where the value begins: the first formula that is no name, else the first number or relation."""
    for match in re.finditer(r"\$[^$]+\$", sentence):
        if not _MATH_NAME.fullmatch(match[0]):
            before = _START_OF_VALUE.search(sentence[: match.start()])
            return before.start() if before else match.start()
    first = _START_OF_VALUE.search(sentence)
    return first.start() if first else None


def _ends(value: str) -> Iterator[int]:
    """Where the value may end before other words: after its last digit, and after each word behind it."""
    last = max((match.end() for match in re.finditer(r"[\d$})\]%％°²³①-⑳]", value)), default=0)
    rest = value[last:]
    if not last or len(rest.split()) > 5:
        return
    spaces = [match.start() for match in re.finditer(r"\s|(?<=[\uac00-\ud7af])(?=[에으로의을를이가])", rest.rstrip())]
    for at in [*reversed(spaces), *range(min(3, len(rest)) if not rest.isascii() else 0)]:
        if at > 0:
            yield last + at
    if rest and not rest[0].isalnum():
        yield last


def _split(text: str) -> list[str]:
    """The sentences of a text; a formula in dollars is not split."""
    hidden = re.sub(r"\$[^$]*\$", lambda match: "x" * len(match[0]), text)
    edges = [0, *(match.end() for match in _SENTENCE_END.finditer(hidden)), len(text)]
    parts = [text[start:end].strip() for start, end in pairwise(edges)]
    return [part for part in parts if part.strip(" .*_#")]
