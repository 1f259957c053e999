r"""Splits a text in normal spelling outside of brackets, at commas, ``\cup`` or ``=``; and finds outer brackets."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

# Commands, brackets, and the characters that may separate parts. All others are skipped.
_TOKEN = r"\\begin\{[a-z]*\*?\}|\\end\{[a-z]*\*?\}|\\[A-Za-z]+|\\.|[()\[\]{}]"
_TOKENS = lazy_compile(rf"{_TOKEN}|[=:&]")
_TOKENS_OF_LIST = lazy_compile(rf"{_TOKEN}|([\s,;])")
_DEPTH = {"(": 1, "[": 1, "{": 1, "\\{": 1, "\\langle": 1, ")": -1, "]": -1, "}": -1, "\\}": -1, "\\rangle": -1}
_SEPARATOR = lazy_compile(r"\s*[,;]\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+")
# In a list with other separators, a comma between digits may separate thousands: 1,000, 2,000
_OTHER_SEPARATOR = lazy_compile(r"[,;]\s|;|\s(?:and|or)\s")
_THOUSANDS = lazy_compile(r"(?<=\d),(?=\d{3}(?!\d))")
_FRENCH = lazy_compile(r"([\[\]])([^\[\]()]*)([\[\]])")


def split(text: str, at: str) -> list[str]:
    r"""A text split at a token, which is a LaTeX command, ``\\`` or one of ``=:&``; the parts stripped."""
    if at not in text:
        return [text]
    parts, depth, start = [], 0, 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        depth += _change(token)
        if depth == 0 and token == at:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    return [*parts, text[start:].strip()]


def items(text: str) -> list[str]:
    """A text split at its outer commas, semicolons, ``and`` and ``or``."""
    if not _SEPARATOR.search(text):
        text = text.strip()
        return [text] if text else []
    thousands = _OTHER_SEPARATOR.search(text) is not None
    cuts, depth, at = [], 0, 0
    for match in _TOKENS_OF_LIST.finditer(text):
        if not match[1]:
            depth += _change(match.group())
            continue
        if depth or match.start() < at or (thousands and _THOUSANDS.match(text, match.start())):
            continue
        if separator := _SEPARATOR.match(text, match.start()):
            cuts.append(separator.span())
            at = separator.end()
    edges = [0, *(edge for cut in cuts for edge in cut), len(text)]
    parts = [text[start:end].strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return [part for part in parts if part]


def outer(text: str) -> tuple[str, str]:
    r"""The outer brackets around all of a text, and their content: ``("(]", "3,4")``, or two empty strings.

    ``\{…\}`` are ``{}``, ``\langle … \rangle`` are ``<>``.
    """
    if text.startswith("\\{") and text.endswith("\\}"):
        return "{}", text[2:-2]
    if text.startswith("\\langle") and text.endswith("\\rangle"):
        return ("<>", text[7:-7]) if _closes_at_end(text) else ("", "")
    if len(text) < 2 or text[0] not in "([" or text[-1] not in ")]" or text[-2] == "\\":
        return "", ""
    return (text[0] + text[-1], text[1:-1]) if _closes_at_end(text) else ("", "")


def _closes_at_end(text: str) -> bool:
    """Whether the bracket that a text begins with is closed by its last one."""
    depth = 0
    for match in _TOKENS.finditer(text):
        depth += _change(match.group())
        if depth == 0:
            return match.end() == len(text)
    return False


def english(text: str) -> str:
    """Intervals with French brackets, ``]1,2[``, in the spelling ``(1,2)``."""
    return _FRENCH.sub(_english, text) if "[" in text or "]" in text else text


def _english(match: re.Match[str]) -> str:
    opening, inner, closing = match.groups()
    if opening + closing == "[]" or len(items(inner)) != 2 or not ("," in inner or ";" in inner):
        return match.group()
    return ("[" if opening == "[" else "(") + inner + ("]" if closing == "]" else ")")


def _change(token: str) -> int:
    if len(token) > 3 and token.startswith(("\\begin", "\\end")):
        return 1 if token[1] == "b" else -1
    return _DEPTH.get(token, 0)
