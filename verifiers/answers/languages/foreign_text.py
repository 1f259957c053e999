# ruff: noqa: RUF001, SIM905  (words of other languages)
"""Whether a text is in another language than English, and in one that writes decimals with a comma."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.foreign_conclusions import THEREFORE, THEREFORE_IN_ENGLISH
from .clocks import spoken_clock
from .numerals import in_figures
from .which_language import FUNCTION_WORDS, languages_of

_OTHER_LETTERS = lazy_compile(
    "[\u0400-\u04ff\u0590-\u05ff\u0600-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|[\u0370-\u03ff]{3}"
)
_WITH_COMMAS = lazy_compile("[\u0400-\u04ff]|[\u0370-\u03ff]{3}")
# Words of languages in Latin letters that tell them from English.
_SHARED_WORDS = frozenset(
    """
    is in on to a at av of for we so it me hat alt tar hay total son de en y i z na da se do au on hon genau
    """.split()
)
_FUNCTION_WORDS = (frozenset().union(*FUNCTION_WORDS.values()) - _SHARED_WORDS) | frozenset(
    """
    der die das ist sind und ein eine einen mit von für beträgt also damit somit nicht den dem es wir le la les
    est des du un une donc et dans pour sont ainsi par l d el los las es del por son una o os as é do da dos um
    uma são portanto logo il lo gli è di della dello un' quindi dunque sono het van een dus jest to w z wynosi
    więc zatem odpowiedź za bir ve cevap göre için olarak bu är och det ett er og alltså så là vậy của có số giá
    adalah dan yang jadi jumlah je tedy este deci și az tehát on siis ni ya kwa jibu hivyo
    """.split()
)
_SURE_WORDS = frozenset(
    """
    antwort lautet beträgt ergebnis lösung réponse résultat respuesta resultado solución resposta risposta
    risultato antwoord resultaat odpowiedź wynik svaret svar cevap sonuç jawabannya jawaban vastaus vastus
    válasz odpověď výsledek răspunsul odgovor jibu đáp ist est è é är jest este adalah là wynosi rezultatul
    resultatet eredmény tulos hasilnya het dus kết kostet dauert wiegt coûte mesure cuesta mide dura pesa costa
    misura kosztuje zapłacono gesuchte uzunluk doğru alternativa correta masa
    """.split()
)
_LARGE = frozenset(
    """
    millionen millones millón milhões milhão milioni milione miljoen miljoner milionów miliony milyon millió
    milioane milliarden tausend
    """.split()
)
_REMARKS = frozenset(
    """
    nein moment falsch stimmt korrigierte korrektur attends faux espera não corrección aspetta nej nie hayır
    không
    """.split()
)
_WITHOUT_COMMAS = frozenset("ni ya kwa jibu hivyo jumla gharama".split())
_ENGLISH = frozenset(
    """
    the is of and so that are was to it in we she he has have this which therefore for be
    """.split()
)
_ASCII_LETTERS = lazy_compile("[A-Za-z]")
_WORD = lazy_compile(r"(?<!\\)[^\W\d_]+")
FORMULA = lazy_compile(r"\$[^$]*\$|\\[A-Za-z]+")
"""What has no words of a language."""
_STARTS_FOREIGN = lazy_compile(rf"\W{{0,4}}(?!(?:{THEREFORE_IN_ENGLISH})\b)(?:{THEREFORE})", re.IGNORECASE)


def uses_commas(text: str) -> bool:
    """Whether a text is in a language, other than English, in which decimals have a comma."""
    text = FORMULA.sub(" ", text[-1000:])
    if not text.isascii() and _OTHER_LETTERS.search(text):
        return _WITH_COMMAS.search(text) is not None
    words = _latin_words(text)
    return (
        _is_foreign(words) or bool(words & _LARGE) or _STARTS_FOREIGN.match(text) is not None
    ) and not words & _WITHOUT_COMMAS


def uses_other_language(text: str) -> bool:
    """Whether a text is in another language than English."""
    plain = FORMULA.sub(" ", text[-1000:])
    if not plain.isascii():
        others = len(_OTHER_LETTERS.findall(plain))
        if others and 2 * others > len(_ASCII_LETTERS.findall(plain)):
            return True
    words = _latin_words(plain)
    if words & _LARGE or (len(words) < 12 and not words & _ENGLISH and _has_number(plain[-160:])):
        return True
    return bool(words & _REMARKS) or _STARTS_FOREIGN.match(plain) is not None or _is_foreign(words)


def _has_number(text: str) -> bool:
    """Whether a text has a number or a time of day in words of another language."""
    return in_figures(text, languages_of(text)) is not None or spoken_clock(text) is not None


def _latin_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text) if len(word) == 1 or not word.isupper())


def _is_foreign(words: frozenset[str]) -> bool:
    accented = any(not word.isascii() for word in words)
    foreign = len(words & _FUNCTION_WORDS) + 2 * len(words & _SURE_WORDS) + accented
    return foreign > max(1, 2 * len(words & _ENGLISH))
