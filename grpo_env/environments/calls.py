"""Finds the tool calls in a model's text, in the forms that the chat templates of model families teach.

* Hermes, Qwen 2.5 and 3: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``, any number of them;
* Qwen 3 Coder: ``<tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>``;
* Llama 3: the whole text is ``{"name": ..., "parameters": {...}}``, perhaps after ``<|python_tag|>``, several
  separated by ``;``;
* Mistral: ``[TOOL_CALLS] [{"name": ..., "arguments": {...}}, ...]``, and since 2025 ``[TOOL_CALLS]name[ARGS]{...}``.

A tokenizer's own response schema comes first where it has one. Calls in the reasoning block are only thoughts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

MAX_CALLS = 32  # in one turn
MAX_CALL = 100_000  # characters

_HERMES = re.compile(r"<tool_call>(?P<body>.*?)(?P<end></tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"\s*<function=(?P<name>[^<>\n]{1,200})>(?P<body>.*)</function>\s*", re.DOTALL)
_PARAMETER = re.compile(
    r"<parameter=(?P<key>[^<>\n]{1,200})>\n?(?P<value>.*?)\n?(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL
)
_MISTRAL = "[TOOL_CALLS]"
_MISTRAL_NAMED = re.compile(r"\s*(?P<name>[\w.-]{1,200})(?:\[CALL_ID\]\w{1,100})?\[ARGS\]")
_PYTHON_TAG = "<|python_tag|>"
_LLAMA = re.compile(r'\s*\{\s*"(?:name|type|parameters)"\s*:')
_END_OF_TURN = re.compile(r"(?:\s|<\|(?:eom_id|eot_id|im_end|end_of_text)\|>|</s>)*\Z")


class WrittenCall(NamedTuple):
    """A call as the model wrote it, or the ``problem`` that keeps it from being read, in words for the model."""

    name: str = ""
    arguments: Mapping[str, Any] = {}
    problem: str = ""


class _UnreadableError(ValueError):
    pass


ResponseParser = Callable[[str], Mapping[str, Any]]
"""From a turn's text to a message, as ``tokenizer.parse_response`` of transformers."""


def response_parser(tokenizer: Any) -> ResponseParser | None:
    """The tokenizer's own parser of replies, if it has a response schema."""
    return tokenizer.parse_response if getattr(tokenizer, "response_schema", None) else None


def spoken(text: str, reasoning: str | None, prefill: str = "") -> str:
    """The text after its reasoning block, or nothing if that is not closed. ``reasoning`` is the tag of the block.

    ``prefill`` precedes the text, and may open the block.
    """
    if reasoning is None:
        return text
    opening, closing = f"<{reasoning}>", f"</{reasoning}>"
    whole = prefill + text
    start = whole.rfind(closing) + len(closing) if closing in whole else 0
    end = whole.find(opening, start)
    return whole[max(start, len(prefill)) : len(whole) if end < 0 else end]


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """A tool call as text, in the form of Hermes and Qwen."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}</tool_call>"


def without_calls(text: str, reasoning: str | None) -> str:
    """A turn's text without the calls in it, for formats that keep them apart. Those in the reasoning block stay."""
    said = spoken(text, reasoning)
    start = text.rfind(f"</{reasoning}>") + len(f"</{reasoning}>") if reasoning and f"</{reasoning}>" in text else 0
    rest = said
    if "<tool_call>" in said:
        rest = _HERMES.sub("", said)
    elif _MISTRAL in said:
        rest = said.partition(_MISTRAL)[0]
    elif _PYTHON_TAG in said:
        rest = said.partition(_PYTHON_TAG)[0]
    elif _LLAMA.match(said):
        rest = ""
    return (text[:start] + rest + text[start + len(said) :]).strip()


def parse_calls(
    text: str,
    reasoning: str | None,
    parser: ResponseParser | None = None,
    prefill: str = "",
    tools: Sequence[Mapping[str, Any]] = (),
) -> list[WrittenCall]:
    """The calls in a turn's text, in the order they were written; those that cannot be read have a ``problem``.

    ``reasoning`` and ``prefill`` as for ``spoken``; a ``parser`` finds the reasoning block by itself. The schemas of
    ``tools`` say which values of Qwen 3 Coder's form are no texts.
    At most ``MAX_CALLS``: one more is a problem, and the rest are left out.
    """
    said = spoken(text, reasoning, prefill)
    calls = _by_schema(text, parser) if parser else _by_form(said, tools)
    found: list[WrittenCall] = []
    for call in calls:
        if len(found) == MAX_CALLS:
            return [*found, WrittenCall(problem=f"a turn may call at most {MAX_CALLS} tools; the rest is left out")]
        found.append(call)
    return found


def _by_schema(text: str, parser: ResponseParser) -> Iterator[WrittenCall]:
    try:
        message = parser(text)
        calls = message.get("tool_calls") or []
        for call in calls:
            function = call.get("function", call)
            yield read_call(function)
    except Exception as error:  # regular expressions and JSON of a schema, over any text
        yield WrittenCall(problem=f"the tool calls cannot be read ({type(error).__name__})")


def _by_form(said: str, tools: Sequence[Mapping[str, Any]]) -> Iterator[WrittenCall]:
    if "<tool_call>" in said:
        for match in _HERMES.finditer(said):
            if match["end"] == "</tool_call>":
                yield _read_text(match["body"], tools)
            else:
                yield WrittenCall(problem="<tool_call> is not closed by </tool_call>")
    elif _MISTRAL in said:
        yield from _mistral(said.partition(_MISTRAL)[2])
    elif _PYTHON_TAG in said:
        yield from _sequence(said.partition(_PYTHON_TAG)[2])
    elif _LLAMA.match(said):
        yield from _sequence(said)


def _mistral(body: str) -> Iterator[WrittenCall]:
    if not _MISTRAL_NAMED.match(body):
        try:
            calls, _ = _decode(body)
            if not isinstance(calls, list) or not calls:
                raise _UnreadableError("[TOOL_CALLS] is followed by a list of calls")
        except _UnreadableError as error:
            yield WrittenCall(problem=str(error))
            return
        for call in calls:
            yield read_call(call)
        return
    for piece in body.split(_MISTRAL):
        match = _MISTRAL_NAMED.match(piece)
        try:
            if match is None:
                raise _UnreadableError("[TOOL_CALLS] is followed by a name and [ARGS]")
            arguments, end = _decode(piece[match.end() :])
            if piece[match.end() + end :].lstrip().startswith("{"):
                raise _UnreadableError(_TWO_OBJECTS)
            yield read_call({"name": match["name"], "arguments": arguments})
        except _UnreadableError as error:
            yield WrittenCall(problem=str(error))


def _sequence(body: str) -> Iterator[WrittenCall]:
    """Calls separated by ``;``, up to the end of the text."""
    while True:
        try:
            call, end = _decode(body)
        except _UnreadableError as error:
            yield WrittenCall(problem=str(error))
            return
        yield read_call(call)
        body = body[end:].lstrip()
        if not body.startswith(";"):
            if not _END_OF_TURN.match(body):
                yield WrittenCall(problem="there is text after the tool call")
            return
        body = body[1:]


_TWO_OBJECTS = "there is more than one JSON object in the tool call"


def _read_text(body: str, tools: Sequence[Mapping[str, Any]]) -> WrittenCall:
    if body.lstrip().startswith("<function="):
        return _read_function(body, tools)
    try:
        call = _decode_all(body)
    except _UnreadableError as error:
        return WrittenCall(problem=str(error))
    return read_call(call)


def _read_function(body: str, tools: Sequence[Mapping[str, Any]]) -> WrittenCall:
    if len(body) > MAX_CALL:
        return WrittenCall(problem=f"the tool call is longer than {MAX_CALL:,} characters")
    function = _FUNCTION.fullmatch(body)
    if function is None:
        return WrittenCall(problem="<function=...> is not closed by </function>")
    arguments: dict[str, Any] = {}
    if _PARAMETER.sub("", function["body"]).strip():
        return WrittenCall(problem="there is text beside the parameters of the function")
    for parameter in _PARAMETER.finditer(function["body"]):
        key = parameter["key"]
        if key in arguments:
            return WrittenCall(problem=f"the parameter {key[:100]!r} is given twice")
        arguments[key] = _typed(parameter["value"], _schema(tools, function["name"], key))
    return read_call({"name": function["name"], "arguments": arguments})


def _schema(tools: Sequence[Mapping[str, Any]], name: str, key: str) -> Mapping[str, Any]:
    """The schema of a tool's argument; empty if it has none. Schemas of a file may be anything."""
    for tool in tools:
        if tool["function"]["name"] == name:
            properties = tool["function"]["parameters"].get("properties")
            schema = properties.get(key) if isinstance(properties, Mapping) else None
            return schema if isinstance(schema, Mapping) else {}
    return {}


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """A value in Qwen 3 Coder's form: JSON, or Python's name of a constant, where its type is not that of a text."""
    others = schema.get("anyOf")
    options = [schema, *(others if isinstance(others, list) else ())]
    types = [option.get("type") for option in options if isinstance(option, Mapping)]
    names = [name for found in types for name in (found if isinstance(found, list) else [found]) if name]
    if not names or "string" in names:
        return text
    try:
        return _decode_all(_CONSTANTS.get(text.strip(), text))
    except _UnreadableError:
        return text  # which is then of a wrong type


_CONSTANTS = {"True": "true", "False": "false", "None": "null"}


def read_call(call: Any) -> WrittenCall:
    """A call from its JSON object. Arguments may be JSON in a string, as OpenAI has them."""
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str) or not call["name"]:
        return WrittenCall(problem='a tool call is a JSON object with "name" and "arguments"')
    arguments = call.get("arguments", call.get("parameters"))
    if isinstance(arguments, str):
        try:
            arguments = _decode_all(arguments)
        except _UnreadableError as error:
            return WrittenCall(problem=str(error))
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        return WrittenCall(problem="the arguments of a tool call are a JSON object")
    try:
        json.dumps(arguments, allow_nan=False)  # of a tokenizer's schema or a file, which may have more than JSON
    except (TypeError, ValueError, RecursionError) as error:
        return WrittenCall(problem=f"the arguments of a tool call are not JSON: {error}"[:300])
    return WrittenCall(call["name"][:200], arguments)


def _decode(text: str) -> tuple[Any, int]:
    """The JSON value at the start of a text, after white space, and where it ends."""
    start = len(text) - len(text.lstrip())
    try:
        value, end = _DECODER.raw_decode(text[start : start + MAX_CALL])
        json.dumps(value).encode()  # a lone surrogate, or too deep
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        if len(text) - start > MAX_CALL:
            reason = f"longer than {MAX_CALL:,} characters"
        raise _UnreadableError(f"the tool call is not JSON: {reason}"[:300]) from error
    return value, start + end


def _decode_all(text: str) -> Any:
    """The only JSON value of a text."""
    value, end = _decode(text)
    if text[end:].strip():
        raise _UnreadableError(_TWO_OBJECTS)
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:40]} is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
