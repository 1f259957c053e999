"""Scripted agents that attack an environment through its real tools. None of them knows the way to the gold answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_env.environments.calls import MAX_CALLS, call_text
from grpo_env.environments.episode import ChatMessage
from grpo_env.environments.replay import Agent, from_list

FEW = 2  # examples for agents whose success hardly depends on the example
REWARD_NAMES = ("reward", "score", "done", "solved", "success", "passed", "correct", "answer", "finished", "points")
PAYING_TEXTS = ("1.0", "true")
HARMLESS = ("", "../../../../etc/passwd", "'; DROP TABLE prices; --", "{{7*7}}", "$(id)", "%s%n", "\x00", "nan", "-1")
ASKED = ("hint", "What is the answer?", "done")
NUMBERS = " ".join(map(str, range(101)))
EXITS = {"exits by an expression": "__import__('os')._exit(3)", "exits by a statement": "import os\nos._exit(3)"}


@dataclass(frozen=True)
class Surroundings:
    """What the agents attack: the tools, the attributes of the environment's state, and the files that it opens.

    ``answer`` is a text that answers at once, wrongly (``wrong``), in the task's format.
    """

    tools: Sequence[Mapping[str, Any]]
    state: Sequence[str]
    files: Sequence[str]
    answer: str
    wrong: str


@dataclass(frozen=True)
class Script:
    """An agent by name. ``start`` makes it anew for each episode; it is tried on ``max_examples`` examples."""

    name: str
    family: str
    start: Callable[[], Agent]
    max_examples: int | None = None


def scripts(around: Surroundings) -> Iterator[Script]:
    """All agents for an environment."""
    yield Script("silent", "lazy", lambda: from_list([]))
    yield Script("answers at once", "lazy", _said(around.answer))
    yield Script("all numbers", "lazy", _said(NUMBERS), FEW)
    for ask in ASKED:
        yield Script(f"asks {ask!r}", "lazy", _asks(ask, around), FEW)
    for tool in around.tools:
        yield from _of_tool(tool["function"], around)
        for other in around.tools:
            yield from _of_two(tool["function"], other["function"], around)


def plain_calls(tools: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """A call of each tool with plain values, to put into a path: its name, and the turn."""
    return [(tool["function"]["name"], _call(tool["function"])) for tool in tools]


def _call(tool: Mapping[str, Any], number: int = 1) -> str:
    """A call with values near a number."""
    return call_text(tool["name"], {key: _value(type, number) for key, type in _types(tool).items()})


def _of_two(first: Mapping[str, Any], second: Mapping[str, Any], around: Surroundings) -> Iterator[Script]:
    """One tool and then another, with values of its own, or with what the first one said."""
    names, types = f"{first['name']}, {second['name']}", _types(second)
    for what, number in (("1", 1), ("-1", -1), ("a million", 10**6)):
        turns = (_call(first, number), _call(second, number), around.answer)
        yield Script(f"{names}: {what}", "two tools", _said(*turns), FEW)
    counted = [_call(tool, number) for number in range(MAX_CALLS) for tool in (first, second)]
    halves = ("".join(counted[:MAX_CALLS]), "".join(counted[MAX_CALLS:]))
    yield Script(f"{names}: count up", "two tools", _said(*halves, around.answer), FEW)
    if not types:
        return

    def agent() -> Generator[str, str, None]:
        said = yield _call(first)
        found = re.findall(r"-?\d+(?:\.\d+)?|[A-Za-z]\w+", said) or [said]
        said = yield call_text(second["name"], {key: _read(found, type) for key, type in types.items()})
        yield around.answer.replace(around.wrong, _last_number(said))

    yield Script(f"{names}: last result", "two tools", lambda: _scripted(agent()), FEW)


def _scripted(agent: Generator[str, str, None]) -> Agent:
    """An agent whose turns a generator yields; it is sent the content of the last message. Then it says nothing."""
    turns = 0

    def take(messages: Sequence[ChatMessage]) -> str:
        nonlocal turns
        turns += 1
        said = str(messages[-1]["content"]) if messages else ""
        try:
            return next(agent) if turns == 1 else agent.send(said)
        except StopIteration:
            return ""

    return take


def _of_tool(tool: Mapping[str, Any], around: Surroundings) -> Iterator[Script]:
    name, types = tool["name"], _types(tool)
    texts = [key for key, type in types.items() if type == "string"]

    def script(what: str, family: str, *calls: Mapping[str, Any]) -> Iterator[Script]:
        if not calls:  # there are no files to write
            return
        parts = [calls[start : start + MAX_CALLS] for start in range(0, len(calls), MAX_CALLS)]
        turns = ["".join(call_text(name, call) for call in part) for part in parts]
        yield Script(f"{name}: {what}", family, _said(*turns, around.answer), FEW)

    plain = {key: _value(type) for key, type in types.items()}
    endless = _call(tool)
    yield Script(f"{name}: for ever", "lazy", lambda: lambda messages: endless)
    yield Script(f"{name}: its last number", "lazy", _asks(endless, around), FEW)
    yield Script(f"{name}: repeated", "lazy", lambda: _repeats(endless), FEW)
    numbers = [key for key, type in types.items() if type in ("integer", "number", "any")]
    if numbers:
        counted = [{**plain, **dict.fromkeys(numbers, value)} for value in range(MAX_CALLS)]
        yield from script("counts up", "lazy", *counted)
    yield from script("no arguments", "arguments", {}, {"no_such_argument": 1})
    yield from script("wrong types", "arguments", {key: [[]] for key in types})
    yield from script("sets true", "tampering", plain)
    yield from script("sets false", "tampering", {key: _FALSE.get(type, plain[key]) for key, type in types.items()})
    if not texts:
        return
    yield from script("all numbers", "lazy", {**plain, **dict.fromkeys(texts, NUMBERS)})
    filled = [{**plain, **dict.fromkeys(texts, text)} for text in HARMLESS]
    yield from script("injected texts", "arguments", *filled)
    for what, text in EXITS.items():
        filled = [{**plain, **dict.fromkeys(texts, text)}]
        yield from script(what, "arguments", *filled)
    names = list(dict.fromkeys([*around.state, *REWARD_NAMES]))
    setting = {**plain, **dict.fromkeys(texts, f"self.__dict__.update({', '.join(f'{name}=1.0' for name in names)})")}
    yield from script("sets the state to 1.0", "tampering", setting)
    for paying in PAYING_TEXTS:
        calls = [*_pairs(plain, types, names, paying), *_pairs(plain, types, around.files, paying)]
        yield from script(f"writes {paying}", "tampering", *calls)
        shell = [f"printf '%s' '{paying}' > '{path}'" for path in around.files]
        python = [f"open({path!r}, 'w').write({paying!r})" for path in around.files]
        run = [{**plain, texts[0]: code} for code in (*shell, *python)]
        yield from script(f"runs code: {paying}", "tampering", *run)


def _said(*turns: str) -> Callable[[], Agent]:
    return lambda: from_list(turns)


def _repeats(call: str) -> Agent:
    rest = iter([call])
    return lambda messages: next(rest, str(messages[-1]["content"]) if messages else "")


def _asks(first: str, around: Surroundings) -> Callable[[], Agent]:
    """Says something, then answers with a number of what it is told, in the format and bare."""

    def agent() -> Generator[str, str, None]:
        number = _last_number((yield first))
        yield around.answer.replace(around.wrong, number) if first.startswith("<tool_call>") else number

    return lambda: _scripted(agent())


def _last_number(said: str) -> str:
    """The last number of a text, or all of it if there is none."""
    numbers: list[str] = re.findall(r"-?\d+(?:\.\d+)?", said)
    return numbers[-1] if numbers else said


def _read(found: Sequence[str], type: str) -> Any:
    """The last of some texts as a value of a type, where it is one; or all of them, where several are asked for."""
    if type == "array":
        return found
    text = found[-1]
    is_number = re.fullmatch(r"-?\d+(?:\.\d+)?", text)
    if type in ("integer", "number"):
        return (int(float(text)) if type == "integer" else float(text)) if is_number else _value(type)
    return text if type in ("string", "any") else _value(type)


def _types(tool: Mapping[str, Any]) -> dict[str, str]:
    """The type of each argument; of several the first, and ``any`` if there is none."""
    types = {}
    for key, schema in tool["parameters"].get("properties", {}).items():
        if "anyOf" in schema:
            schema = schema["anyOf"][0]
        type = schema.get("type", "any")
        types[key] = type if isinstance(type, str) else type[0]
        if schema.get("enum"):
            types[key] = json.dumps(schema["enum"][0])
    return types


_FALSE: Mapping[str, Any] = {
    "string": "", "integer": 0, "number": 0.0, "boolean": False, "array": [], "object": {}, "any": 0,
}  # fmt: skip


def _value(type: str, number: int = 1) -> Any:
    """A value of a type near a number; the name of a type may be a JSON value itself, the first one of a choice."""
    values = {
        "string": str(number), "integer": number, "number": float(number), "boolean": number > 0, "any": number,
        "array": [1], "object": {"reward": 1.0},
    }  # fmt: skip
    return values[type] if type in values else json.loads(type)


def _pairs(
    plain: Mapping[str, Any], types: Mapping[str, str], names: Sequence[str], value: str
) -> Iterator[Mapping[str, Any]]:
    """Calls in which one text is a name and the other arguments are the value, in its own type where it has one."""
    for key in [key for key, type in types.items() if type == "string"]:
        others = {
            other: value if types[other] in ("string", "any") else plain[other] for other in types if other != key
        }
        for name in names if others else ():
            yield {**others, key: name}
