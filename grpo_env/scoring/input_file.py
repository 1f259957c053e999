"""An input file of a scoring run: its format, its size and its rows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from grpo_env.core import Example
from grpo_env.environments.episode import EnvironmentClass
from grpo_env.errors import UsageError
from grpo_env.rows.compression import STDIN, open_source, source_name
from grpo_env.rows.formats.detect import detect_format
from grpo_env.rows.formats.file_format import NATIVE, FileFormat, Row
from grpo_env.rows.formats.join import By, UnmatchedError, advice
from grpo_env.rows.formats.openai_chat import OPENAI_CHAT
from grpo_env.rows.reader import Line, Record, parse, read_lines
from grpo_env.taskfile.task import Task

from .column_check import Read, check_columns
from .columns import Fields, completions_of, gold_answer_of, select
from .recorded_turns import Tools
from .row_reader import RowReader

DETECTION_ROWS = 32  # first rows by which the format of a file is detected
HASHED_BYTES = 1 << 20  # at each end of a file, so that hashing takes milliseconds whatever its size


class InputFile:
    """A file, a pipe or standard input (``-``), and the ``file_format`` of its first rows. Raises ``UsageError``.

    ``name`` is for messages and for the output. ``join`` says how its rows are joined with the task's examples,
    whatever its format does. ``is_empty`` if it has no rows.
    """

    def __init__(self, path: Path, task: Task, fields: Fields, join: By | None = None) -> None:
        self.path = path
        self._task, self._fields = task, fields
        self.name = source_name(path)
        self.seekable = path != STDIN and path.is_file()
        rows = read_lines(path)
        first = list(islice(rows, DETECTION_ROWS))
        self._all_rows = None if self.seekable else chain(first, rows)  # a pipe can only be read once
        records = list(map(parse, first))
        self._rows_are_lines = all(record.is_line for record in records)
        self._first = [record for record in records if record.row is not None]
        first_rows = [record.row for record in self._first if record.row is not None]
        self.file_format: FileFormat = detect_format(first_rows, partial(gold_answer_of, fields=fields, task=task))
        if fields.completion and self.file_format is OPENAI_CHAT:  # messages are then the prompt
            self.file_format = NATIVE
        if join is not None:
            self.file_format = replace(self.file_format, joins=join)
        self.is_empty = not first
        self.has_lines = any(isinstance(row, Line) for row in first)

    def place(self, line: int) -> str:
        """Where the row with this ``Record.line`` is, for messages."""
        return Record(line, None, is_line=self._rows_are_lines).place

    @cached_property
    def size(self) -> int | None:
        """The sum of ``Chunk.size`` over the file, if it is known before it is read: bytes of uncompressed lines."""
        if not (self.seekable and self.has_lines):
            return None
        with open_source(self.path) as stream:
            return self.path.stat().st_size if stream.seekable() else None

    def rows(self) -> Iterator[Line | Record]:
        """All rows; those of a pipe only once."""
        return iter(read_lines(self.path) if self._all_rows is None else self._all_rows)

    def identity(self) -> dict[str, Any]:
        """What changes when the file does: its size, modification time, and a hash of its first and last megabyte."""
        with self.path.open("rb") as file:
            status = os.fstat(file.fileno())
            content = hashlib.sha256(file.read(HASHED_BYTES))
            file.seek(max(0, status.st_size - HASHED_BYTES))
            content.update(file.read(HASHED_BYTES))
        return {"bytes": status.st_size, "modified": status.st_mtime_ns, "content": content.hexdigest()[:16]}

    def reader(self, examples: Sequence[Example], prompts: bool) -> RowReader:
        """A reader of its rows, joined with ``examples`` if the format needs it.

        Raises ``UsageError`` if none of the first rows can be joined, or has what the reader looks for.
        """
        joins = self.file_format.joins
        index = self._by_line(examples) if joins == "order" else self.file_format.index(examples) if joins else {}
        reader = RowReader(self._task, self._fields, self.file_format, index, prompts, self._tools())
        rows, unmatched = self._converted(reader)
        if joins and unmatched and not rows:
            raise UsageError(f"{self.name}: {unmatched[0]}; {advice(joins)}")
        if rows:
            try:
                check_columns(rows, self._columns(reader))
            except UsageError as error:
                raise UsageError(f"{self.name}: {error}") from error
        return reader

    def _by_line(self, examples: Sequence[Example]) -> dict[str, Example]:
        """The examples by the lines of their rows. Raises ``UsageError`` unless there is one row for each."""
        if not self.seekable:
            raise UsageError(f"{self.name}: --join order needs a file, not a pipe")
        lines = [row.line for row in self.rows()]
        if len(lines) != len(examples):
            raise UsageError(
                f"{self.name}: has {len(lines):,} rows, and the split {len(examples):,} examples; --join order needs a "
                "row for each, in the same order (dataset.limit.eval=N takes the first N examples, --split the other)"
            )
        return {str(line): example for line, example in zip(lines, examples, strict=True)}

    def _columns(self, reader: RowReader) -> dict[str, Read]:
        """What every row must have, by name."""
        fields = self._fields
        flags = {
            "prompt": fields.prompt,
            "id": fields.id,
            "group": fields.group,
            **{f"label {name}": name for name in fields.label},
        }
        return {
            "completion": partial(completions_of, fields=fields, task=self._task),
            "answer": reader.gold_answer,
            **{name: partial(select, selector=flag, task=self._task) for name, flag in flags.items() if flag},
        }

    def _tools(self) -> Tools | None:
        """The tools of the task's environment, if the file has episodes and it can be loaded."""
        if self._task.spec.environment is None or not any(_has_chats(record.row or {}) for record in self._first):
            return None
        with suppress(UsageError):
            return EnvironmentClass.of_task(self._task).tools
        return None

    def _converted(self, reader: RowReader) -> tuple[list[dict[str, Any]], list[str]]:
        """The first rows that can be read, and why others have no example."""
        rows, unmatched = [], []
        for record in self._first:
            try:
                rows.append(reader.converted(record))
            except UnmatchedError as error:
                unmatched.append(str(error))
            except UsageError:
                continue
        return [row for row in rows if row is not None], unmatched


def require_rows(files: Sequence[InputFile]) -> None:
    """Raises ``UsageError`` if no file has a row."""
    if all(file.is_empty for file in files):
        names = ", ".join(file.name for file in files)
        raise UsageError(f"{names}: no rows; expected one completion, or a group of them, a row")


def _has_chats(row: Row) -> bool:
    """Whether a row may be an episode that another tool recorded; ours say what was wrong with each call."""
    return "turns" not in row and any(isinstance(value, list) for value in row.values())
