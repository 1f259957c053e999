"""Score rows as Parquet, with the same columns for every file of the same tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grpo_env.rows.parquet_writer import parquet_writer
from grpo_env.rows.reader import replace_surrogates
from grpo_env.taskfile.task import Task

from .score_row import JSON_COLUMNS, arrow_schema


def write_parquet(task: Task, rows: Path, out: Path) -> None:
    """Write a file of score rows (JSONL) as Parquet. What a row does not have is null.

    ``prompt`` is a list of messages, or text if the prompt of any row is text; chats are then JSON, as the columns of
    episodes always are. Lone surrogates, which Parquet cannot hold, become U+FFFD.
    """
    text_prompts = _any_text_prompt(rows)
    schema = arrow_schema([task], text_prompts=text_prompts)
    with parquet_writer(out, schema, compression="zstd") as write, rows.open("rb") as lines:
        for line in lines:
            write(parquet_row(json.loads(line), text_prompts, surrogates=rb"\ud" in line))


def _any_text_prompt(rows: Path) -> bool:
    with rows.open("rb") as lines:
        return any(isinstance(json.loads(line).get("prompt"), str) for line in lines)


def parquet_row(row: dict[str, Any], text_prompts: bool, *, surrogates: bool = True) -> dict[str, Any]:
    """A score row as its columns in Parquet are. ``surrogates``: whether it may contain lone ones."""
    if text_prompts and isinstance(row.get("prompt"), list):
        row["prompt"] = json.dumps(row["prompt"], ensure_ascii=False)
    for name in JSON_COLUMNS:
        if name in row:
            row[name] = json.dumps(row[name], ensure_ascii=False)
    return _without_surrogates(row) if surrogates else row


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    return value
