"""A new file of rows, JSONL or Parquet by its suffix, which takes its name when it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from grpo_env.errors import RunError, UsageError
from grpo_env.files import dump_line

BATCH = 1000  # rows of Parquet that are held before they are written

Write = Callable[[dict[str, Any]], None]


@contextmanager
def new_rows(out: Path, schema: Any = None) -> Iterator[Write]:
    """A function that writes one row. ``schema`` (pyarrow) is what Parquet needs; without it only JSONL can be had.

    Raises ``UsageError`` if ``out`` exists or has another suffix, ``RunError`` if it cannot be written. Nothing is
    left behind if the block raises.
    """
    kinds = (".jsonl",) if schema is None else (".jsonl", ".parquet")
    if out.suffix not in kinds:
        raise UsageError(f"{out}: the name must end in {' or '.join(kinds)}")
    if out.exists():
        raise UsageError(f"{out}: exists already; give another name with --out")
    partial = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            with _jsonl(file) if out.suffix == ".jsonl" else _parquet(file, schema) as write:
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
def _parquet(file: IO[bytes], schema: Any) -> Iterator[Write]:
    import pyarrow
    import pyarrow.parquet

    waiting: list[dict[str, Any]] = []

    def flush() -> None:
        if waiting:
            writer.write_batch(pyarrow.RecordBatch.from_pylist(waiting, schema))
            waiting.clear()

    def write(row: dict[str, Any]) -> None:
        waiting.append(row)
        if len(waiting) >= BATCH:
            flush()

    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        yield write
        flush()
