"""Rows of a scores file, as ``grpo_env score`` writes them: one for each completion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.files.reader import read_records

ScoreRow = Mapping[str, Any]  # the keys are in docs/scoring.md

NEEDED = ("id", "completion", "total", "status", "parts")


def read_scores(path: Path) -> Iterator[ScoreRow]:
    """The rows of a scores file, in order. In Parquet what a row does not have is null, in JSONL it is not there.

    Raises ``UsageError`` for a file that is none, with the line.
    """
    for record in read_records(path):
        row = record.row
        missing = [key for key in NEEDED if key not in row] if row is not None else []
        if row is None or missing:
            why = record.problem or f"no key {missing[0]!r}; is this a file that grpo_env score wrote?"
            raise UsageError(f"{path}, line {record.line}: {why}")
        yield row
