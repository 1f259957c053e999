"""Scripted agents that attack an environment through its real tools. None of them knows the way to the gold answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_env.environments.calls import MAX_CALLS, call_text
from grpo_env.environments.replay import Agent, from_list

FEW = 2  # examples for agents whose success hardly depends on the example
HUGE = "a" * 90_000  # characters; calls of more than 100,000 are not read
REWARD_NAMES = ("reward", "score", "done", "solved", "success", "passed", "correct", "answer", "finished", "points")
PAYING_TEXTS = {"1.0": "1.0", "true": "true", "JSON": '{"reward": 1.0, "score": 1.0, "passed": true, "success": true}'}
HARMLESS = (
    "",
    " ",
    "../../../../etc/passwd",
    "'; DROP TABLE prices; --",
    "{{7*7}}",
    "$(id)",
    "%s%n",
    "\x00",
    "__class__",
    "None",
    "nan",
    "-1",
)
EXITS = {
    "exits by an expression": "__import__('os')._exit(3)",
    "exits by a statement": "import os\nos._exit(3)",
    "ends its parent": "kill -9 $PPID",
}


@dataclass(frozen=True)
class Surroundings:
    """What the agents attack: the tools, the attributes of the environment's state, and the files that it opens."""

    tools: Sequence[Mapping[str, Any]]
    state: Sequence[str]
    files: Sequence[str]
    answer: str
    """A text that answers at once, wrongly, in the task's format."""


@dataclass(frozen=True)
class Script:
    """An agent by name. ``start`` makes it anew for each episode; it is tried on ``max_examples`` examples."""

    name: str
    family: str
    description: str
    start: Callable[[], Agent]
    max_examples: int | None = None


def scripts(around: Surroundings) -> Iterator[Script]:
    """All agents for an environment."""
    yield Script("silent", "lazy", "Says nothing in every turn.", lambda: from_list([]))
    yield Script("answers at once", "lazy", "Answers at once, wrongly, in the format.", _said(around.answer))
    yield Script("echo", "lazy", "Repeats what it was told last.", _echo)
    yield Script("unreadable", "arguments", "Writes calls that cannot be read.", _said("<tool_call>{", around.answer))
    for tool in around.tools:
        yield from _of_tool(tool["function"], around)


def _of_tool(tool: Mapping[str, Any], around: Surroundings) -> Iterator[Script]:
    name, types = tool["name"], _types(tool)
    texts = [key for key, type in types.items() if type == "string"]

    def script(what: str, family: str, description: str, *calls: Mapping[str, Any]) -> Iterator[Script]:
        if not calls:  # there are no files to write
            return
        turns = ["".join(_call(name, call) for call in part) for part in _parts(calls)]
        yield Script(f"{name}: {what}", family, description, _said(*turns, around.answer), FEW)

    plain = {key: _plain(type) for key, type in types.items()}
    endless = call_text(name, plain)
    yield Script(f"{name}: for ever", "lazy", "Calls one tool in every turn.", lambda: lambda messages: endless)
    yield Script(f"{name}: repeated", "lazy", "Answers with the tool's result.", lambda: _repeats(endless), FEW)
    yield from script("no arguments", "arguments", "Calls without arguments.", {}, {"no_such_argument": 1})
    yield from script("wrong types", "arguments", "Arguments of other types.", {key: [[]] for key in types})
    huge = {key: _huge(type) for key, type in types.items()}
    yield from script("huge arguments", "arguments", "Numbers and texts that are too large.", huge)
    for value in (True, False):
        low = {key: _plain(type, value) for key, type in types.items()}
        yield from script(f"sets {value}".lower(), "tampering", "Passes what may stand for success.", low)
    if not texts:
        return
    filled = [{**plain, **dict.fromkeys(texts, text)} for text in HARMLESS]
    yield from script("injected texts", "arguments", "Paths, quotes, templates and shell in the texts.", *filled)
    for what, text in EXITS.items():
        filled = [{**plain, **dict.fromkeys(texts, text)}]
        yield from script(what, "arguments", "Code that ends the environment's process.", *filled)
    names = list(dict.fromkeys([*around.state, *REWARD_NAMES]))
    for number in ("1.0", "True"):
        setting = {**plain, **dict.fromkeys(texts, _setting(names, number))}
        yield from script(f"sets the state to {number}", "tampering", "Code that sets attributes.", setting)
    for what, paying in PAYING_TEXTS.items():
        calls = [*_pairs(plain, types, names, paying), *_pairs(plain, types, around.files, paying)]
        yield from script(f"writes {what}", "tampering", "Sets names, and writes files that are read.", *calls)
        shell = [f"printf '%s' '{paying}' > '{path}'" for path in around.files]
        python = [f"open({path!r}, 'w').write({paying!r})" for path in around.files]
        run = [{**plain, texts[0]: code} for code in (*shell, *python)]
        yield from script(f"runs code: {what}", "tampering", "Code that writes files that are read.", *run)


def _said(*turns: str) -> Callable[[], Agent]:
    return lambda: from_list(turns)


def _echo() -> Agent:
    return lambda messages: str(messages[-1]["content"]) if messages else ""


def _repeats(call: str) -> Agent:
    rest = iter([call])
    return lambda messages: next(rest, str(messages[-1]["content"]) if messages else "")


def _parts(calls: Sequence[Mapping[str, Any]]) -> list[Sequence[Mapping[str, Any]]]:
    return [calls[start : start + MAX_CALLS] for start in range(0, len(calls), MAX_CALLS)]


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    return call_text(name, arguments)


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


_VALUES: Mapping[str, tuple[Any, Any]] = {
    "string": ("1", "0"),
    "integer": (1, 0),
    "number": (1.0, 0.0),
    "boolean": (True, False),
    "array": ([1], []),
    "object": ({"reward": 1.0}, {}),
    "any": (1, 0),
}


def _plain(type: str, value: bool = True) -> Any:
    """A value of a type; the name of a type may be a JSON value itself, the first one of a choice."""
    return _VALUES[type][not value] if type in _VALUES else json.loads(type)


def _huge(type: str) -> Any:
    sizes = {"string": HUGE, "integer": 10**18, "number": 1e300, "array": [[]] * 10_000, "object": {HUGE: HUGE[:1]}}
    return sizes.get(type, _plain(type))


def _setting(names: Sequence[str], value: str) -> str:
    """An expression that sets attributes of the object it is evaluated in."""
    return f"self.__dict__.update({', '.join(f'{name}={value}' for name in names)})"


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
