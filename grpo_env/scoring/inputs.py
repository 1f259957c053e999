"""The files that are scored: what each one is, and its rows from the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.files.compression import content_size, is_stdin
from grpo_env.files.reader import Line, Record, parse, read_lines
from grpo_env.formats.detect import Layout, recognise
from grpo_env.taskfile.task import Task

from .fields import Fields
from .reader import Reader

FIRST_ROWS = 32  # by which the layout of a file is told


class Input:
    """A file, a pipe or standard input (``-``), and the ``layout`` that its first rows have.

    ``gold`` finds a row's gold answer, if it has one. Raises ``UsageError``.
    """

    def __init__(self, path: Path, gold: Callable[[Mapping[str, Any]], Any]) -> None:
        self.path = path
        self.seekable = not is_stdin(path) and path.is_file()
        if not is_stdin(path) and (path.is_dir() or not path.exists()):
            raise UsageError(f"{path}: {'a folder, not a file' if path.is_dir() else 'no such file'}")
        rows = read_lines(path)
        first = list(islice(rows, FIRST_ROWS))
        self._rest = None if self.seekable else chain(first, rows)  # a pipe is read once
        self._first = [row for row in (parse(line).row for line in first) if row is not None]
        self.layout: Layout = recognise(self._first, gold)
        self.lines = any(isinstance(row, Line) for row in first)

    @property
    def name(self) -> str:
        """For messages and for the output."""
        return "standard input" if is_stdin(self.path) else str(self.path)

    @cached_property
    def size(self) -> int | None:
        """What ``Chunk.size`` adds up to, as far as that can be told: bytes of lines, or rows of Parquet."""
        if self.seekable and self.lines:
            return content_size(self.path)
        if not self.seekable or self.path.suffix != ".parquet":
            return None
        import pyarrow.parquet

        return int(pyarrow.parquet.read_metadata(self.path).num_rows)

    def rows(self) -> Iterator[Line | Record]:
        """All rows; those of a pipe once."""
        return iter(read_lines(self.path) if self._rest is None else self._rest)

    def identity(self) -> dict[str, Any]:
        """What tells that the file is still the same."""
        about = self.path.stat()
        return {"bytes": about.st_size, "modified": about.st_mtime_ns}

    def reader(self, task: Task, fields: Fields, examples: Iterable[Example], prompts: bool) -> Reader:
        """What reads its rows, joined to the task's examples if need be. Raises ``UsageError`` if no row finds one."""
        if not self.layout.joins:
            return Reader(task, fields, self.layout, prompts=prompts)
        index = self.layout.index(examples)
        shaped = [row for row in map(self._shaped, self._first) if row is not None]
        if shaped and not any(self._joined(row, index) for row in shaped):
            raise UsageError(f"{self.name}: {self.layout.no_match(index)}")
        return Reader(task, fields, self.layout, index, prompts)

    def _shaped(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        with suppress(UsageError):
            return self.layout.row(row)
        return None

    def _joined(self, row: Mapping[str, Any], index: Mapping[str, Example]) -> bool:
        with suppress(UsageError):
            return bool(self.layout.joined(row, index))
        return False
