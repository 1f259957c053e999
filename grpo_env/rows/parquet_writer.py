"""Writes rows as Parquet, a row group at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

ROW_GROUP = 4096  # rows, which are held in memory until they are written

WriteRow = Callable[[dict[str, Any]], None]


@contextmanager
def parquet_writer(
    file: Path | IO[bytes], schema: Any | Callable[[dict[str, Any]], Any], compression: str = "snappy"
) -> Iterator[WriteRow]:
    """A function that writes one row of Parquet. What a row does not have is null.

    ``schema`` is an Arrow schema, or a function that makes it from the first row; then nothing is written without rows.
    """
    import pyarrow
    import pyarrow.parquet

    pending: list[dict[str, Any]] = []
    writer: Any = None

    def open_file(arrow_schema: Any) -> Any:
        return pyarrow.parquet.ParquetWriter(file, arrow_schema, compression=compression)

    def flush() -> None:
        nonlocal writer
        if not pending:
            return
        if writer is None:
            writer = open_file(schema(pending[0]))
        writer.write_batch(pyarrow.RecordBatch.from_pylist(pending, writer.schema))
        pending.clear()

    def write(row: dict[str, Any]) -> None:
        pending.append(row)
        if len(pending) >= ROW_GROUP:
            flush()

    if not callable(schema):
        writer = open_file(schema)
    try:
        yield write
        flush()
    finally:
        if writer is not None:
            writer.close()
