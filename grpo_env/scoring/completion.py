"""Makes a ``Completion`` of what a file, a request or another trainer has of it."""

from __future__ import annotations

from typing import Any

from grpo_env.core import Completion, Finish
from grpo_env.errors import UsageError
from grpo_env.formats.chat import read_reply
from grpo_env.taskfile.task import Task

MAX_TOKENS = 2**31 - 1


def read_completion(
    task: Task,
    completion: Any,
    *,
    reasoning: Any = None,
    finish_reason: Any = None,
    num_tokens: Any = None,
    token_ids: tuple[int, ...] | None = None,
) -> tuple[Completion, str | None]:
    """A completion (text or chat messages, see ``read_reply``) as the task's verifiers read it, and its reasoning.

    Reasoning that a server returned apart from the text, in the last message or as ``reasoning``, is put back in front
    of it. Raises ``UsageError``.
    """
    if completion is None and reasoning:  # cut off before the reasoning ended
        completion = ""
    content, reasoning_of_message = read_reply(completion)
    reasoning = reasoning_of_message or reasoning
    if reasoning is not None and not isinstance(reasoning, str):
        raise UsageError(f"reasoning_content must be a string, found {type(reasoning).__name__}")
    finish: Finish = finish_reason if finish_reason in ("stop", "length") else "unknown"
    text = _with_reasoning(content, reasoning, task.format.reasoning, finish)
    # Some servers return the prefill as part of the text.
    prefill = "" if text.startswith(task.format.prefill.rstrip()) else task.format.prefill
    count = _token_count(num_tokens)
    if count is None and token_ids is not None:
        count = len(token_ids)
    return Completion(text, finish, count, prefill, token_ids), reasoning or None


def _token_count(num_tokens: Any) -> int | None:
    if num_tokens is None or num_tokens == "":  # an empty cell of CSV
        return None
    if isinstance(num_tokens, str) and num_tokens.isdecimal() and len(num_tokens) < 20:  # CSV has no numbers
        num_tokens = int(num_tokens)
    if not isinstance(num_tokens, int) or isinstance(num_tokens, bool) or not 0 <= num_tokens <= MAX_TOKENS:
        raise UsageError(f"num_tokens must be a count of tokens, found {num_tokens!r:.100}")
    return num_tokens


def _with_reasoning(content: str, reasoning: str | None, tag: str | None, finish: Finish) -> str:
    """The text as the model wrote it: the reasoning in its tags, then the content."""
    if not reasoning or tag is None or content.lstrip().startswith(f"<{tag}>"):
        return content
    inside = reasoning.strip("\n")
    if not content and finish == "length":
        return f"<{tag}>\n{inside}"
    return f"<{tag}>\n{inside}\n</{tag}>\n" + content.lstrip("\n")
