r"""Text: whatever is neither mathematics nor another kind. Equal after normalization, or different.

    as one       spaces, ``\text{…}`` and emphasis; quotes, commas, periods and colons at the ends; a leading article;
                 upper and lower case (unless ``ignore_case`` is off); the periods of ``p.m.``
    different    everything else: word order, plurals, abbreviations, accents, other languages

A quoted text is a ``literal`` and compared exactly; yes and no are ``truth``, which may have a reason behind it.

Needed by the golds of strategyqa, coin_flip and last_letters (zero-shot-CoT logs), CRUX, and MATH's ``\text{…}``.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ...words import normalized

MAX_LENGTH = 300  # characters of a text that may be a code

_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−⁻", "-"),  # noqa: RUF001
        **dict.fromkeys("’‘´′", "'"),  # noqa: RUF001
        **dict.fromkeys("“”„«»″《》「」『』", '"'),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069"),
        **dict.fromkeys("⋅∙•", "·"),
        "×": "x", "→": "->", "⁄": "/",  # noqa: RUF001
    }
)  # fmt: skip
_SCRIPTS = lazy_compile("([⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+)|([₀₁₂₃₄₅₆₇₈₉]+)")
_COMMANDS = (
    (lazy_compile(r"\\(?:[,;:! ]|q?quad(?![A-Za-z]))|~"), " "),
    (lazy_compile(r"\\times(?![A-Za-z])"), "x"),
    (lazy_compile(r"\\cdot(?![A-Za-z])"), "·"),
    (lazy_compile(r"\\(?:long)?(?:right)?arrow(?![A-Za-z])|\\to(?![A-Za-z])"), "->"),
    (lazy_compile(r"\\(?:left|right)(?=\s?[()\[\]])"), ""),
    (lazy_compile(r"\\([_#$%&{}^])"), r"\1"),
)
_WRAPPED = lazy_compile(
    r"\\(?:text(?:tt|rm|bf|it|normal|sf)?|math(?:tt|rm|bf|it|sf)|mbox|hbox|ce|operatorname|boxed|fbox|emph)\s?"
    r"\{([^{}]*)\}"
)
_BRACED = lazy_compile(r"([_^])\s?\{([^{}]*)\}|\{([^{}A-Za-z0-9]{1,3})\}")
_PAIRS = (
    ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"),
    ("(", ")"), ("{", "}"),
)  # fmt: skip
_OPENINGS = frozenset(opening[0] for opening, _ in _PAIRS)
_BOXED = lazy_compile(r"\\(?:boxed|fbox)\s*\{(.*)\}", re.DOTALL)
_FENCE = lazy_compile(r"```[a-z]{0,12}\s(.*?)\s*```", re.DOTALL)
_ARTICLE = lazy_compile(r"\A(?:an?|the)\s(?=\S\S)", re.IGNORECASE)
_CASED = lazy_compile(r"[a-z][A-Z]|\A[A-Z]{2}\Z|[A-Z]{2}[a-z]|\(\)|(?:\A|\s)-[A-Za-z]\b")
_HEXADECIMAL = lazy_compile(r"0[xX][0-9A-Fa-f]+")
_LETTER, _DIGIT = lazy_compile(r"[A-Za-z]"), lazy_compile(r"\d")
_PAIRS_OF_LETTERS = lazy_compile(r"\b(?:([a-z])\1)+\b", re.IGNORECASE)  # genotypes: Aa, AaBb
_HALF = lazy_compile(r"(?<=\d)\s?([ap])\.?\s?m\b\.?", re.IGNORECASE)  # 4:30 p.m.


def plain(text: str) -> str:
    """A text in one spelling of its characters, without LaTeX's wrappers, outer punctuation and repeated spaces."""
    if not text.isascii():
        text = _SCRIPTS.sub(lambda match: ("^" if match[1] else "_") + match.group(), text)
        text = normalized("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)
    if wrapped := _FENCE.fullmatch(text.strip()) or _BOXED.fullmatch(text.strip()):
        text = wrapped[1]
    text = _unwrapped(" ".join(text.split()))
    if "\\" in text:
        for pattern, replacement in _COMMANDS:
            text = pattern.sub(replacement, text)
        for _ in range(4):
            before, text = text, _BRACED.sub(r"\1\2\3", _WRAPPED.sub(r"\1", text))
            if text == before:
                break
    if "{" in text:
        text = _BRACED.sub(r"\1\2\3", text)
    return " ".join(_unwrapped(text).split())


def _unwrapped(text: str) -> str:
    """The text without punctuation at its end, and quotes, dollars or brackets around all of it; signs as they are."""
    text = text.strip()
    if not (text[:1].isalnum() or any(character.isalnum() for character in text)):
        return text.strip("$` ") or text
    for _ in range(8):
        before = text
        for opening, closing in _PAIRS if text[0] in _OPENINGS else ():
            if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing):
                inner = text[len(opening) : -len(closing)]
                is_data = opening == "{" and ("'" in inner or '"' in inner)
                if opening not in inner and closing not in inner and not inner.endswith("\\") and not is_data:
                    text = inner.strip()
        text = text.rstrip(".,;:。 ") or text
        if text.count('"') == 1:  # "aylo." with its period inside
            text = text.strip('"')
        if text == before:
            break
    return text


def same_text(gold: str, answer: str, ignore_case: bool = True, ignore_article: bool = True) -> bool:
    """Whether two texts are equal after normalization. Upper and lower case always count in codes: ``CO``, ``aB3x``."""
    one, other = (_key(text, ignore_article) for text in (gold, answer))
    return one == other or (
        ignore_case
        and one.casefold() == other.casefold()
        and not (_is_cased(one) or (len(one) < 3 and _is_cased(other)))
    )


def _key(text: str, ignore_article: bool) -> str:
    text = plain(text)
    if ignore_article:
        text = _unwrapped(_ARTICLE.sub("", text))  # the "Blue Whale"
    return _HALF.sub(r" \1m", text) if "m" in text.lower() else text


def _is_cased(text: str) -> bool:
    if _HEXADECIMAL.fullmatch(text):
        return False
    if " " not in text or " -" in text:
        mixed = any(_LETTER.search(line) and _DIGIT.search(line) for line in text.split("\n"))
        if mixed or _CASED.search(text):
            return True
    return _PAIRS_OF_LETTERS.search(text) is not None
