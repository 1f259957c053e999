"""Logs of Inspect (inspect-ai 0.3): a row is one epoch of a sample; the epochs of a sample are one group.

The samples of a ``.json`` log are under ``samples``, those of an ``.eval`` log are files of a zip.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grpo_env.errors import UsageError

from .chat import is_turn
from .file_format import FileFormat, Row, converted, error_message, unpacked
from .packed_example import COLUMN

_FINISHES = {"max_tokens": "length", "model_length": "length"}


def _row(row: Row) -> dict[str, Any]:
    if row.get("error"):
        raise UsageError(f"the sample failed: {error_message(row['error'])}")
    messages, choices = [openai_message(message) for message in row["messages"]], row["output"]["choices"]
    turns = [is_turn(message) and message.get("source") != "input" for message in messages]
    start = turns.index(True) if any(turns) else len(messages)
    chat = messages[start:] or [openai_message(choice["message"]) for choice in choices[:1]]
    if not chat:
        raise UsageError("the sample has no output of the model")
    example, packed = unpacked(row.get("metadata") or {}, COLUMN)
    reason = str(choices[0].get("stop_reason")) if choices else "unknown"
    usage = row["output"].get("usage") or {}
    return converted(
        row if packed is None else {**row, **example},
        [chat],
        id=str(row["id"]),
        group=str(row["id"]),
        prompt=messages[:start] or None,
        finish_reason=[_FINISHES.get(reason, reason)],
        num_tokens=[usage.get("output_tokens") if sum(turns) == 1 else None],
    )


def openai_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as OpenAI has it: reasoning apart from the content, and the calls of functions."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    reasoning = "".join(part.get("reasoning") or "" for part in parts if part.get("type") == "reasoning")
    calls = [
        {"id": call["id"], "function": {"name": call["function"], "arguments": call["arguments"]}}
        for call in message.get("tool_calls") or ()
    ]
    return {**message, "reasoning_content": reasoning or None, "tool_calls": calls}


def _number(row: Row) -> Any:
    return row["epoch"] - 1


INSPECT_LOG = FileFormat(
    "Inspect log",
    columns=("id", "epoch", "input", "target", "messages", "output"),
    row_function=_row,
    gold=("target",),
    mixed_within="",  # sort_samples: all samples of the first epoch, then those of the second
    number=_number,
)
