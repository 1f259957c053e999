"""Rows of a scores file, one for each completion, and what they say besides their scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.rows.reader import read_records

ScoreRow = Mapping[str, Any]  # the keys are in docs/scoring.md

REQUIRED = ("id", "completion", "total", "status", "parts")


class _PlacedRow(dict[str, Any]):
    """A row that knows its file and line, for messages."""

    __slots__ = ("place",)
    place: str


def read_scores(path: Path) -> Iterator[ScoreRow]:
    """The rows of a scores file, in order. A missing value is null in Parquet and a missing key in JSONL.

    Raises ``UsageError`` with the line if a row is not a score row.
    """
    for record in read_records(path):
        row = record.row
        missing = [key for key in REQUIRED if key not in row] if row is not None else []
        if row is None or missing:
            problem = record.problem or f"no key {missing[0]!r}; was this file written by grpo_env score?"
            raise UsageError(f"{path}, {record.place}: {problem}")
        placed = _PlacedRow(row)
        placed.place = f"{path}, {record.place}"
        yield placed


def first_row(path: Path) -> ScoreRow:
    """The first row of a file of any rows, empty if there is none. Raises ``UsageError`` if it cannot be read."""
    return next((record.row for record in read_records(path) if record.row is not None), {})


def location(row: ScoreRow) -> str:
    """The row, for messages: its file and line, if it was read from one, its id and its completion."""
    place = f"{row.place}: " if isinstance(row, _PlacedRow) else ""
    name = name_of(row)
    return f"{place}{f'row {name!r}' if name == row['id'] else f'input {name}'}, completion {row['completion']}"


def name_of(row: Mapping[str, Any]) -> str:
    """What a row is called: its id, or ``line 5`` if that is nothing but the number of its line."""
    return f"line {row['id']}" if str(row.get("line")) == row["id"] else str(row["id"])


def group_of(row: ScoreRow) -> str:
    """The id of the row's group, or of the row if it has none."""
    group = row.get("group")
    return str(row["id"] if group is None else group)


def groups(rows: Iterable[ScoreRow]) -> Iterator[list[ScoreRow]]:
    """The rows of each group. Raises ``UsageError`` if a group goes on after rows of another one."""
    seen: set[int] = set()  # hashes: the names of a million groups would take much more memory
    for group, adjacent in groupby(rows, group_of):
        own = list(adjacent)
        if hash(group) in seen:
            problem = f"the rows of group {group!r} are not adjacent; sort the file by group"
            raise UsageError(f"{location(own[0])}: {problem}")
        seen.add(hash(group))
        yield own


def metric_of(row: ScoreRow) -> str:
    """The name of the task's metric. Raises ``UsageError``."""
    name = row.get("metric")
    if not isinstance(name, str):
        raise UsageError(f"{location(row)}: no key 'metric'; choose a part with --part")
    return name


def question_of(row: ScoreRow) -> str:
    """The last message of the prompt, or a prompt of plain text."""
    return next((content for _, content in reversed(prompt_messages(row))), "")


def prompt_messages(row: ScoreRow) -> list[tuple[str, str]]:
    """The roles and contents of a prompt, to be shown: a text has no role, and what is no chat is shown as it is."""
    try:
        prompt = prompt_of(row)
    except (KeyError, TypeError):
        prompt = str(row["prompt"])
    if isinstance(prompt, list):
        return [(str(message["role"]), str(message["content"] or "")) for message in prompt]
    return [("", str(prompt))] if prompt else []


def prompt_of(row: ScoreRow) -> str | list[dict[str, str]] | None:
    """The prompt: text, or a chat whose messages have only ``role`` and ``content``."""
    prompt = row.get("prompt")
    if isinstance(prompt, str) and prompt.startswith('[{"role": '):  # a chat in a Parquet column of texts
        with suppress(ValueError):
            prompt = json.loads(prompt)
    if isinstance(prompt, list):
        return [{"role": message["role"], "content": message["content"]} for message in prompt]
    return prompt
