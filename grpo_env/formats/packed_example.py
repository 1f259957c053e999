"""Packs an example into a line of text, to carry it through another framework's dataset, and unpacks it.

It is text because Arrow datasets fill missing keys of nested columns with nulls, which a verifier would see, and
because some frameworks pass on a single string of a row.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, TypeGuard

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.files.jsonl import dump_record
from grpo_env.taskfile.task import Task

COLUMN = "grpo_env"
"""The column, or key, that holds a packed example."""

_MARK = f'{{"{COLUMN}": '


def pack(example: Example) -> str:
    """The example's row and id as JSON."""
    return dump_record({COLUMN: example.id, "row": dict(example.info)}).rstrip("\n")


def prompt_to_send(task: Task, example: Example) -> str | list[dict[str, str]]:
    """The prompt as datasets have it: text that ends with the format's prefill, or chat messages.

    Trainers begin a new turn after a chat, so there the model's chat template must write the prefill.
    """
    if isinstance(example.prompt, str):
        return example.prompt + task.format.prefill
    return [message._asdict() for message in example.prompt]


def is_packed(text: object) -> TypeGuard[str]:
    """Whether a value is a packed example, rather than a gold answer."""
    return isinstance(text, str) and text.startswith(_MARK)


def unpack(text: str, where: str) -> tuple[str, dict[str, Any]]:
    """Id and row of a packed example. Raises ``UsageError``, beginning with ``where``, for a damaged one."""
    try:
        data = json.loads(text)
        return data[COLUMN], dict(data["row"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{where}: not an example of grpo_env ({error}); write the dataset again") from error


class Unpacker:
    """Makes a task's examples of packed ones, with prompt and gold answer by the task's current templates.

    Caches the last examples, as the completions of a group need the same one. Thread-safe.
    """

    def __init__(self, task: Task, cache_size: int = 4096) -> None:
        self._task = task
        self._cached = lru_cache(cache_size)(self._make)

    def __call__(self, text: str, where: str) -> Example:
        """The example. Raises ``UsageError``, beginning with ``where``, for text that ``pack`` did not write."""
        try:
            return self._cached(text)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error

    def _make(self, text: str) -> Example:
        where = f"task {self._task.name}"
        id, row = unpack(text, where)
        try:
            return self._task.example(row, id, where)
        except UsageError as error:
            raise UsageError(f"{error}; was the dataset written from another task?") from error
