"""Codes in one spelling of their characters, without what surrounds them."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ...words import normalized

MAX_LENGTH = 300
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−⁻", "-"),  # noqa: RUF001
        **dict.fromkeys("’‘´′", "'"),  # noqa: RUF001
        **dict.fromkeys("“”„«»″", '"'),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069"),
        **dict.fromkeys("⋅∙•", "·"),
        "×": "x", "→": "->", "⟶": "->", "⇌": "<->", "⁄": "/", "♯": "#", "♭": "b",  # noqa: RUF001
    }
)  # fmt: skip
_SUPERSCRIPT = lazy_compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_SUBSCRIPT = lazy_compile("[₀₁₂₃₄₅₆₇₈₉]+")
_COMMANDS = (
    (lazy_compile(r"\\(?:[,;:! ]|q?quad(?![A-Za-z]))|~"), " "),
    (lazy_compile(r"\\(?:times|ast)(?![A-Za-z])"), "x"),
    (lazy_compile(r"\\cdot(?![A-Za-z])"), "·"),
    (lazy_compile(r"\\[dt]?frac\s?\{([A-Z]{2,4})\}\s?\{([A-Z]{2,4})\}"), r"\1/\2"),
    (lazy_compile(r"\\(?:long)?(?:right)?arrow(?![A-Za-z])|\\to(?![A-Za-z])"), "->"),
    (lazy_compile(r"\\rightleftharpoons(?![A-Za-z])"), "<->"),
    (lazy_compile(r"\\(?:left|right)(?=\s?[()\[\]])"), ""),
    (lazy_compile(r"\s?\\sharp(?![A-Za-z])"), "#"),
    (lazy_compile(r"\s?\\flat(?![A-Za-z])"), "b"),
    (lazy_compile(r"\\([_#$%&{}^])"), r"\1"),
)
_WRAPPED = lazy_compile(
    r"\\(?:text(?:tt|rm|bf|it|normal|sf)?|math(?:tt|rm|bf|it|sf)|mbox|hbox|ce|operatorname|boxed|fbox|emph)\s?"
    r"\{([^{}]*)\}"
)
_SCRIPT = lazy_compile(r"([_^])\s?\{([^{}]*)\}|\{([^{}A-Za-z0-9]{1,3})\}")
_PAIRS = (
    ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"),
    ("(", ")"), ("{", "}"),
)  # fmt: skip
_SIGN_PAIRS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("`", "`"))
_BOXED = lazy_compile(r"\\(?:boxed|fbox)\s*\{(.*)\}", re.DOTALL)
_FENCE = lazy_compile(r"```[a-z]{0,12}\s(.*?)\s*```", re.DOTALL)
_RAISED_ENDING = lazy_compile(r"(?<=\d)\^(?=(?:st|nd|rd|th)\b)")


def plain(text: str) -> str:
    """A text in one spelling of its characters, without LaTeX's wrappers, outer punctuation and repeated spaces."""
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda match: "^" + match.group(), text)
        text = _SUBSCRIPT.sub(lambda match: "_" + match.group(), text)
        text = normalized("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)
    if wrapped := _FENCE.fullmatch(text.strip()) or _BOXED.fullmatch(text.strip()):
        text = wrapped[1]
    text = _unwrapped(" ".join(text.split()))
    if "\\" in text:
        for pattern, replacement in _COMMANDS:
            text = pattern.sub(replacement, text)
        for _ in range(4):
            before, text = text, _SCRIPT.sub(_without_braces, _WRAPPED.sub(r"\1", text))
            if text == before:
                break
    if "{" in text:
        text = _SCRIPT.sub(_without_braces, text)
    if "^" in text:
        text = _RAISED_ENDING.sub("", text)
    return " ".join(_unwrapped(text).split())


def _without_braces(match: re.Match[str]) -> str:
    return (match[1] or "") + (match[2] or match[3] or "")


def _unwrapped(text: str) -> str:
    """The text without punctuation at its end, and quotes, dollars or brackets around all of it.

    Of signs without any letter or digit only dollars and code ticks are removed.
    """
    text = text.strip()
    are_signs = not any(character.isalnum() for character in text)
    for _ in range(8):
        before = text
        for opening, closing in _SIGN_PAIRS if are_signs else _PAIRS:
            inner = text[len(opening) : -len(closing)]
            wrapped = text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing)
            is_data = opening == "{" and ("'" in inner or '"' in inner)
            if wrapped and opening not in inner and closing not in inner and not inner.endswith("\\") and not is_data:
                text = inner.strip()
        if not are_signs and (shorter := text.rstrip(".,;:。 ")):
            text = shorter
        if text == before:
            break
    return text
