"""Score rows as Parquet, with the same columns for every file of the same tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grpo_env.rows.formats.file_format import PROMPT_RECORDED
from grpo_env.rows.writer import parquet_writer
from grpo_env.taskfile.schema import VerifierSpec
from grpo_env.taskfile.task import Task

JSON_COLUMNS = ("turns", "environment", "tools")
"""Columns of an episode, whose arguments and states have no common type; they are JSON in Parquet."""


def write_parquet(task: Task, rows: Path, out: Path) -> None:
    """Write a file of score rows (JSONL) as Parquet. What a row does not have is null.

    ``prompt`` is a list of messages, or text if the prompt of any row is text; chats are then JSON, as the columns of
    episodes always are.
    """
    with rows.open("rb") as lines:
        text_prompts = any(isinstance(json.loads(line).get("prompt"), str) for line in lines)
        lines.seek(0)
        with parquet_writer(out, arrow_schema([task], text_prompts=text_prompts), compression="zstd") as write:
            for line in lines:
                write(parquet_row(json.loads(line), text_prompts))


def parquet_row(row: dict[str, Any], text_prompts: bool) -> dict[str, Any]:
    """A score row as its columns in Parquet are."""
    if text_prompts and isinstance(row.get("prompt"), list):
        row["prompt"] = json.dumps(row["prompt"], ensure_ascii=False)
    for name in JSON_COLUMNS:
        if name in row:
            row[name] = json.dumps(row[name], ensure_ascii=False)
    return row


def arrow_schema(tasks: Sequence[Task], *, text_prompts: bool = False) -> Any:
    """The Arrow schema of the score rows of tasks. ``parts`` has a column for each part of any of them."""
    import pyarrow as pa

    step = pa.struct(
        [("start", pa.int64()), ("end", pa.int64()), ("value", pa.float64()), ("explanation", pa.string())]
    )

    def part(specs: Sequence[VerifierSpec]) -> Any:
        columns = [(name, pa.float64()) for name in ("value", "weight", "process")]
        columns += [(name, pa.string()) for name in ("status", "answer", "gold", "kind", "explanation", "rule")]
        columns += [("steps", pa.list_(step))]
        nested = [spec.of for spec in specs if spec.of]
        return pa.struct(columns + ([("parts", parts(nested))] if nested else []))

    def parts(several: Sequence[Mapping[str, VerifierSpec]]) -> Any:
        names = dict.fromkeys(name for specs in several for name in specs)
        return pa.struct([(name, part([specs[name] for specs in several if name in specs])) for name in names])

    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    return pa.schema(
        [
            ("id", pa.string()),
            ("line", pa.int64()),
            ("completion", pa.int64()),
            ("group", pa.string()),
            ("file", pa.string()),
            ("task", pa.string()),
            ("metric", pa.string()),
            ("prompt", pa.string() if text_prompts else pa.list_(message)),
            (PROMPT_RECORDED, pa.bool_()),
            ("text", pa.string()),
            ("reasoning_content", pa.string()),
            ("finish_reason", pa.string()),
            ("num_tokens", pa.int64()),
            ("total", pa.float64()),
            ("status", pa.string()),
            ("explanation", pa.string()),
            ("rule", pa.string()),
            ("parts", parts([task.spec.verifiers for task in tasks])),
            ("steps", pa.list_(step)),
            ("seconds", pa.float64()),
            *((name, pa.string()) for name in JSON_COLUMNS),
            ("label", pa.bool_()),
            ("advantage", pa.float64()),
            ("step_advantages", pa.list_(pa.float64())),
        ]
    )
