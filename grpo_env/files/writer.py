"""A new file of rows, JSONL or Parquet by its suffix, which takes its name when it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from grpo_env.errors import RunError, UsageError

from .reader import dump_line

BATCH = 1000  # rows of Parquet that are held before they are written

Write = Callable[[dict[str, Any]], None]
Column = Literal["text", "texts", "flags", "chat"]
"""What a column of Parquet holds; a chat is a list of messages with ``role`` and ``content``."""
Columns = Callable[[Mapping[str, Any]], Mapping[str, Column]]


@contextmanager
def new_rows(out: Path, suffixes: Sequence[str] = (".jsonl",), columns: Columns = lambda row: {}) -> Iterator[Write]:
    """A function that writes one row. ``columns`` says what Parquet's columns are, given the first row.

    Raises ``UsageError`` if ``out`` exists or has another suffix, ``RunError`` if it cannot be written. Nothing is
    left behind if the block raises.
    """
    if out.suffix not in suffixes:
        raise UsageError(f"{out}: the name must end in {' or '.join(suffixes)}")
    if out.exists():
        raise UsageError(f"{out}: exists already; give another name with --out")
    partial = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            with _jsonl(file) if out.suffix == ".jsonl" else _parquet(file, columns) as write:
                yield write
            file.flush()
            os.fsync(file.fileno())
        os.link(partial, out)  # not a rename: it fails where somebody wrote the name in the meantime
    except FileExistsError as error:
        raise UsageError(f"{out}: was written by somebody else in the meantime; give another name") from error
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error.strerror or error})") from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _jsonl(file: IO[bytes]) -> Iterator[Write]:
    def write(row: dict[str, Any]) -> None:
        file.write(dump_line(row).encode())

    yield write


@contextmanager
def _parquet(file: IO[bytes], columns: Columns) -> Iterator[Write]:
    import pyarrow
    import pyarrow.parquet

    text = pyarrow.string()
    types = {
        "text": text,
        "texts": pyarrow.list_(text),
        "flags": pyarrow.list_(pyarrow.bool_()),
        "chat": pyarrow.list_(pyarrow.struct({"role": text, "content": text})),
    }
    waiting: list[dict[str, Any]] = []
    writer: Any = None

    def flush() -> None:
        nonlocal writer
        if not waiting:
            return
        if writer is None:
            named = columns(waiting[0])
            writer = pyarrow.parquet.ParquetWriter(file, pyarrow.schema({key: types[named[key]] for key in named}))
        writer.write_batch(pyarrow.RecordBatch.from_pylist(waiting, writer.schema))
        waiting.clear()

    def write(row: dict[str, Any]) -> None:
        waiting.append(row)
        if len(waiting) >= BATCH:
            flush()

    try:
        yield write
        flush()
    finally:
        if writer is not None:
            writer.close()
