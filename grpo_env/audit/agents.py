"""Scripted agents that attack an environment through its real tools. None of them knows the way to the gold answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_env.environments.calls import MAX_CALLS, call_text
from grpo_env.environments.replay import Agent, from_list

FEW = 2  # examples for agents whose success hardly depends on the example
REWARD_NAMES = ("reward", "score", "done", "solved", "success", "passed", "correct", "answer", "finished", "points")
PAYING_TEXTS = ("1.0", "true")
HARMLESS = ("", "../../../../etc/passwd", "'; DROP TABLE prices; --", "{{7*7}}", "$(id)", "%s%n", "\x00", "nan", "-1")
EXTREMES = (-1, 10**6)
NUMBERS = " ".join(map(str, range(101)))
EXITS = {"exits by an expression": "__import__('os')._exit(3)", "exits by a statement": "import os\nos._exit(3)"}


@dataclass(frozen=True)
class Surroundings:
    """What the agents attack: the tools, the attributes of the environment's state, and the files that it opens.

    ``answer`` is a text that answers at once, wrongly, in the task's format.
    """

    tools: Sequence[Mapping[str, Any]]
    state: Sequence[str]
    files: Sequence[str]
    answer: str


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
    for tool in around.tools:
        yield from _of_tool(tool["function"], around)


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
    endless = call_text(name, plain)
    yield Script(f"{name}: for ever", "lazy", lambda: lambda messages: endless)
    yield Script(f"{name}: repeated", "lazy", lambda: _repeats(endless), FEW)
    numbers = [key for key, type in types.items() if type in ("integer", "number", "any")]
    if numbers:
        counted = [{**plain, **dict.fromkeys(numbers, value)} for value in range(MAX_CALLS)]
        yield from script("counts up", "lazy", *counted)
        for extreme in EXTREMES:
            yield from script(f"{extreme}", "arguments", {**plain, **dict.fromkeys(numbers, extreme)})
    yield from script("no arguments", "arguments", {}, {"no_such_argument": 1})
    yield from script("wrong types", "arguments", {key: [[]] for key in types})
    yield from script("sets true", "tampering", plain)
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


def _value(type: str) -> Any:
    """A plain value of a type, whose name may be a JSON value itself, the first one of a choice."""
    values = {
        "string": "1", "integer": 1, "number": 1.0, "boolean": True, "any": 1, "array": [1], "object": {"reward": 1.0},
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
