"""An example carried through another framework's data set: packed into a line of text, and whole again behind it.

A line of text, because data sets of Arrow tables fill the missing keys of nested columns with nulls, which a verifier
would see, and because some frameworks hand on one string of a row and no more.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, TypeGuard

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.files.reader import dump_record
from grpo_env.taskfile.task import Task

COLUMN = "grpo_env"
"""The column, or key, that holds a packed example."""

_MARK = f'{{"{COLUMN}": '


def pack(example: Example) -> str:
    """The example's row and id as JSON."""
    return dump_record({COLUMN: example.id, "row": dict(example.info)}).rstrip("\n")


def prompt_to_send(task: Task, example: Example) -> str | list[dict[str, str]]:
    """The prompt as data sets hold it: a text, which the format's prefill ends, or chat messages.

    Trainers begin a new turn after a chat, so there the model's own chat template has to write the prefill.
    """
    if isinstance(example.prompt, str):
        return example.prompt + task.format.prefill
    return [message._asdict() for message in example.prompt]


def is_packed(text: object) -> TypeGuard[str]:
    """Whether a value is what ``pack`` gave, rather than a gold answer."""
    return isinstance(text, str) and text.startswith(_MARK)


def opened(text: str, where: str) -> tuple[str, dict[str, Any]]:
    """Id and row of a packed example. Raises ``UsageError`` that begins with ``where`` for a damaged one."""
    try:
        data = json.loads(text)
        return data[COLUMN], dict(data["row"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{where}: no example of grpo_env ({error}); write the data set again") from error


class Unpacker:
    """Makes a task's examples out of packed ones, prompt and gold answer by the task's templates as they are now.

    Keeps the last ``kept`` examples, as the completions of a group ask for the same one. Safe for threads.
    """

    def __init__(self, task: Task, kept: int = 4096) -> None:
        self._task = task
        self._made = lru_cache(kept)(self._make)

    def __call__(self, text: str, where: str) -> Example:
        """The example. Raises ``UsageError`` that begins with ``where`` for a text that ``pack`` did not give."""
        try:
            return self._made(text)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error

    def _make(self, text: str) -> Example:
        where = f"task {self._task.name}"
        id, row = opened(text, where)
        try:
            return self._task.example(row, id, where)
        except UsageError as error:
            raise UsageError(f"{error}; was the data set written from another task?") from error
