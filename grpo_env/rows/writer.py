"""Writes a new file of rows, JSONL or Parquet by its suffix, that gets its name once it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from grpo_env.errors import RunError, UsageError

from .jsonl import dump_line
from .reader import replace_surrogates

ROW_GROUP = 4096  # rows, which are held in memory until they are written

WriteRow = Callable[[dict[str, Any]], object]


@contextmanager
def new_rows(out: Path, suffixes: Sequence[str] = (".jsonl",), *, overwrite: bool | None = False) -> Iterator[WriteRow]:
    """A function that writes one row. The first one gives the columns of Parquet.

    Raises ``UsageError`` for another suffix, and as ``new_file`` does.
    """
    check_new(out, suffixes, overwrite=overwrite)
    with new_file(out, overwrite=overwrite) as file:
        if out.suffix == ".jsonl":
            yield lambda row: file.write(dump_line(row).encode())
        else:
            with parquet_writer(file) as write:
                yield write


@contextmanager
def new_file(out: Path, *, overwrite: bool | None = False) -> Iterator[IO[bytes]]:
    """A file to write, which gets the name ``out`` at the end of the block. None is left or replaced if that raises.

    Raises ``UsageError`` as ``check_free`` does, ``RunError`` if it cannot be written.
    """
    check_free(out, overwrite=overwrite)
    partial = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with writing(out):
            with partial.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            publish(partial, out, overwrite=overwrite)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def writing(file: Path | str) -> Iterator[None]:
    """Turns what the system says against writing a file into a ``RunError`` that names it."""
    try:
        yield
    except BrokenPipeError:  # of standard output, e.g. in `| head`: the command line ends quietly
        raise
    except OSError as error:
        raise RunError(f"{file}: cannot be written ({error.strerror or error})") from error


def publish(part: Path, out: Path, *, overwrite: bool | None) -> None:
    """Give a complete file a second name, ``out``; it may have that already.

    Raises ``UsageError`` if another file has it, unless ``overwrite``, and ``OSError``.
    """
    if overwrite:
        link = part.with_name(f"{part.name}.link")
        link.unlink(missing_ok=True)
        os.link(part, link)
        os.replace(link, out)
        link.unlink(missing_ok=True)  # it stays if both were the same file
        return
    try:
        os.link(part, out)  # a rename would overwrite a file that was created in the meantime
    except FileExistsError as error:
        if not part.samefile(out):
            raise UsageError(f"{out}: was created by another process in the meantime; give another name") from error


def check_new(out: Path, suffixes: Sequence[str] = (".jsonl",), *, overwrite: bool | None = False) -> None:
    """Raises ``UsageError`` if ``out`` exists, has another suffix, or is in no folder; for a check before the work."""
    if out.suffix not in suffixes:
        raise UsageError(f"{out}: the name must end in {' or '.join(suffixes)}")
    check_free(out, overwrite=overwrite)


def check_free(file: Path, *, overwrite: bool | None = False) -> None:
    """Raises ``UsageError`` if a file exists, unless ``overwrite``, or has no folder; for a check before the work.

    ``overwrite=None``: the command has no ``--overwrite``.
    """
    if os.path.lexists(file) and not overwrite:  # a link to nothing, too
        advice = "delete it first" if overwrite is None else "add --overwrite"
        raise UsageError(f"{file}: already exists; give another name, or {advice}")
    if not file.parent.is_dir():
        raise UsageError(f"{file}: there is no folder {file.parent}; create it first")


def refuse_inputs(out: Path, inputs: Iterable[Path]) -> None:
    """Raises ``UsageError`` if ``out`` is a file that is read, which ``overwrite`` would replace."""
    for file in inputs:
        if same_file(out, file):
            raise UsageError(f"{out}: is an input; give another name with --out")


def same_file(path: Path, other: Path) -> bool:
    """Whether two names are of one file."""
    return path.exists() and other.exists() and path.samefile(other)


@contextmanager
def parquet_writer(file: Path | IO[bytes], schema: Any = None, **options: Any) -> Iterator[WriteRow]:
    """A function that writes one row of Parquet. What a row does not have is null.

    Without an Arrow ``schema`` it is that of the first row; then nothing is written without rows. Lone surrogates,
    which Parquet cannot hold, become U+FFFD. ``options`` are those of pyarrow's ``ParquetWriter``.
    """
    import pyarrow
    import pyarrow.parquet

    pending: list[dict[str, Any]] = []
    writer: Any = None
    with ExitStack() as opened:

        def open_file(schema: Any) -> Any:
            return opened.enter_context(pyarrow.parquet.ParquetWriter(file, schema, **options))

        def flush() -> None:
            nonlocal writer
            if pending:
                writer = writer or open_file(pyarrow.RecordBatch.from_pylist(pending[:1]).schema)
                try:
                    batch = pyarrow.RecordBatch.from_pylist(pending, writer.schema)
                except UnicodeEncodeError:
                    batch = pyarrow.RecordBatch.from_pylist(_without_surrogates(pending), writer.schema)
                writer.write_batch(batch)
                pending.clear()

        def write(row: dict[str, Any]) -> None:
            pending.append(row)
            if len(pending) >= ROW_GROUP:
                flush()

        if schema is not None:
            writer = open_file(schema)
        yield write
        flush()


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    return value
