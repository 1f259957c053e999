# ruff: noqa: E501, RUF001  (words of other languages)
"""The languages that a text may be in, by its letters or its function words."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "de": "der die das ist sind und ein eine einen einem einer mit von für beträgt also damit somit es wir im zu wird hat haben insgesamt daher sich werden braucht kostet dauert folglich genau",
        "nl": "het een dus van de er totaal moet zijn heeft hij zij kost duurt daarom antwoord zich voor blijft hebben betalen",
        "sv": "är och det ett alltså så därför kostar tar den att har finns totalt blir svaret för av",
        "no": "er og det altså derfor koster tar den har totalt svaret av til det",
        "da": "er og det altså derfor koster tager den har alt svaret af til",
        "fr": "le la les est des du une donc et dans pour sont ainsi par il a au elle on ce cette dure coûte mesure faut reste y",
        "es": "el la los las es del por son se tiene tanto lo que entonces en conclusión cuesta mide dura quedan hay respuesta tienen necesitan",
        "pt": "o os as é do da dos das são portanto logo em no na tem custa mede há resposta ele ela assim restam",
        "it": "il lo la gli è di della dello quindi dunque sono pertanto ha costa misura dura si risposta ci restano a pari",
        "ro": "este sunt și deci un în are prin urmare sunt răspunsul la durează",
        "pl": "jest to w z wynosi więc zatem się ma na do trwa kosztuje odpowiedź po czyli ile zostało",
        "cs": "je to v tedy se má na proto celkem jsou trvá stojí zbývá",
        "ru": "в на это равна равен равно ответ значит поэтому стоит и было будет следовательно итак",
        "uk": "в на це дорівнює відповідь отже і тому коштує було",
        "tr": "ve buna göre bu için olarak dolayısıyla toplam vardır olur cevap sonuç saat sınıfta yaşında kalır öğrenci tane yani",
        "id": "adalah dan yang jadi jumlah ada buah harga tersebut orang dengan demikian di oleh sisa umur maka",
        "vi": "là vậy của có số giá đó còn được cần lại tất cả dài nặng",
        "sw": "ni ya kwa jibu hivyo na wa ana alibaki jumla hiyo kuna umri",
        "hu": "az tehát és van így válasz összesen marad kerül",
        "fi": "on siis ja vastaus yhteensä se maksaa kestää",
        "sk": "je to v teda sa má na preto spolu sú trvá stojí odpoveď ostalo",
        "hr": "je to u se ima na dakle stoga ukupno su traje iznosi odgovor košta ostaje",
        "tl": "ang ng sa mga ay na kaya samakatuwid ito siya natira kabuuang sagot may",
        "el": "είναι το ο η και άρα επομένως οι τα",
        "he": "הוא היא של לכן את יש",
    }.items()
}
"""Words that tell a language in Latin letters, Cyrillic, Greek or Hebrew from others."""
_LETTERS = (
    ("\u0e00-\u0e7f", ("th",)), ("گچپژیک", ("fa", "ur", "ar")), ("\u0600-\u06ff", ("ar", "fa")), ("\u0900-\u0963\u0966-\u097f", ("hi", "mr")),
    ("\u0980-\u09ff", ("bn",)), ("\u0b80-\u0bff", ("ta",)), ("\u0c00-\u0c7f", ("te",)),
    ("\u0590-\u05ff", ("he",)), ("\u0370-\u03ff", ("el",)), ("іїєґ", ("uk",)), ("\u0400-\u04ff", ("ru", "uk", "bg")),
)  # fmt: skip
WORD = lazy_compile(r"[^\W\d_]+(?:(?<=[\u0400-\u04ff])['’][\u0400-\u04ff]+)?(?:[\u0900-\u0dff]+[^\W\d_]*)*")


def languages_of(text: str) -> tuple[str, ...]:
    """The languages with a table here that a text may be in, by its letters or its function words."""
    for letters, languages in _LETTERS:
        if re.search(f"[{letters}]", text):
            return languages
    words = {word.lower() for word in WORD.findall(text)}
    hits = {language: len(words & known) for language, known in FUNCTION_WORDS.items()}
    best = max(hits.values())
    return tuple(language for language, count in hits.items() if count == best) if best else ()


def languages_by_letters(text: str) -> tuple[str, ...]:
    return next(
        (languages for letters, languages in _LETTERS if re.search(f"[{letters}]", text)), tuple(FUNCTION_WORDS)
    )
