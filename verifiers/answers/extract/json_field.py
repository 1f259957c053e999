r"""The source ``json``: the answer field of a JSON object, ``{"reasoning": "9 * 2", "final_answer": 18}``.

The object need not be valid: models write line breaks and ``\(`` into their strings (ZeroEval). The last field with one
of these names decides; one inside of another field's text is none.
"""

from __future__ import annotations

import json
import re
from typing import Any

from grpo_env.lazy_regex import lazy_compile

from .result import ExtractedAnswer, extracted

_FIELD = lazy_compile(
    r"[{,:\n]\s{0,99}\"(?:(?:final|correct)[ _-]?)?(?:answer|result|choice|option)(?:[ _-]choice)?\""
    r"\s{0,9}:\s{0,9}(?=\S)",
    re.IGNORECASE,
)
_STRING = lazy_compile(r'"((?:[^"\\]|\\.)*)"(?=\s*(?:[,}\]]|\Z))', re.DOTALL)
_GOES_ON = lazy_compile(r"\s*[,}\]]")
# A backslash that escapes another one, and one of LaTeX that escapes nothing: both become two.
_ESCAPE = lazy_compile(r'\\\\|\\(?!["\\/bfnrtu])|\\(?=[bfrt][a-z]{2}|n(?:eq?|u|abla|ot)(?![a-z])|u(?![0-9a-f]{4}))')
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)
_BRACKETS = ("{}", "[]")
_FENCE = lazy_compile(r"```[A-Za-z0-9]{0,12}[ \t]*\n")
MAX_LENGTH = 20_000


def json_field(text: str) -> ExtractedAnswer | None:
    """The value of the last answer field in a text; several if there are several objects with different ones."""
    if '"' not in text or "{" not in text:
        return None
    found = []
    for match in _FIELD.finditer(text):
        if (value := _value(text, match.end())) is not None:
            found.append(value)
    return extracted([answer for answer, _ in found], "json", end=found[-1][1]) if found else None


def _value(text: str, start: int) -> tuple[str, int] | None:
    """The value of a field as an answer, and where it ends; ``None`` for what is no answer."""
    if string := _STRING.match(text, start):
        return _decoded(string[1]), string.end()
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    answer = _text(value, text[start:end]) if _GOES_ON.match(text, end) else ""
    return (answer, end) if answer else None


def _decoded(string: str) -> str:
    """The text of a string, in which a stray backslash stands for itself."""
    if "\\" not in string:
        return string
    try:
        return str(json.loads('"' + _ESCAPE.sub(r"\\\\", string) + '"', strict=False))
    except ValueError:
        return string


def _text(value: Any, source: str) -> str:
    """A value as an answer: a text or number as it stands, a list joined by commas; "" for what is no answer."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return value if isinstance(value, str) else source if value else ""


def json_at_end(text: str) -> str:
    """The JSON object or list in the last lines or the last fence of a text, or "" where it ends in something else."""
    tail = text[-MAX_LENGTH:].rstrip()
    if tail.endswith("```"):
        opening = tail.rfind("```", 0, -3)
        fence = _FENCE.match(tail, opening) if opening >= 0 else None
        inner = tail[fence.end() : -3].strip() if fence else ""
        return inner if inner[:1] + inner[-1:] in _BRACKETS else ""
    opening = tail.rfind("\n{" if tail.endswith("}") else "\n[") + 1
    found = tail[opening:] if tail[opening : opening + 1] + tail[-1:] in _BRACKETS else ""
    try:
        return found if found and json.loads(found) is not None else ""
    except (ValueError, RecursionError):
        return ""
