"""Conversations as OpenAI's API has them: ``messages``, with tool calls and their results, and perhaps ``tools``.

The shape of fine-tuning files, and of the logs of many agents. The messages before the first of the assistant are the
prompt.
"""

from __future__ import annotations

from typing import Any

from grpo_env.errors import UsageError

from .chat import before_turns, is_chat, is_turn
from .file_format import FileFormat, Row, converted, join_unless_gold


def _row(row: Row) -> dict[str, Any]:
    messages = row["messages"]
    if not any(map(is_turn, messages)):
        raise UsageError("messages: a chat without a message of the assistant")
    prompt = before_turns(messages)
    return converted(row, [messages[len(prompt) :]], prompt=prompt or None)


def _has_chat(row: Row) -> bool:
    return is_chat(row["messages"])


OPENAI_CHAT = FileFormat(
    "OpenAI conversations",
    columns=("messages",),
    row_function=_row,
    condition=_has_chat,
    adapt=join_unless_gold,
    joins="prompt",
)
