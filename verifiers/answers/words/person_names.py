"""Names that are written in several ways: ``Franklin D. Roosevelt``, ``Smith, John``, ``King Henry the Eighth``.

What is left out is never guessed: George W. Bush is not George H. W. Bush, and Roosevelt alone is nobody.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..spelling.spellings import ABBREVIATIONS, same_spelling, spelled

MAX_LENGTH = 120

_TITLES = (
    "king|queen|dr|doctor|mr|mrs|ms|president|prof|professor|sir|pope|emperor|captain|capt|lieutenant|lt|sergeant|sgt"
    "|colonel|col|senator|sen|governor|gov|representative|rep|reverend|rev|judge|justice|chancellor"
)
_TITLE = lazy_compile(rf"(?:the )?(?P<title>{_TITLES})\b\.? (?=\S+ \S)", re.IGNORECASE)
_DEGREE = lazy_compile(r"(?<= )(?P<name>\S+),? (?:Ph\.? ?D\.?|M\.D\.?|D\.Phil\.?|Esq\.?)", re.IGNORECASE)
_LAST_FIRST = lazy_compile(
    r"([A-Z][\w'\u2019-]+(?: [A-Z][\w'\u2019-]+)?), ((?:[A-Z][\w'\u2019.-]*)(?: [A-Z][\w'\u2019.-]*){0,2})"
)
_TRUTHS = frozenset(("true", "false", "yes", "no"))
_SHORT = lazy_compile(r"[^\W\d_]{1,5}\.")
_LABELS = frozenset(("vitamin", "hepatitis", "influenza", "type", "group", "class", "grade", "plan", "option", "team"))
_THE = lazy_compile(r"(?<=\w )the (?=\d)", re.IGNORECASE)  # Henry the 8th
_COLON = lazy_compile(r"[:,](?=\s)")


def same_name(one: str, other: str, ignore_case: bool) -> bool:
    """Whether two texts are the same name, which neither exact words nor usual abbreviations show."""
    if max(len(one), len(other)) > MAX_LENGTH or " " not in one or " " not in other:
        return False
    if (":" in one) != (":" in other):  # The Godfather: Part II
        one, other = _COLON.sub("", one), _COLON.sub("", other)
    one, other = _without_title(one, other), _without_title(other, one)
    if (", " in one) != (", " in other):
        one, other = _first_name_first(one), _first_name_first(other)
    if ignore_case:
        return _same(one.casefold(), other.casefold(), one.istitle() or other.istitle() or "." in one + other)
    return _same(one, other, True)


def _same(one: str, other: str, are_names: bool) -> bool:
    first, second = (_THE.sub("", spelled(name)) for name in (one, other))
    return same_spelling(first, second) or (are_names and _same_initials(one.split(), other.split()))


def _without_title(name: str, other: str) -> str:
    """A name without the title before it and the degree behind it, if the other one has none."""
    degree = _DEGREE.search(name)
    if degree and degree.end() == len(name) and not _DEGREE.search(other):
        name = name[: degree.end("name")]
    title = _TITLE.match(name)
    return name[title.end() :] if title and not _TITLE.match(other) else name


def _first_name_first(name: str) -> str:
    """``John Smith`` of ``Smith, John``."""
    match = _LAST_FIRST.fullmatch(name)
    if match is None or match[1].lower() in _TRUTHS or match[2].lower() in ("jr.", "sr.", "jr", "sr"):
        return name
    return f"{match[2]} {match[1]}"


def _same_initials(one: list[str], other: list[str]) -> bool:
    """Whether two names have the same words, of which some are only their beginning, but not the last one."""
    if len(one) != len(other) or len(one) < 2:
        return False
    befores = ["", *one[:-1]]
    pairs = list(zip(one, other, befores, strict=True))
    return _same_last(one[-1], other[-1]) and all(_begins(*pair) for pair in pairs[:-1])


def _same_last(one: str, other: str) -> bool:
    return one.strip(".,") == other.strip(".,")


def _begins(one: str, other: str, before: str) -> bool:
    """Whether two words are the same, or one is the beginning of the other: with a period, or as a middle initial."""
    if one.strip(".,") == other.strip(".,"):
        return True
    short, word = sorted((one, other), key=lambda part: len(part.rstrip(".")))
    is_initial = len(short) == 1 and short.isalpha() and before and before not in _LABELS
    if not (is_initial or _SHORT.fullmatch(short)):
        return False
    beginning = short.rstrip(".")
    if beginning.casefold() in ABBREVIATIONS:  # St. John is not Steven John
        return False
    return word.isalpha() and len(word) > len(beginning) + 1 and word.startswith(beginning)
