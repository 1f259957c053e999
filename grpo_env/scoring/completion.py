"""Makes a ``Completion`` of what a file, a request or another trainer has of it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from grpo_env.core import Completion, EnvironmentRecord, Finish
from grpo_env.errors import UsageError
from grpo_env.rows.formats.chat import Reply, read_reply
from grpo_env.taskfile.task import Task
from grpo_env.taskfile.templates import is_missing

from .recorded_turns import Tools, is_episode, read_turns, with_reasoning

MAX_TOKENS = 2**31 - 1
_COUNT = re.compile(r"(\d{1,19})(?:\.0+)?", re.ASCII)
_FINISHES: dict[Any, Finish] = {"stop": "stop", "tool_calls": "stop", "function_call": "stop", "length": "length"}


class Recorded(NamedTuple):
    """What is recorded of a completion besides its text; ``reasoning``: what a server returned apart from it."""

    reasoning: Any = None
    finish_reason: Any = None
    num_tokens: Any = None
    token_ids: tuple[int, ...] | None = None


NOTHING = Recorded()


def read_completion(
    task: Task,
    completion: Any,
    recorded: Recorded = NOTHING,
    tools: Tools | None = None,
    reward: float | None = None,
) -> tuple[Completion, str | None]:
    """A completion (text or chat messages, see ``read_reply``) as the task's verifiers read it, and its reasoning.

    Reasoning that a server returned apart from the text, in the last message or a column, is put back in front of it.
    A chat with tool calls or several messages of the assistant is an episode; ``tools`` are those that it could call,
    if they are known, and ``reward`` is what its environment paid. Raises ``UsageError``.
    """
    reasoning, finish_reason, num_tokens, token_ids = recorded
    finish: Finish = _FINISHES.get(finish_reason, "unknown") if isinstance(finish_reason, str) else "unknown"
    count = _token_count(num_tokens)
    if count is None and token_ids is not None:
        count = len(token_ids)
    if is_episode(completion):
        if finish_reason == "turns":
            finish = "turns"
        turns = read_turns(completion, task.format.reasoning, finish, tools)
        text = "".join(turn.text for turn in turns)
        prefill = _prefill(task, turns[0].text)
        record = None if reward is None else EnvironmentRecord(reward=reward)
        return Completion(text, finish, count, prefill, token_ids, turns, record), None
    if completion is None and reasoning:  # cut off before the reasoning ended
        completion = ""
    content, reasoning_of_message = read_reply(completion)
    reasoning = reasoning_of_message or reasoning
    text = with_reasoning(Reply(content, reasoning), task.format.reasoning, finish)
    return Completion(text, finish, count, _prefill(task, text), token_ids), reasoning or None


def _prefill(task: Task, text: str) -> str:
    """The task's prefill, unless the server returned it as part of the text."""
    return "" if text.startswith(task.format.prefill.rstrip()) else task.format.prefill


def _token_count(num_tokens: Any) -> int | None:
    if is_missing(num_tokens) or num_tokens == "":  # an empty cell of CSV
        return None
    if isinstance(num_tokens, str) and (count := _COUNT.fullmatch(num_tokens)):  # CSV has no numbers
        num_tokens = int(count[1])
    if isinstance(num_tokens, float) and num_tokens.is_integer():  # pandas has no other numbers beside missing ones
        num_tokens = int(num_tokens)
    if not isinstance(num_tokens, int) or isinstance(num_tokens, bool) or not 0 <= num_tokens <= MAX_TOKENS:
        raise UsageError(f"num_tokens must be a count of tokens, found {num_tokens!r:.100}")
    return num_tokens
