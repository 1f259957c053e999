"""Reads chat messages: the reply in a completion, and the messages of a prompt.

Every chat goes through this module, whether it comes from our own rows, another tool's file or another trainer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, NamedTuple, TypeGuard

from grpo_env.core import Message
from grpo_env.errors import UsageError

# Keys of a message that carries no content: it calls a tool, only reasons, or refuses.
_WITHOUT_CONTENT = {"tool_calls", "function_call", "reasoning_content", "reasoning", "refusal"}


class Reply(NamedTuple):
    """What the model said, and the reasoning that the server returned apart from it."""

    text: str
    reasoning: str | None = None


def is_chat(value: object) -> TypeGuard[list[Mapping[str, Any]]]:
    """Whether a value is a non-empty list of messages."""
    return isinstance(value, list) and bool(value) and all(isinstance(message, Mapping) for message in value)


def read_reply(completion: object) -> Reply:
    """The reply in a completion, which is text or chat messages.

    The reply of a chat is its last message of the role ``assistant`` (the default where a message has no role), as in
    TRL and verl: results of tools and later turns of the user do not count. The text parts of a content list are
    joined; a refusal counts as content; a message that only reasons or calls a tool has the empty text.

    Raises ``UsageError`` for anything else, for a chat without such a message, and for content that is not text.
    """
    if isinstance(completion, str):
        return Reply(completion)
    if not is_chat(completion):
        raise UsageError(f"a completion must be a string or a list of chat messages, found {type(completion).__name__}")
    message = next((message for message in reversed(completion) if is_turn(message)), None)
    if message is None:
        raise UsageError("the completion is a chat without a message of the assistant")
    return read_turn(message)


def is_turn(message: Mapping[str, Any]) -> bool:
    """Whether the model wrote a message: its role is ``assistant``, or it has none."""
    return bool(message.get("role", "assistant") == "assistant")


def before_turns(chat: object) -> list[Mapping[str, Any]]:
    """The messages of a chat before the first of the assistant: its prompt. None for anything else than a chat."""
    return list(takewhile(lambda message: not is_turn(message), chat)) if is_chat(chat) else []


def read_turn(message: Mapping[str, Any]) -> Reply:
    """One message of the assistant, as ``read_reply`` reads the last one. Raises ``UsageError``."""
    content = _text(message.get("content")) or message.get("refusal") or ""
    if not isinstance(content, str):
        raise UsageError(f"the content of a message must be text, found {type(content).__name__}")
    if "content" not in message and len(message) > 1 and _WITHOUT_CONTENT.isdisjoint(message):
        raise UsageError(f"a message of the assistant has no content; its keys are {', '.join(map(str, message))}")
    # DeepSeek and older versions of vLLM say reasoning_content, newer ones reasoning.
    return Reply(content, message.get("reasoning_content") or message.get("reasoning"))


def read_messages(prompt: object) -> tuple[Message, ...] | None:
    """The messages of a prompt; ``None`` if it is not a chat. A message without content has the empty text."""
    if not is_chat(prompt) or not all("role" in message for message in prompt):
        return None
    return tuple(Message(str(message["role"]), str(_text(message.get("content")) or "")) for message in prompt)


def content_text(message: Mapping[str, Any]) -> str:
    """The content of a message that is not the model's, as text."""
    content = _text(message.get("content"))
    return content if isinstance(content, str) else "" if content is None else json.dumps(content, default=str)


def _text(content: object) -> object:
    """Content with the text parts of a list joined."""
    if not isinstance(content, list):
        return content
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
    return "".join(text for text in texts if isinstance(text, str))
