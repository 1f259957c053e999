"""Rows of our own (docs/scoring.md): they need no conversion, and any file that no other format matches has them."""

from __future__ import annotations

from typing import Any

from .file_format import FileFormat, Row


def _row(row: Row) -> dict[str, Any]:
    return dict(row)


NATIVE = FileFormat("grpo_env rows", columns=(), row_function=_row)
