"""Rows of our own (docs/scoring.md): they need no conversion, and any file that no other format matches has them."""

from __future__ import annotations

from .file_format import FileFormat

NATIVE = FileFormat("grpo_env rows", columns=(), row_function=dict)
