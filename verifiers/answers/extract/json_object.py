"""A JSON object with an answer field at the end of a text: ``{"reasoning": "9 * 2", "final_answer": 18}``."""

from __future__ import annotations

import json
from typing import Any

from grpo_env.lazy_regex import lazy_compile

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

_BRACKETS = ("{}", "[]")
_NO_LETTERS = lazy_compile(r"[^a-z]")
_FENCE = lazy_compile(r"```[A-Za-z0-9]{0,12}[ \t]*\n")


def json_object(text: str) -> str:
    """The JSON object or list in the last lines or the last fence of a text, or "" where it ends in something else."""
    tail = text[-MAX_LENGTH:].rstrip()
    if tail.endswith("```"):
        opening = tail.rfind("```", 0, -3)
        fence = _FENCE.match(tail, opening) if opening >= 0 else None
        inner = tail[fence.end() : -3].strip() if fence else ""
        return inner if inner[:1] + inner[-1:] in _BRACKETS else ""
    opening = tail.rfind("\n{" if tail.endswith("}") else "\n[") + 1
    return tail[opening:] if tail[opening : opening + 1] + tail[-1:] in _BRACKETS else ""


def json_answers(text: str) -> list[str]:
    """The values of the answer fields of a JSON object; empty if it is none, or has a field twice."""
    fields = _answer_fields(text)
    answers = [_text(item) for item in fields or []]
    return answers if all(answers) else []


def is_json_answer(text: str) -> bool:
    """Whether a text is a JSON object or list without answer fields, which is all of the answer."""
    return _answer_fields(text) == []


def _answer_fields(text: str) -> list[Any] | None:
    """The values of the answer fields of a JSON object or list; ``None`` for other texts."""
    try:
        value = json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return []
    return [item for key, item in value.items() if _NO_LETTERS.sub("", key.lower()) in FIELDS]


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
