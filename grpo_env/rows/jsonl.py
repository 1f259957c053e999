"""Lines of JSONL."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any


def dump_line(row: dict[str, Any]) -> str:
    """A row as one line. Raises ``ValueError`` for NaN and infinity, ``TypeError`` for what JSON cannot represent."""
    return _dump(row, _STRICT)


def dump_record(row: dict[str, Any]) -> str:
    """A row read from a file as one line: ``NaN`` is kept, and what JSON cannot represent (Parquet's dates) is text."""
    return _dump(row, _TOLERANT)


def json_value(value: Any) -> Any:
    """A column's value, or that of its JSON, which it is in Parquet if it has no single type.

    ``None`` for text that is not valid JSON.
    """
    if not isinstance(value, str):
        return value
    with suppress(ValueError, RecursionError):
        return json.loads(value)
    return None


# Of text as it is, and of text in ASCII. Kept, because ``json.dumps`` makes one for each row.
_STRICT = [json.JSONEncoder(ensure_ascii=ascii, allow_nan=False, separators=(",", ":")) for ascii in (False, True)]
_TOLERANT = [json.JSONEncoder(ensure_ascii=ascii, default=str) for ascii in (False, True)]


def _dump(row: dict[str, Any], encoders: list[json.JSONEncoder]) -> str:
    as_is, in_ascii = encoders
    text = as_is.encode(row)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, which model text can contain and UTF-8 cannot, are escaped
        text = in_ascii.encode(row)
    return text + "\n"
