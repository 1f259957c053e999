"""Answers in words: which texts are words and not mathematics, and when two of them are equal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from grpo_env.lazy_regex import lazy_compile

from ..codes.genetics import differ_in_alleles
from ..parsed import Words
from ..spelling.spellings import ARROW, STATES, greek_in_words, same_spelling, spelled
from ..vocabulary.unit_names import PRODUCT
from .other_names import same_other_name
from .person_names import same_name

MAX_ITEMS = 50  # of lists whose items are compared with each other

_OUTER = " .,;:!?\"'«»„“”‘’「」『』《》〈〉‹›"  # noqa: RUF001
_WORDS = lazy_compile(r"[\"'(]?[^\W\d_](?:[^\W_]|[ .:,;'\"()&%!?/-])*")
_WORD = lazy_compile(r"[A-Za-z]{3,}|(?:[A-Za-z]\.){2}|(?![\u0370-\u03ff])[^\W\d_\x00-\x7f]")
_SHORT_WORDS = frozenset(("no", "ok", "up", "he", "we", "us", "me", "am", "pm"))
_FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "sqrt", "arcsin", "arccos", "arctan", "infty",
    "inf", "det", "pi", "sinh", "cosh", "tanh", "floor", "ceil",
}  # fmt: skip
# 'B' and B), but x' is another letter than x
_LETTER = lazy_compile(
    r"(?:(?:option|choice|answer|statement)\s)?(?:(?P<quote>['\"])|[(\[])?\s?(?P<letter>[A-Za-z])\s?"
    r"(?(quote)[\"')\].:,]*|[)\].:,]*)",
    re.IGNORECASE,
)
_CHOICE = lazy_compile(r"(?:[(\[]\s?([A-Za-z])\s?[)\]][.:]?|([A-Za-z])[).:])\s+(\S.*)", re.DOTALL)
_ANOTHER_CHOICE = lazy_compile(r"[(\[][A-Za-z][)\]]|(?<!\w)[A-Za-z](?:[).:](?:\s|$)|$)")
_HEDGE = lazy_compile(r"\(?(?:or|and|nor)\b|[,;/|]|not\W*$")  # after a letter: not the text of that choice
_MATHEMATICS = lazy_compile(r"[\\^_=<>+*{}]")
_LETTERS = lazy_compile(r"\\(?:begin|end)\{[a-z]*\*?\}|\\[A-Za-z]+|([A-Za-z]{2,})")
_LITTLE_WORDS = {"or", "and", "to", "not", "but", "if", "is", "no", "the", "for", "was", "yes", "wrong"}
_CHINESE = lazy_compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_SEQUENCE = lazy_compile(r"(?<![A-Za-z\\])[A-Z]{3,} [A-Z]{3,}(?![A-Za-z])")  # CAA TCG
TRUTH_VALUES = frozenset(("true", "false", "yes", "no", "t", "f"))
"""A list of these has an order."""
_LABELLED = ("vitamin", "hepatitis", "influenza", "type", "group", "class", "grade", "plan", "option", "team", "part")
_NO_LABEL = "".join(rf"(?<!\b{noun} )" for noun in _LABELLED)  # vitamin A deficiency
_ARTICLE = lazy_compile(rf"\A(?:on|in|at)\s(?=\S\S)|{_NO_LABEL}\b(?:a|an|the)\s(?=\S\S)", re.IGNORECASE)
_CAMEL = lazy_compile(r"(?<=[a-z])(?=[A-Z])")
_STATE = lazy_compile(r"(?<=\w, )[A-Z]{2}(?=$|,| \d{5})")
_LISTED_ONLY = lazy_compile(r"(?:[Oo]nly )?([IVX]+(?:(?:, | and |, and )[IVX]+)*)(?: only)?")
_ONLY_FIRST = lazy_compile(r"\A[Oo]nly (.*)\Z")
_NUMBER_SIGN = lazy_compile(r"(?<=[A-Za-z]{2} )#(?=\d)")
_ARROW = lazy_compile(rf"\s?(?:{ARROW}|>)\s?")
_IS_VERB = lazy_compile(r"(?<= )(?:is|are|was|were)(?= )")
_IS = lazy_compile(r"(?<= )(?:is|are|was|were|[Tt]he|an?)(?= )")
_HYPHENED = lazy_compile(r"(?<![\w-])([^\W\d_]{2,20})\s?[-\u2013]\s?([^\W\d_]{2,20})(?![\w-])")
_ABOUT = lazy_compile(r"(?:about|approximately|approx\.?|around|roughly|circa|ca\.)\s+", re.IGNORECASE)
_PREFIX = lazy_compile(r"\b(e|co|non|anti|multi|semi|pre|post|sub|inter|micro|mid|mini)-(?=[a-z]{3})", re.IGNORECASE)
_ACCENT = lazy_compile("(?<=[A-Za-z])[\u0300-\u036f]+")
_LIST_OF_LISTS = lazy_compile(r"\s*;\s*(?:and\s+)?")
_LIST = lazy_compile(r"\s*,\s*(?:and\s+)?|\s+and\s+|(?<=[\u4e00-\u9fff]{2})[和与、](?=[\u4e00-\u9fff]{2})")


def read_words(text: str) -> Words | None:
    """A text in normal spelling as words, or ``None`` if it is mathematics."""
    if letter := _LETTER.fullmatch(text):
        return Words(letter["letter"])
    choice = _CHOICE.fullmatch(text)
    if choice and not (_ANOTHER_CHOICE.search(choice[3]) or _HEDGE.match(choice[3]) or _MATHEMATICS.search(text)):
        return Words(_plain(text), choice[1] or choice[2], _plain(choice[3]))
    words = _WORD.findall(text)
    if text.casefold() in _SHORT_WORDS:
        return Words(text)
    if not words or PRODUCT.fullmatch(text) or all(word in _FUNCTIONS for word in words):
        return None
    return Words(_plain(text)) if _WORDS.fullmatch(text) else None


def read_prose(text: str) -> Words | None:
    """A formula as words if it contains any that algebra would take for products of letters (``0 or 7``)."""
    if (not text.isascii() and _CHINESE.search(text)) or _SEQUENCE.search(text):
        return Words(_plain(text))
    for word in filter(None, _LETTERS.findall(text)):  # not LaTeX commands
        product = word.isupper() or list(word) == sorted(word) or list(word) == sorted(word, reverse=True)
        prose = word.lower() in _LITTLE_WORDS or (len(word) > 3 and not product)
        if prose and word not in _FUNCTIONS and re.search("[aeiou]", word):
            return Words(_plain(text))
    return None


def same_words(
    one: Words, other: Words, ignore_case: bool, ignore_articles: bool = True
) -> Literal["the same words", "the same choice", "different words"]:
    """Whether two answers in words are equal. Lists of words may be in any order."""
    if _is_range_of_list(one.text, other.text) or _is_range_of_list(other.text, one.text):
        return "different words"
    one, other = (
        Words(only[1], words.choice, words.rest) if (only := _LISTED_ONLY.fullmatch(words.text)) else words
        for words in (one, other)
    )
    if differ_in_alleles(one.text, other.text):
        return "different words"
    first, second = (_cased(words, ignore_case) for words in (one, other))
    if first.text == second.text or _same_list(first.text, second.text, ignore_articles):
        return "the same words"
    if first.text.isascii() != second.text.isascii():  # accents may be left out, but not changed
        first, second = (_without_accents(words) for words in (first, second))
        if _same_list(first.text, second.text, ignore_articles):
            return "the same words"
    if _closed(one.text, ignore_case) == _closed(other.text, ignore_case):
        return "the same words"
    if _in_parts(one.text, ignore_case) == _in_parts(other.text, ignore_case):
        return "the same words"
    if _is_sentence_of(one.text, other.text, ignore_case) or _is_sentence_of(other.text, one.text, ignore_case):
        return "the same words"
    if same_other_name(one.text, other.text) or same_name(one.text, other.text, ignore_case):
        return "the same words"
    if first.choice and second.choice:
        same = (first.choice, first.rest) == (second.choice, second.rest)
    else:
        same = any(a.choice and b.text in (a.choice, a.rest) for a, b in ((first, second), (second, first)))
    return "the same choice" if same else "different words"


def _is_range_of_list(text: str, listed: str) -> bool:
    """Whether a text has a hyphen between two words where the other one has a comma: ``Tue-Thu``, ``Tue, Thu``."""
    pairs = _HYPHENED.findall(text)[:MAX_ITEMS] if "-" in text or "\u2013" in text else ()
    return any(
        re.search(rf"\b{one}(?:\s?[,;&]|\s(?:and|or))\s{other}\b", listed, re.IGNORECASE) for one, other in pairs
    )


def _in_parts(text: str, ignore_case: bool) -> str:
    """``Wi-Fi`` of ``WiFi``, ``Austin, Texas`` of ``Austin, TX``, ``II and III only`` of ``Only II and III``."""
    text = _CAMEL.sub("-", text) if " " not in text else _STATE.sub(_state, text)
    text = _ONLY_FIRST.sub(r"\1 only", text)
    text = _ARROW.sub(" > ", _NUMBER_SIGN.sub("", text))
    return text.casefold() if ignore_case else text


def _is_sentence_of(sentence: str, text: str, ignore_case: bool) -> bool:
    """Whether a text is a sentence without its verb and articles: ``disk full`` for "The disk is full."."""
    if " " not in text or not _IS_VERB.search(sentence) or _IS_VERB.search(text):
        return False
    one, other = (_IS.sub(" ", f" {part} ").split() for part in (sentence, text))
    return [*map(str.casefold, one)] == [*map(str.casefold, other)] if ignore_case else one == other


def _state(match: re.Match[str]) -> str:
    return STATES.get(match[0], match[0])


def _closed(text: str, ignore_case: bool) -> str:
    """``email`` of ``e-mail``, ``cooperate`` of ``co-operate``; and ``no solution`` of ``no solutions``."""
    text = text.casefold() if ignore_case else text
    if "-" in text:
        text = _PREFIX.sub(r"\1", text)
    return text[:-1] if text.startswith("no ") and text.endswith("s") and not text.endswith("ss") else text


def same_greek(words: str, formula: str) -> bool:
    r"""Whether a formula is Greek letters and the words are their names: ``theta_1`` for ``\theta_1``."""
    names = greek_in_words(formula)
    if names is None:
        return False
    return words == names or (names.islower() and words.casefold() == names)


def approximated(text: str) -> str | None:
    """``5`` of ``about 5``; ``None`` for other texts."""
    match = _ABOUT.match(text)
    return text[match.end() :] if match else None


def _same_list(one: str, other: str, without_articles: bool) -> bool:
    """Whether two lists have the same items, in any order unless it matters."""
    first, second = (_listed(text, without_articles) for text in (one, other))
    if first == second or (len(first) != len(second) and _without_commas(one) == _without_commas(other)):
        return True
    if len(first) != len(second) or len(first) > MAX_ITEMS:
        return False
    if len(first) == 1 or _in_order(first) or any(word.casefold() in TRUTH_VALUES for word in first):
        return all(map(same_spelling, first, second))
    left = list(second)
    for item in first:
        match = next((word for word in left if word == item or same_spelling(item, word)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _without_commas(text: str) -> str:
    """``Paris Texas`` for ``Paris, Texas``."""
    return spelled(text).replace(" , ", " ")


@lru_cache(maxsize=4096)
def _listed(text: str, without_articles: bool) -> tuple[str, ...]:
    """The words of a list, sorted if its order does not matter."""
    words = [word.strip(_OUTER) for word in (_LIST_OF_LISTS if ";" in text else _LIST).split(spelled(text))]
    words = [_ARTICLE.sub("", word) for word in words] if without_articles else words
    return tuple(words if _in_order(words) else sorted(words))


def _in_order(words: Sequence[str]) -> bool:
    """Whether the order of a list matters: of truth values, and where an item comes again (up, up, down)."""
    return len(set(words)) < len(words) or all(word.casefold() in TRUTH_VALUES for word in words)


def _without_accents(words: Words) -> Words:
    """The words without the accents of Latin letters: ``cafe`` for ``café``."""
    text = _ACCENT.sub("", unicodedata.normalize("NFD", words.text))
    return Words(unicodedata.normalize("NFC", text), words.choice, words.rest)


def _cased(words: Words, ignore_case: bool) -> Words:
    return Words(words.text.casefold(), words.choice.casefold(), words.rest.casefold()) if ignore_case else words


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(_OUTER)
