"""Examples of a task in another framework's dataset: the prompt it gets, and the example made again from its row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.rows.formats.packed_example import is_packed, unpack
from grpo_env.scoring.columns import as_text
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from .scoring import refuse


def prompt_to_send(task: Task, example: Example) -> str | list[dict[str, str]]:
    """The prompt as datasets have it: text that ends with the format's prefill, or chat messages.

    Trainers begin a new turn after a chat, so there the model's chat template must write the prefill.
    """
    if isinstance(example.prompt, str):
        return example.prompt + task.format.prefill
    return [message._asdict() for message in example.prompt]


def chats(task: Task, split: Split, caller: str) -> Iterator[tuple[Example, list[dict[str, str]]]]:
    """The examples of a split with their prompts, for a trainer that applies a chat template to them.

    Raises ``UsageError`` for text prompts, and for a task with an environment.
    """
    refuse(task, caller, ("episodes",))
    for example in task.examples(split):
        prompt = prompt_to_send(task, example)
        if isinstance(prompt, str):
            raise UsageError(f"{task.source}: prompt.text: {caller}'s data sets contain chats; use prompt.user")
        yield example, prompt


MAX_CACHED = 4096  # examples


class Unpacker:
    """Makes a task's examples of packed ones, with prompt and gold answer by the task's current templates.

    Caches the last examples, as the completions of a group need the same one. Thread-safe.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._cached = lru_cache(MAX_CACHED)(self._make)

    def __call__(self, text: str, where: str) -> Example:
        """The example. Raises ``UsageError``, beginning with ``where``, for text that ``pack`` did not write."""
        try:
            return self._cached(text)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error

    def of_gold(self, gold: Any, where: str, plain: Example) -> Example:
        """The example of a gold answer that is packed, or else ``plain`` with it as the answer."""
        return self(gold, where) if is_packed(gold) else replace(plain, answer=as_text(gold))

    def _make(self, text: str) -> Example:
        where = f"task {self._task.name}"
        id, row = unpack(text, where)
        try:
            return self._task.example(row, id, where)
        except UsageError as error:
            raise UsageError(f"{error}; was the dataset written from another task?") from error
