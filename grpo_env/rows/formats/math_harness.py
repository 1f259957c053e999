"""Outputs of ToRA's evaluation, and of those made from it: Qwen2.5-Math's (``math_eval.py``), math-evaluation-harness.

A row is a question with all of its samples: ``code`` has their texts, ``pred`` and ``score`` an item for each.
"""

from __future__ import annotations

from typing import Any

from .file_format import FileFormat, Row, converted


def _row(row: Row) -> dict[str, Any]:
    return converted(row, row["code"])


def _has_texts(row: Row) -> bool:
    return isinstance(row["code"], list) and all(isinstance(text, str) for text in row["code"])


MATH_HARNESS = FileFormat(
    "outputs of a math harness",
    columns=("question", "gt", "code", "pred"),
    row_function=_row,
    condition=_has_texts,
    gold=("gt",),
)
