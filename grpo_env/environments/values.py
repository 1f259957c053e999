"""What an environment's object gives away: its state, results of tools, exceptions as text. Standard library only."""

from __future__ import annotations

import json
from typing import Any

MAX_STATE = 100_000  # characters of JSON
MAX_MESSAGE = 1_000  # characters of an exception


def state_of(thing: Any) -> Any:
    """The public attributes of an object that JSON can represent; ``None`` if they are too large together."""
    values, size = {}, 0
    for name, value in list(vars(thing).items()) if hasattr(thing, "__dict__") else ():
        if name.startswith("_"):
            continue
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            continue
        size += len(name) + len(text)
        if size > MAX_STATE:
            return None
        values[name] = json.loads(text)
    return values


def result_text(value: Any, max_chars: int) -> str:
    """A tool's result as text: JSON, unless it is text already, and cut after ``max_chars`` characters."""
    return cut(value if isinstance(value, str) else _json(value), max_chars)


def raised_text(error: BaseException) -> str:
    """An exception as text, also one whose own message raises."""
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be read"
    return f"{type(error).__name__}: {message}"[:MAX_MESSAGE].encode("utf-8", "replace").decode()


def cut(text: str, max_chars: int) -> str:
    """Text of at most ``max_chars`` characters, with a note of how long it was, that UTF-8 can represent."""
    if len(text) > max_chars:
        text = f"{text[:max_chars]}\n[cut: {len(text):,} characters]"
    return text.encode("utf-8", "replace").decode()


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)
