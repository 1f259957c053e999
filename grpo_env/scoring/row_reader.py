"""Reads a line of a file as completions of an example, or as the problem that keeps them from being scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.rows.formats.file_format import NATIVE, FileFormat
from grpo_env.rows.reader import Line, Record, parse
from grpo_env.taskfile.task import Task

from .columns import (
    Fields,
    as_text,
    completions_of,
    environment_reward_of,
    episode_of,
    gold_answer_of,
    group_of,
    labels_of,
    per_completion,
    prompt_of,
    select,
    select_value,
    token_ids_of,
)
from .completion import Recorded, read_completion
from .recorded_turns import Tools, read_tools


class InputRow(NamedTuple):
    """Completions of an example, or why they cannot be scored (``problem``).

    Neighbors with the same ``key`` are one group; ``None``: the row is a group by itself. ``labels`` and ``reasonings``
    (what a server returned apart from the text) have an entry for each completion, and ``first`` is the number of the
    first one in its group. ``tools`` are those of an episode, if they are known. ``prompt_recorded`` as in
    ``columns.Prompt``. A row is ``skipped`` if its problem is a gold answer that ``dataset.bad_gold: skip`` leaves out.
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
    tools: Tools | None = None
    prompt_recorded: bool | None = None
    skipped: bool = False

    @property
    def group(self) -> str | int:
        """What neighbors of one group share: their key, or the line of a row that is a group by itself."""
        return self.key or self.line  # the types differ: a key may look like the number of a line


@dataclass(frozen=True)
class RowReader:
    """Reads the rows of one file. Picklable.

    ``index`` has the task's examples if the format joins rows with them. Without ``prompts`` a row has a prompt only if
    a verifier needs it. ``tools`` are those of the task's environment, for episodes whose row does not have its own.
    """

    task: Task
    fields: Fields = field(default_factory=Fields)
    file_format: FileFormat = NATIVE
    index: Mapping[str, Example] = field(default_factory=dict)
    prompts: bool = True
    tools: Tools | None = None

    def read_all(self, lines: Iterable[Line | Record]) -> list[InputRow]:
        """Neighboring rows to score, without those that only repeat another one.

        The completions of a group are numbered through, whether it is one row or several: rows with the same id and
        group are told apart by that number.
        """
        rows: list[InputRow] = []
        key, number = None, 0
        for row in filter(None, map(self.read, lines)):
            if row.key is not None or not row.problem:  # an unreadable row does not end a group
                number = number + 1 if row.key is not None and row.key == key else 0
                key = row.key
            rows.append(row if self.file_format.number or not number else row._replace(first=number))
        return rows

    def read(self, line: Line | Record) -> InputRow | None:
        """A row to score; ``None`` for a row that only repeats another one."""
        record = parse(line)
        number, id, key = record.line, str(record.line), None
        try:
            row = self.converted(record)
            if row is None:
                return None
            own = select_value(row, self.fields.id or "id", self.task) if self.fields.id or "id" in row else None
            id = id if own is None else str(own)
            raw = completions_of(row, self.fields, self.task)
            key = group_of(row, self.fields, self.task) if len(raw) == 1 else None
            labels = labels_of(row, self.fields, self.task, len(raw))
            prompt = prompt_of(row, self.fields, self.task, self.prompts, raw[0])
            example = Example(id, prompt.content, self.gold_answer(row), row)
            if problem := self.task.verifier.problem(example):
                skipped = self.task.spec.dataset.bad_gold == "skip"
                return InputRow(number, id, key, problem=problem, skipped=skipped)
            completions, reasonings = self._completions(row, raw)
        except UsageError as error:
            return InputRow(number, id, key, problem=str(error))
        tools = self._tools(row) if any(completion.turns for completion in completions) else None
        return InputRow(
            number,
            id,
            key,
            example,
            completions,
            labels,
            reasonings,
            first=self._first_number(record),
            tools=tools,
            prompt_recorded=prompt.recorded,
        )

    def in_groups(self, rows: Iterable[Line | Record]) -> Iterator[Line | Record]:
        """The rows of the file, with each group's together where the format mixes those of a block of rows.

        Such a block (a training step) is held in memory. Groups keep the order of their first rows.
        """
        column = self.file_format.mixed_within
        if column is None:
            yield from rows
            return
        groups: dict[str | int, list[Line | Record]] = {}
        block: Any = None
        for number, row in enumerate(rows):
            content = parse(row).row or {}
            if content.get(column, block) != block:
                yield from chain.from_iterable(groups.values())
                groups, block = {}, content[column]
            try:
                key: str | int = self.key(row) or number
            except UsageError:
                key = number
            groups.setdefault(key, []).append(row)
        yield from chain.from_iterable(groups.values())

    def key(self, line: Line | Record) -> str | None:
        """``InputRow.key`` without the rest of the row. Raises ``UsageError`` for a row that cannot be scored."""
        row = self.converted(parse(line))
        if row is None:
            raise UsageError("repeats another row")
        return group_of(row, self.fields, self.task) if len(completions_of(row, self.fields, self.task)) == 1 else None

    def converted(self, record: Record) -> dict[str, Any] | None:
        """A row as one of ours, joined with its example; ``None`` for a repeated one. Raises ``UsageError``."""
        if record.row is None:
            raise UsageError(record.problem)
        row = self.file_format.convert(record.row)
        if row is None or self.file_format.joins is None:
            return row
        if self.file_format.joins == "order":
            row["id"] = str(record.line)  # what the index has examples by
            return self.file_format.join(row, self.index) | {"id": self.index[row["id"]].id}
        if self.fields.id and self.file_format.joins == "id":
            row["id"] = str(select(row, self.fields.id, self.task))
        if self.fields.prompt and self.file_format.joins == "prompt":
            row["prompt"] = select(row, self.fields.prompt, self.task)
        return self.file_format.join(row, self.index)

    def gold_answer(self, row: Mapping[str, Any]) -> str | None:
        """The gold answer of a converted row. Raises ``UsageError``."""
        by_task = partial(gold_answer_of, fields=self.fields, task=self.task)
        return as_text(by_task(row) if self.fields.answer else self.file_format.gold_answer(row, by_task))

    def _completions(
        self, row: Mapping[str, Any], raw: list[Any]
    ) -> tuple[tuple[Completion, ...], tuple[str | None, ...]]:
        columns = [per_completion(row, name, len(raw)) for name in ("reasoning_content", "finish_reason", "num_tokens")]
        records = map(Recorded, *columns, token_ids_of(row, len(raw)))
        texts = all(isinstance(text, str) for text in raw)
        of_episodes = () if texts else (self._tools(row), environment_reward_of(row, self.task))
        pairs = [
            read_completion(self.task, completion, recorded, *of_episodes)
            for completion, recorded in zip(raw, records, strict=True)
        ]
        completions, reasonings = zip(*pairs, strict=True)
        if len(completions) == 1 and "turns" in row and not completions[0].turns:
            turns, record = episode_of(row, completions[0].text)
            out_of_turns = turns and per_completion(row, "finish_reason", 1) == ["turns"]
            finish = "turns" if out_of_turns else completions[0].finish
            completions = (replace(completions[0], finish=finish, turns=turns, environment=record),)
        return completions, reasonings

    def _tools(self, row: Mapping[str, Any]) -> Tools | None:
        return read_tools(row.get("tools")) or self.tools

    def _first_number(self, record: Record) -> int:
        """The number of the row's first completion."""
        number_of = self.file_format.number
        number = number_of(record.row) if number_of and record.row else 0
        return number if type(number) is int else 0
