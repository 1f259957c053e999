r"""Letters of choices and sizes.

A choice with its text (``option C, Tuesday``, ``\textbf{(B)}\ 18``), of which one of the two may be the gold answer;
several letters (``ACD``, ``Options C and A``); sizes (``size M``, ``M (medium)``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..codes.spelling import plain
from ..vocabulary.doubts import UNSURE
from .markup import plain_text
from .mathematics import MATHEMATICS

_CHOSEN = lazy_compile(
    r"(?:(?:option|choice|answer|letter) )?\(?([A-H])\)?(?:, | ?[:\u2013-] )(?=\S)([^()]{1,80})"
    r"|([^()]{1,80}?) \(([A-H])\)",
    re.IGNORECASE,
)
_LETTER_AND_FORMULA = lazy_compile(
    r"(?:\\text(?:bf|rm)?\{\s?)?\((?P<letter>[A-J])\)\s?\}?(?:\\[ ,;]|~|\\q?quad|\s){1,9}"
    r"\$?(?P<formula>(?=[\\\w(-])(?!\\(?:lor|div|cup|cap|neq?|pm|mp|times|cdot|[lg]eq?|vee|wedge|land|setminus|approx)(?![a-z]))"
    r"(?=[^$]*[\\\d])[^$]{1,80})\$?\.?"
)
_TWO_CHOICES = lazy_compile(r"\([A-J]\)|\b(?:or|and|not)\b")
_CHOICE_TEXT = lazy_compile(r"\(?[A-J][).:] ?(\S.*)")
_NAMES_CHOICE = lazy_compile(r"\W*(?:\\text\w*\W*)?[A-J]\b")
_CONCLUDED = lazy_compile(  # which leaves option B; so option (A)
    r".{0,160}?\b(?:leaves|leaving|so|hence|thus|therefore|i\.e\.,?)(?: us with)?(?: only| just)?(?: the)?"
    r"(?: (?:option|choice|answer|letter) \(?(?P<letter>[A-J])\)?|(?<=leaves) (?P<bare>[A-H]))\.?",
    re.IGNORECASE,
)
_OPTIONS = lazy_compile(r"(?:the )?(?:options|choices|answers|letters|statements) (?=\(?[A-J]\b)", re.IGNORECASE)
_LETTERS = lazy_compile(r"\(?[A-J]\)?(?:(?:, ?(?:and )?|; ?| and )\(?[A-J]\)?){1,9}")
_JOINED = lazy_compile("[A-J]{2,6}")
_LETTERS_JOINED = lazy_compile(r"[A-J](?:(?: | ?& ?|)[A-J]){1,9}\.?")
_SIZE = lazy_compile(r"(?:the )?size (?=[SML]$)", re.IGNORECASE)
_SIZE_AND_NAME = lazy_compile(r"(S|M|L) \((?:small|medium|large)\)|(?:small|medium|large) \((S|M|L)\)", re.IGNORECASE)


def chosen(gold: str, kind: str, answer: str) -> Iterator[str]:
    """An answer with the letter of a choice as the gold answer writes it."""
    if kind in MATHEMATICS and (match := _letter_and_formula(answer)):
        yield match["formula"]
    if kind == "choice":
        yield from _choice(gold, answer)
    if kind == "set" and _LETTERS.fullmatch(gold):
        if options := _OPTIONS.match(answer):
            yield answer[options.end() :]
        if letters := _LETTERS_JOINED.fullmatch(plain_text(answer)):
            yield from _listed_letters(letters[0])
    if kind in ("words", "code") and _JOINED.fullmatch(gold) and _LETTERS.fullmatch(answer):
        yield "".join(letter for letter in answer if "A" <= letter <= "J")
    if kind == "words" and _SIZE.match(gold) and len(answer.rstrip(".")) == 1:
        yield f"size {answer}"


def _choice(gold: str, answer: str) -> Iterator[str]:
    """``(C) Tuesday`` of ``option C, Tuesday``, ``(B)`` of ``(B) 18``, ``M`` of ``size M`` and ``M (medium)``."""
    if len(gold) > 3 and (choice := _CHOSEN.fullmatch(answer)):
        yield f"({choice[1] or choice[4]}) {choice[2] or choice[3]}"
    if len(gold.strip("().")) == 1 and (match := _letter_and_formula(answer)):
        yield f"({match['letter']})"
    if left := _CONCLUDED.fullmatch(answer):
        letter = left["letter"] or left["bare"]
        if not UNSURE.search(answer.removesuffix(".").removesuffix(")").removesuffix(letter)):
            yield f"({letter})"
    if size := _SIZE.match(answer):
        yield answer[size.end() :]
    if sized := _SIZE_AND_NAME.fullmatch(answer):
        letter = sized[1] or sized[2]
        yield from [letter] if _is_size(letter, answer) else []


def text_of_choice(gold: str, answer: str) -> str | None:
    """``15`` of a gold answer ``(C) 15``, for an answer that names no choice and is no text alone."""
    match = _CHOICE_TEXT.fullmatch(plain(gold))
    return match[1] if match and not _NAMES_CHOICE.match(answer) and re.search(r"[\d\\$]", answer) else None


def _letter_and_formula(answer: str) -> re.Match[str] | None:
    r"""``D`` and ``16`` of ``\textbf{(D)}\ 16``."""
    match = _LETTER_AND_FORMULA.fullmatch(answer)
    return None if match is None or _TWO_CHOICES.search(match["formula"]) else match


def _is_size(letter: str, answer: str) -> bool:
    """Whether the name of a size in an answer is that of the letter: ``M (medium)``."""
    return {"s": "small", "m": "medium", "l": "large"}[letter.lower()] in answer.lower()


def _listed_letters(text: str) -> Iterator[str]:
    """``A, C, D`` of ``ACD``."""
    letters = [letter for letter in text if letter.isalpha()]
    if len(set(letters)) == len(letters):
        yield ", ".join(letters)
