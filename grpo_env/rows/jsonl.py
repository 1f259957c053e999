"""Lines of JSONL."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, NamedTuple


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


class _Encoders(NamedTuple):
    """Of text as it is, and of text in ASCII. Kept, because ``json.dumps`` makes one for each row."""

    as_is: json.JSONEncoder
    ascii: json.JSONEncoder


def _encoders(**options: Any) -> _Encoders:
    return _Encoders(json.JSONEncoder(ensure_ascii=False, **options), json.JSONEncoder(**options))


_STRICT, _TOLERANT = _encoders(allow_nan=False, separators=(",", ":")), _encoders(default=str)


def _dump(row: dict[str, Any], encoders: _Encoders) -> str:
    text = encoders.as_is.encode(row)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, which model text can contain and UTF-8 cannot, are escaped
        text = encoders.ascii.encode(row)
    return text + "\n"
