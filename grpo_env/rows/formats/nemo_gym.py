"""Rollouts of NeMo Gym: a row is a request of OpenAI's Responses API, its response, and the columns of the example.

The items of a response become chat messages: those between two results of tools, or messages of the user, are one turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grpo_env.errors import UsageError

from .chat import content_text, is_turn
from .file_format import FileFormat, Row, converted, error_message


def _row(row: Row) -> dict[str, Any]:
    request, response = row["responses_create_params"], row["response"]
    if response.get("error"):
        raise UsageError(f"the rollout failed: {error_message(response['error'])}")
    messages, asked = messages_of_items(response["output"]), request["input"]
    turns = sum(map(is_turn, messages))
    if not turns:
        raise UsageError("the response has no output of the model")
    prompt = [{"role": "user", "content": asked}] if isinstance(asked, str) else messages_of_items(asked)
    if request.get("instructions"):
        prompt.insert(0, {"role": "system", "content": request["instructions"]})
    cut = (response.get("incomplete_details") or {}).get("reason") == "max_output_tokens"
    return converted(
        row,
        [messages],
        prompt=prompt,
        group=str(row["_ng_task_index"]) if "_ng_task_index" in row else None,
        finish_reason=["length" if cut else "stop" if response.get("status") == "completed" else None],
        num_tokens=[(response.get("usage") or {}).get("output_tokens") if turns == 1 else None],
        tools=request.get("tools") or None,
    )


def messages_of_items(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The items of a request or response as the messages of a chat."""
    chat: list[dict[str, Any]] = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call_output":
            chat.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
        elif kind == "message" and not is_turn(item):
            chat.append({"role": item["role"], "content": item["content"]})
        else:
            if not chat or not is_turn(chat[-1]):
                chat.append({"role": "assistant", "content": ""})
            _add(chat[-1], item, kind)
    return chat


def _add(turn: dict[str, Any], item: Mapping[str, Any], kind: str) -> None:
    """Add an item to the turn of the model that it belongs to."""
    if kind == "message":
        refusals = [part.get("refusal") or "" for part in item["content"] if isinstance(part, Mapping)]
        turn["content"] += content_text(item) + "".join(refusals)
    elif kind == "function_call":
        function = {"name": item["name"], "arguments": item["arguments"]}
        turn.setdefault("tool_calls", []).append({"id": item["call_id"], "type": "function", "function": function})
    elif kind == "reasoning":
        parts = item.get("content") or item.get("summary") or []
        turn["reasoning_content"] = turn.get("reasoning_content", "") + content_text({"content": parts})
    else:
        raise UsageError(f"an item of type {kind!r} is neither a message, reasoning nor a call of a function")


def _has_output(row: Row) -> bool:
    return isinstance(row["response"], Mapping) and "output" in row["response"]


NEMO_GYM = FileFormat(
    "NeMo Gym rollouts",
    columns=("responses_create_params", "response"),
    row_function=_row,
    condition=_has_output,
    gold=("expected_answer",),
)
