"""Makes turns of a recorded conversation: chat messages with tool calls and their results, as OpenAI, TRL and
verifiers record them.

What the model wrote is put together again: reasoning that was kept apart in the task's tags, and calls that were kept
apart in the form of Hermes and Qwen. The state of an environment is not in such a recording.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from grpo_env.core import Call, CallProblem, Finish, Result, Turn
from grpo_env.environments.calls import WrittenCall, call_text, parse_calls, read_call
from grpo_env.environments.tools import wrong_arguments
from grpo_env.errors import UsageError
from grpo_env.rows.formats.chat import Reply, content_text, is_chat, is_turn, read_turn
from grpo_env.rows.jsonl import json_value

Tools = tuple[Mapping[str, Any], ...]
"""Descriptions of tools, as OpenAI and chat templates have them: ``{"type": "function", "function": {...}}``."""
Chat = Sequence[Mapping[str, Any]]
_Read = tuple[Call, str, CallProblem]
"""A call, the text that the model wrote for it, and what was wrong with it."""

RESULT_ROLES = ("tool", "function")


def is_episode(completion: object) -> bool:
    """Whether a completion is a chat with tool calls, or with several messages of the assistant."""
    if not is_chat(completion):
        return False
    turns = [message for message in completion if is_turn(message)]
    return len(turns) > 1 or any(message.get("tool_calls") or message.get("function_call") for message in turns)


def read_turns(chat: Chat, reasoning: str | None, finish: Finish, tools: Tools | None) -> tuple[Turn, ...]:
    """The turns of a conversation. What precedes the first message of the assistant is the prompt's, and left out.

    ``reasoning`` is the tag of the reasoning block, ``finish`` how the last turn ended. Calls are compared with
    ``tools``; where these are not known, the problem of a call that can be read is ``unknown``. Raises ``UsageError``.
    """
    starts = [index for index, message in enumerate(chat) if is_turn(message)]
    turns: list[Turn] = []
    for start, end in zip(starts, [*starts[1:], len(chat)], strict=True):
        last = end == len(chat)
        at = turns[-1].end if turns else 0
        try:
            turns.append(_turn(chat[start], chat[start + 1 : end], reasoning, finish if last else "stop", at, tools))
        except UsageError as error:
            raise UsageError(f"message {start + 1} of the chat: {error}") from error
    return tuple(turns)


def read_tools(value: object) -> Tools | None:
    """The tools in a row: a list of OpenAI's descriptions or of bare functions, or JSON of it. ``None`` for others."""
    value = json_value(value)
    if not isinstance(value, list) or not value:
        return None
    tools = []
    for tool in value:
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            return None
        parameters = function.get("parameters")
        parameters = parameters if isinstance(parameters, Mapping) else {}
        description = {"name": function["name"], "description": str(function.get("description") or "")}
        tools.append({"type": "function", "function": {**function, **description, "parameters": dict(parameters)}})
    return tuple(tools)


def with_reasoning(reply: Reply, tag: str | None, finish: Finish) -> str:
    """The text as the model wrote it: the reasoning in its tags, then the content. Raises ``UsageError``."""
    content, reasoning = reply
    if reasoning is not None and not isinstance(reasoning, str):
        raise UsageError(f"reasoning_content must be a string, found {type(reasoning).__name__}")
    if not reasoning or tag is None or content.lstrip().startswith(f"<{tag}>"):
        return content
    inside = reasoning.strip("\n")
    if not content and finish == "length":
        return f"<{tag}>\n{inside}"
    return f"<{tag}>\n{inside}\n</{tag}>\n" + content.lstrip("\n")


def _turn(
    message: Mapping[str, Any], after: Chat, reasoning: str | None, finish: Finish, at: int, tools: Tools | None
) -> Turn:
    spoken = with_reasoning(read_turn(message), reasoning, finish)
    read = [_call(raw, number, tools) for number, raw in enumerate(_raw_calls(message), start=1)]
    if not read:  # calls that were left in the text
        written = parse_calls(spoken, reasoning, tools=tools or ())
        read = [_checked(call, f"call{number:05}", tools, "") for number, call in enumerate(written, start=1)]
    texts = [] if _has_calls(spoken, reasoning, read, tools) else [text for _, text, _ in read if text]
    text = "\n".join([*([spoken] if spoken else []), *texts])
    told = [other for other in after if other.get("role") not in RESULT_ROLES]
    return Turn(
        text=text,
        calls=tuple(call for call, _, _ in read),
        results=_results(read, [other for other in after if other.get("role") in RESULT_ROLES]),
        finish=finish,
        start=at,
        end=at + len(text),
        reply="\n\n".join(map(content_text, told)) if told else None,
    )


def _has_calls(spoken: str, reasoning: str | None, read: Sequence[_Read], tools: Tools | None) -> bool:
    """Whether the text has the calls that were also recorded apart from it."""
    in_text = [(call.name, dict(call.arguments)) for call in parse_calls(spoken, reasoning, tools=tools or ())]
    return in_text == [(call.name, dict(call.arguments)) for call, _, _ in read]


def _raw_calls(message: Mapping[str, Any]) -> list[Any]:
    calls = message.get("tool_calls")
    if calls is None or (isinstance(calls, Sequence) and not calls):
        call = message.get("function_call")
        return [call] if call else []
    if not isinstance(calls, list):
        raise UsageError(f"tool_calls must be a list, found {type(calls).__name__}")
    return calls


def _call(raw: Any, number: int, tools: Tools | None) -> _Read:
    """A call of ``tool_calls``, which verifiers 0.1 writes as JSON in a string."""
    raw = json_value(raw)
    function = raw.get("function", raw) if isinstance(raw, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise UsageError(f"call {number} is not a tool call with a name")
    id = raw["id"] if isinstance(raw.get("id"), str) and raw["id"] else f"call{number:05}"
    name, arguments = function["name"], function.get("arguments") or {}
    call = read_call({"name": name, "arguments": arguments})
    if not call.problem:
        return _checked(call, id, tools, call_text(name, call.arguments))
    as_json = arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)
    return _checked(call, id, tools, f'<tool_call>{{"name": {json.dumps(name)}, "arguments": {as_json}}}</tool_call>')


def _checked(call: WrittenCall, id: str, tools: Tools | None, text: str) -> _Read:
    if call.problem:
        return Call(id, "", {}), text, "unreadable"
    return Call(id, call.name, dict(call.arguments)), text, _problem(call, tools)


def _problem(call: WrittenCall, tools: Tools | None) -> CallProblem:
    if tools is None:
        return "unknown"
    if call.name not in [tool["function"]["name"] for tool in tools]:
        return "unknown_tool"
    try:
        return "wrong_arguments" if wrong_arguments(tools, call.name, call.arguments) else ""
    except (TypeError, ValueError, AttributeError, LookupError, RecursionError):  # a schema that is not one
        return "unknown"


def _results(read: Sequence[_Read], messages: Chat) -> tuple[Result, ...]:
    """The result of each call: by the call's id, or else in order. A call without one has an empty result."""
    texts: dict[int, str] = {}
    for message in messages:
        waiting = [index for index in range(len(read)) if index not in texts]
        named = [index for index in waiting if read[index][0].id == message.get("tool_call_id")]
        if not waiting:
            raise UsageError("more results of tools than calls")
        texts[(named or waiting)[0]] = content_text(message)
    return tuple(Result(call.id, texts.get(index, ""), problem) for index, (call, _, problem) in enumerate(read))
