"""OpenCompass: predictions, an object of rows under their numbers (``GenInferencerOutputHandler``), or lines of them.

LawBench's files are the same, with the gold answer under ``refr``.
"""

from __future__ import annotations

from typing import Any

from .chat import is_chat
from .file_format import FileFormat, Row, converted

_ROLES = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}


def _row(row: Row) -> dict[str, Any]:
    prompt = row["origin_prompt"]
    return converted(
        row,
        row["prediction"],
        id=row.get("idx"),
        prompt=[_message(part) for part in prompt] if is_chat(prompt) else prompt,
        own_gold=row.get("gold", row.get("refr")),
    )


def _message(part: Row) -> dict[str, Any]:
    return {"role": _ROLES.get(part["role"], part["role"]), "content": part.get("prompt", part.get("content"))}


OPENCOMPASS = FileFormat(
    "OpenCompass predictions", columns=("origin_prompt", "prediction"), row_function=_row, gold=("own_gold",)
)
