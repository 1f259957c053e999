"""Lines of JSONL."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any


def dump_line(row: dict[str, Any]) -> str:
    """A row as one line. Raises ``ValueError`` for NaN and infinity, ``TypeError`` for what JSON cannot represent."""
    return _dump(row, allow_nan=False, separators=(",", ":"))


def dump_record(row: dict[str, Any]) -> str:
    """A row read from a file as one line: ``NaN`` is kept, and what JSON cannot represent (Parquet's dates) is text."""
    return _dump(row, default=str)


def json_value(value: Any) -> Any:
    """A column's value, or that of its JSON, which it is in Parquet if it has no single type.

    ``None`` for text that is not valid JSON.
    """
    if not isinstance(value, str):
        return value
    with suppress(ValueError, RecursionError):
        return json.loads(value)
    return None


def _dump(row: dict[str, Any], **options: Any) -> str:
    text = json.dumps(row, ensure_ascii=False, **options)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, which model text can contain and UTF-8 cannot, are escaped
        text = json.dumps(row, **options)
    return text + "\n"
