# ruff: noqa: E501, RUF001  (words of other languages)
"""Times of day in words of other languages: halb acht, las tres y cuarto, пів на третю, पौने चार बजे, 七点半."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from grpo_env.lazy_regex import lazy_compile

from .clock_words import LANGUAGES, MINUTES_OF, NAMED, OTHER_FORMS, SpokenClock, clock_time, one_of
from .counting import numbers_below
from .east_asian_clocks import DIGIT, UNSPACED, east_asian
from .numerals import in_figures
from .which_language import languages_of

MAX_LENGTH = 240
_SLOT = lazy_compile(r"\{(\w+)\}")
_KEY = lazy_compile(r"[^\W\d_]{3,}(?=[^\W\d_]\?)|(?<![^\W\d_])[^\W\d_]{3,}(?![^\W\d_]|\?)")
_FORM = lazy_compile(r"(?P<offset>[+-]?\d+)?(?P<sign>[+-])?(?:m)?(?P<needs>[!?])? .*")
_PLAIN = lazy_compile(
    r"(?:\d+|over|i|e|y|a|o|na|do|la|las|le|para|menos|meno|half|[ :.])+"
)  # no time without other words
_EDGE = r"\w\u0900-\u0963\u0966-\u0dff"
_TANWIN = lazy_compile("[\u064b-\u0652]")
_SCRIPTS = (
    ("\u0e00-\u0e7f", ()), ("\u0600-\u06ff", ("ar", "fa", "ur")), ("\u0900-\u0963\u0966-\u097f", ("hi",)), ("\u0980-\u09ff", ("bn",)),
    ("\u0590-\u05ff", ("he",)), ("\u0370-\u03ff", ("el",)), ("\u0400-\u04ff", ("ru", "uk", "bg")),
)  # fmt: skip
_OTHERS = ("ru", "uk", "bg", "ar", "fa", "ur", "hi", "bn", "he", "el")
_LATIN = tuple(language for language in LANGUAGES if language not in _OTHERS)
_SHORT = {
    "sv": (" i ", " på "),
    "no": (" på ",),
    "da": (" i ",),
    "pt": (" e ",),
    "it": (" e ",),
    "es": (" y ",),
    "pl": (" o ", "o "),
}
"""Short words that stand in times of these languages."""


def spoken_clock(text: str, whole: bool = False) -> SpokenClock | None:
    """The time of day that a text tells in words of another language, as its only number; ``whole`` if it is all of it."""
    if len(text) > MAX_LENGTH:
        return None
    text = _plain(text)
    if named := NAMED.get(text.strip(" .。")):
        return SpokenClock(named, "")
    return _found(text, whole)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFC", _TANWIN.sub("", text)) if not text.isascii() else text
    return text.replace("’", "'").replace("İ", "i").lower().strip()


@lru_cache(maxsize=256)
def _found(text: str, whole: bool) -> SpokenClock | None:
    if not text.isascii() and UNSPACED.search(text):
        return east_asian(text, whole)
    candidates = _candidates(text)
    sure = languages_of(text) if candidates else ()
    likely = tuple(language for language in candidates if language in sure)
    for languages in (likely, candidates):
        found = {clock for language in languages if (clock := _told(text, language, whole))}
        if found:  # the language that tells it with most of the words
            least = min(len(clock.rest.split()) for clock in found)
            best = [clock for clock in found if len(clock.rest.split()) == least]
            return best[0] if len({clock.time for clock in best}) == 1 else None
    return None


def _candidates(text: str) -> tuple[str, ...]:
    """The languages that a text may be in."""
    if not text.isascii():
        for letters, languages in _SCRIPTS:
            if re.search(f"[{letters}]", text):
                return languages
    return tuple(language for language in _LATIN if any(hint in text for hint in _hints(language)))


def _told(text: str, language: str, whole: bool) -> SpokenClock | None:
    """The time that a text tells in one language, once."""
    pattern = _pattern(language)
    for match in pattern.finditer(text):
        rest = f"{text[: match.start()]} {text[match.end() :]}"
        if whole and rest.strip(" .,!"):
            continue
        if _PLAIN.fullmatch(match[0]) and language not in languages_of(text):
            continue  # 6 over 5
        if DIGIT.search(in_figures(rest, (language,)) or rest) or pattern.search(rest):
            continue
        groups = {name: value for name, value in match.groupdict().items() if value is not None}
        form = _FORM.fullmatch(_forms(language)[next(int(name[1:]) for name in groups if name[0] == "f")])
        assert form is not None
        near = {_part(language, groups[side]) for side in ("before", "behind") if side in groups}
        is_marked = "behind" in groups or ("before" in groups and ("at" in groups or not LANGUAGES[language].at))
        if (form["needs"] == "!" and not is_marked) or (form["needs"] == "?" and not (is_marked or "at" in groups)):
            continue
        parts = near or {_part(language, word[0]) for word in _parts(language).finditer(rest)}
        if len(parts) > 1:
            continue
        minutes = int(form["offset"] or 0)
        if (said := next((groups[name] for name in groups if name[0] == "m"), None)) is not None:
            minutes += _minutes(language)[said] * (-1 if form["sign"] == "-" else 1)
        hour = next((_hours(language)[groups[name]] for name in groups if name[0] == "h"), 0)
        hour += LANGUAGES[language].later
        if time := clock_time(hour, minutes, next(iter(parts), "")):
            return SpokenClock(time, _parts(language).sub(" ", rest))
    return None


@lru_cache(maxsize=64)
def _hints(language: str) -> tuple[str, ...]:
    """Words of which a time in a language has one, which are cheap to look for."""
    words = _KEY.findall(
        f"{_SLOT.sub(' ', ' '.join(_forms(language)))} {' '.join(_part_words(language))} {LANGUAGES[language].at}"
    )
    return (*_SHORT.get(language, ()), *dict.fromkeys(words))


@lru_cache(maxsize=64)
def _forms(language: str) -> tuple[str, ...]:
    return tuple(form.strip() for form in unicodedata.normalize("NFC", LANGUAGES[language].forms).split(";"))


@lru_cache(maxsize=64)
def _hours(language: str) -> dict[str, int]:
    """The words for hours in all their forms."""
    hours = {str(hour): hour for hour in range(25)} | {
        word: value for word, value in numbers_below(language, 25).items() if value or word
    }
    lists = [LANGUAGES[language].hours, *(words for (of, _), words in OTHER_FORMS.items() if of == language)]
    for words in lists:
        for hour, forms in enumerate(words.split(), 1):
            hours.update((form.replace("-", " "), hour) for form in forms.split("/"))
    return hours


@lru_cache(maxsize=64)
def _minutes(language: str) -> dict[str, int]:
    """The words for minutes, in figures too."""
    others = dict(pair.replace("-", " ").split("=") for pair in MINUTES_OF.get(language, "").split())
    figures = {f"{minute:0{width}}": minute for minute in range(60) for width in (1, 2)}
    return figures | numbers_below(language, 60) | {word: int(value) for word, value in others.items()}


@lru_cache(maxsize=64)
def _part_words(language: str) -> dict[str, str]:
    """The words for parts of the day, and which they are."""
    classes = (words.split(None, 1) for words in LANGUAGES[language].parts.split(";"))
    return {word.strip(): name for name, words in classes for word in words.split("|")}


@lru_cache(maxsize=64)
def _parts(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![{_EDGE}])(?:{one_of(_part_words(language))})(?![{_EDGE}])")


def _part(language: str, word: str) -> str:
    words = _part_words(language)
    return words.get(word) or next(words[pattern] for pattern in words if re.fullmatch(pattern, word))


@lru_cache(maxsize=64)
def _pattern(language: str) -> re.Pattern[str]:
    """All that a language says for times, with the number of the form in the name of its group."""
    spec = LANGUAGES[language]
    words = numbers_below(language, 13)
    of_hours = {
        hour: value for hour, value in _hours(language).items() if hour.isdigit() or hour in numbers_below(language, 25)
    }
    special = {name: listed for (of, name), listed in OTHER_FORMS.items() if of == language}
    own = _listed(spec.hours)
    to_12 = own or [word for word, value in words.items() if 0 < value < 13]
    digits = r"1[0-2]|[1-9]" if not LANGUAGES[language].later else ""
    names = {
        "h": "|".join(filter(None, (one_of(to_12), digits))),
        "H": one_of([*of_hours, *own]),
        "L": one_of(hour for hour, value in of_hours.items() if value > 12),
        "m": one_of(_minutes(language)),
        **{name: one_of(_listed(listed)) for name, listed in special.items()},
    }
    forms = []
    for number, form in enumerate(_forms(language)):
        _, _, template = form.partition(" ")
        forms.append(f"(?P<f{number}>{_filled(template, names, number)})")
    parts, exact = one_of(_part_words(language)), spec.exact and rf"(?: ?(?:{spec.exact}))?"
    at = f"(?P<at>{spec.at})?" if spec.at else ""
    return re.compile(
        rf"(?<![{_EDGE}.,:])(?:(?P<before>{parts}),? )?{at}(?:{'|'.join(forms)}){exact}(?:,? (?P<behind>{parts}))?(?![{_EDGE}:%]|[.,]\d)"
    )


def _listed(words: str) -> list[str]:
    return [form.replace("-", " ") for forms in words.split() for form in forms.split("/")]


def _filled(template: str, names: dict[str, str], number: int) -> str:
    """A form with the words that it may have for its hour and its minutes."""
    count = iter(range(9))

    def fill(match: re.Match[str]) -> str:
        kind = "m" if match[1] == "m" else "h"
        return f"(?P<{kind}{number}_{next(count)}>{names[match[1]]})"

    return _SLOT.sub(fill, template)
