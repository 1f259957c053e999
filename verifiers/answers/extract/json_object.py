"""A JSON object with an answer field at the end of a text: ``{"reasoning": "9 * 2", "final_answer": 18}``."""

from __future__ import annotations

import json
import re
from typing import Any

FIELDS = frozenset(
    [
        "answer",
        "finalanswer",
        "correctanswer",
        "result",
        "finalresult",
        "choice",
        "answerchoice",
        "finalchoice",
        "correctchoice",
        "option",
    ]
)
"""The names of answer fields: small letters only, so that ``final_answer`` and ``Final Answer`` are among them."""

MAX_LENGTH = 20_000

_NO_LETTERS = re.compile(r"[^a-z]")
_FENCE = re.compile(r"```[A-Za-z0-9]{0,12}[ \t]*\n")


def json_object(text: str) -> str:
    """The JSON object in the last lines or the last fence of a text, or "" where it ends in something else."""
    tail = text[-MAX_LENGTH:].rstrip()
    if tail.endswith("```"):
        opening = tail.rfind("```", 0, -3)
        fence = _FENCE.match(tail, opening) if opening >= 0 else None
        inner = tail[fence.end() : -3].strip() if fence else ""
        return inner if inner.startswith("{") and inner.endswith("}") else ""
    if not tail.endswith("}"):
        return ""
    start = tail.rfind("\n{") + 1
    return tail[start:] if tail.startswith("{", start) else ""


def json_answers(text: str) -> list[str]:
    """The values of the answer fields of a JSON object; empty if it is none, or has a field twice."""
    try:
        value = json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, dict):
        return []
    answers = [_text(item) for key, item in value.items() if _NO_LETTERS.sub("", key.lower()) in FIELDS]
    return answers if all(answers) else []


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return dict(pairs)


def _text(value: Any) -> str:
    """A value as an answer: a text or number as it stands, a list joined by commas; "" for what is no answer."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        items = [_text(item) for item in value]
        return ", ".join(items) if all(items) and not any(isinstance(item, list) for item in value) else ""
    return value if isinstance(value, str) else ""
