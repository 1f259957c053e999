"""Scores as Parquet: the rows' keys as columns, the same for every file of a task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from grpo_env.files.reader import SURROGATE
from grpo_env.taskfile.schema import VerifierSpec
from grpo_env.taskfile.task import Task

ROW_GROUP = 4096  # rows written, and held in memory, at a time


def write_parquet(task: Task, rows: Path, out: Path) -> None:
    """Rows of the output (``output_row``) as JSONL, written as Parquet. What a row does not have is null.

    ``prompt`` is a list of messages, or text if the prompt of any row is text; chats are then JSON. Lone surrogates,
    which Parquet cannot hold, become U+FFFD.
    """
    import pyarrow
    import pyarrow.parquet

    text = _any_text_prompt(rows)
    shape = schema(task, text_prompts=text)
    with pyarrow.parquet.ParquetWriter(out, shape, compression="zstd") as writer, rows.open("rb") as lines:
        for block in iter(lambda: list(islice(lines, ROW_GROUP)), []):
            read = [_row(line, text) for line in block]
            writer.write_table(pyarrow.Table.from_pylist(read, schema=shape))


def schema(task: Task, *, text_prompts: bool = False) -> Any:
    """The Arrow schema of a task's scores. ``parts`` has a column for each part that the task names."""
    import pyarrow as pa

    step = pa.struct(
        [("start", pa.int64()), ("end", pa.int64()), ("value", pa.float64()), ("explanation", pa.string())]
    )

    def part(spec: VerifierSpec) -> Any:
        columns = [(name, pa.float64()) for name in ("value", "weight", "weighted", "process")]
        columns += [(name, pa.string()) for name in ("status", "answer", "gold", "explanation")]
        columns += [("steps", pa.list_(step))]
        return pa.struct(columns + ([("parts", parts(spec.of))] if spec.of else []))

    def parts(specs: Mapping[str, VerifierSpec]) -> Any:
        return pa.struct([(name, part(spec)) for name, spec in specs.items()])

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
            ("text", pa.string()),
            ("reasoning_content", pa.string()),
            ("finish_reason", pa.string()),
            ("num_tokens", pa.int64()),
            ("total", pa.float64()),
            ("status", pa.string()),
            ("explanation", pa.string()),
            ("parts", parts(task.spec.verifiers)),
            ("steps", pa.list_(step)),
            ("seconds", pa.float64()),
            ("label", pa.bool_()),
            ("advantage", pa.float64()),
            ("step_advantages", pa.list_(pa.float64())),
        ]
    )


def _any_text_prompt(rows: Path) -> bool:
    with rows.open("rb") as lines:
        return any(isinstance(json.loads(line).get("prompt"), str) for line in lines)


def _row(line: bytes, text_prompt: bool) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(line)
    if text_prompt and isinstance(row.get("prompt"), list):
        row["prompt"] = json.dumps(row["prompt"], ensure_ascii=False)
    if rb"\ud" in line:
        row = _valid(row)
    return row


def _valid(value: Any) -> Any:
    """The value with every lone surrogate replaced, one character for one, so that positions in a text still hold."""
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_valid(item) for item in value]
    if isinstance(value, dict):
        return {key: _valid(item) for key, item in value.items()}
    return value
