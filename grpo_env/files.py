"""Rows of files: JSONL, JSON, CSV and Parquet read one record at a time, JSONL written."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from grpo_env.errors import UsageError

SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")


class Record(NamedTuple):
    """One row. ``line`` is its line (JSONL, CSV) or number, from 1; ``row`` is ``None`` where ``problem`` says why."""

    line: int
    row: dict[str, Any] | None
    problem: str = ""


def read_records(path: Path) -> Iterator[Record]:
    """The rows of a file, in order. A row that cannot be read is a ``Record`` with a ``problem``, not an exception.

    Raises ``UsageError`` where the file as a whole cannot be read.
    """
    readers = {".jsonl": _jsonl, ".json": _json, ".csv": _csv, ".parquet": _parquet}
    if path.suffix not in readers:
        raise UsageError(f"{path}: unknown kind of file; expected one of {', '.join(SUFFIXES)}")
    try:
        yield from readers[path.suffix](path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from error


def _jsonl(path: Path) -> Iterator[Record]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _parse(number, line)


def _parse(number: int, line: bytes) -> Record:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Record(number, None, f"not valid JSON ({error})")
    if not isinstance(row, dict):
        return Record(number, None, f"expected a JSON object, found {type(row).__name__}")
    return Record(number, row)


def _json(path: Path) -> Iterator[Record]:
    try:
        rows = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not valid JSON ({error})") from error
    if not isinstance(rows, list):
        raise UsageError(f"{path}: expected a JSON list of objects, found {type(rows).__name__}")
    for number, row in enumerate(rows, start=1):
        problem = "" if isinstance(row, dict) else f"expected a JSON object, found {type(row).__name__}"
        yield Record(number, None if problem else row, problem)


def _csv(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        try:
            for row in reader:
                if None in row or None in row.values():
                    count = len(reader.fieldnames or ())
                    yield Record(reader.line_num, None, f"expected {count} columns")
                else:
                    yield Record(reader.line_num, dict(row))
        except (csv.Error, UnicodeDecodeError) as error:
            raise UsageError(f"{path}, line {reader.line_num}: not valid CSV ({error})") from error


def _parquet(path: Path) -> Iterator[Record]:
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    number += 1
                    yield Record(number, row)
    except pyarrow.ArrowException as error:
        raise UsageError(f"{path}: not a valid Parquet file ({error})") from error


def dump_line(row: dict[str, Any]) -> str:
    """One line of JSONL. Lone surrogates, which model text can hold and UTF-8 cannot, stay escaped."""
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(row, allow_nan=False)
    return text + "\n"
