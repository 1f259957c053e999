"""A line of a file as completions of an example, or as the problem that keeps them from being judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.files.reader import Line, Record, parse
from grpo_env.formats.detect import OURS, Layout
from grpo_env.taskfile.task import Task

from .fields import Fields, as_text, completion_of, each, found_in, key_of, labels_of, prompt_of, select, token_ids


class Row(NamedTuple):
    """A row that was read: completions of an example, or why they cannot be judged.

    ``key`` is what neighbours must share to be in one group with it, ``None`` where the row is a group by itself.
    ``labels`` and ``reasonings`` (what a server had split off the text) have an entry for each completion, whose
    numbers begin with ``first``.
    """

    line: int
    id: str
    key: str | None = None
    example: Example = Example("")
    completions: tuple[Completion, ...] = ()
    labels: tuple[bool | None, ...] = ()
    reasonings: tuple[str | None, ...] = ()
    problem: str = ""
    first: int = 0


@dataclass(frozen=True)
class Reader:
    """Reads the rows of one file. Picklable.

    ``index`` has the task's examples for a layout that joins them. Without ``prompts`` a row has its prompt only if a
    verifier looks at it.
    """

    task: Task
    fields: Fields = field(default_factory=Fields)
    layout: Layout = OURS
    index: Mapping[str, Example] = field(default_factory=dict)
    prompts: bool = True

    def read(self, line: Line | Record) -> Row | None:
        """A row to judge; ``None`` for a row that only repeats another one."""
        record = parse(line)
        number, id, key = record.line, str(record.line), None
        try:
            row = self._shaped(record)
            if row is None:
                return None
            id = str(select(row, self.fields.id, self.task) if self.fields.id else row.get("id", id))
            found = found_in(row, self.fields, self.task)
            key = key_of(row, self.fields, self.task) if len(found) == 1 else None
            labels = labels_of(row, self.fields, self.task, len(found))
            gold = partial(gold_of, self.task, self.fields)
            answer = gold(row) if self.fields.answer else self.layout.answer(row, gold)
            example = Example(id, prompt_of(row, self.task, self.prompts), as_text(answer), row)
            if problem := self.task.verifier.problem(example):
                raise UsageError(problem)
            columns = [each(row, name, len(found)) for name in ("reasoning_content", "finish_reason", "num_tokens")]
            ids = token_ids(row, len(found))
            read = [completion_of(self.task, *one) for one in zip(found, *columns, ids, strict=True)]
        except UsageError as error:
            return Row(number, id, key, problem=str(error))
        completions, reasonings = zip(*read, strict=True)
        first = self.layout.numbered and record.row and record.row[self.layout.numbered]
        return Row(number, id, key, example, completions, labels, reasonings, first=first if type(first) is int else 0)

    def key(self, line: Line | Record) -> str | None:
        """``Row.key`` without reading the rest of the row. Raises ``UsageError`` for a row that cannot be judged."""
        row = self._shaped(parse(line))
        if row is None:
            raise UsageError("repeats another row")
        return key_of(row, self.fields, self.task) if len(found_in(row, self.fields, self.task)) == 1 else None

    def _shaped(self, record: Record) -> dict[str, Any] | None:
        if record.row is None:
            raise UsageError(record.problem)
        row = self.layout.row(record.row)
        return self.layout.joined(row, self.index) if row is not None and self.layout.joins else row


def gold_of(task: Task, fields: Fields, row: Mapping[str, Any]) -> Any:
    """The gold answer of a row where the user said it is, else by the task's own template. Raises ``UsageError``."""
    return select(row, fields.answer, task) if fields.answer else task.answer(row, "row")
