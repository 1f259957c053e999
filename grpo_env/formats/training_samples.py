"""Samples of a training run (``samples.jsonl``): a row is one completion (trainer/run/checkpoint.py)."""

from __future__ import annotations

from typing import Any

from .file_format import FileFormat, Row, converted


def _row(row: Row) -> dict[str, Any]:
    group = f"{row['step']}/{row['id']}"
    return converted(row, [row["completion"]], finish_reason=[row.get("finish")], group=group)


TRAINING_SAMPLES = FileFormat(
    "grpo_env training samples",
    columns=("step", "task", "id", "completion", "score"),
    row_function=_row,
    joins="id",
)
