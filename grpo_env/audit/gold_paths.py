"""Changes of the gold path of an episode: turns left out, repeated, swapped and put in, and other arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grpo_env.environments.calls import call_text, parse_calls

LEFT_OUT = 8  # turns of a path that are changed, one at a time
OTHERS: Mapping[type, Sequence[Any]] = {
    bool: (),
    int: (0, -1, 10**6),
    float: (0.0, -1.0, 1e6),
    str: ("", " ", "0", "-1", "nan"),
    list: ([], [[]]),
    dict: ({},),
}
"""Values in the place of an argument, by the type of the one in the gold path."""


class Path(NamedTuple):
    """A changed path. ``near`` names the one without the turn in which it is almost right, if it is."""

    name: str
    turns: Sequence[str]
    near: str = ""


def changed(path: Sequence[str], extra: Sequence[tuple[str, str]]) -> Iterator[Path]:
    """The changes of a path. ``extra`` are turns to put in: what they are, and their texts."""
    few = range(min(LEFT_OUT, len(path)))
    for index in few:
        before, turn, after = path[:index], path[index], path[index + 1 :]
        yield Path(f"without turn {index + 1}", [*before, *after])
        if parse_calls(turn, None):
            yield Path(f"turn {index + 1} repeated", [*before, turn, turn, *after])
        if after:
            yield Path(f"turns {index + 1} and {index + 2} swapped", [*before, after[0], turn, *after[1:]])
        for what, other in _other_arguments(turn):
            yield Path(f"turn {index + 1}: {what}", [*before, other, *after])
    for what, turn in extra:
        yield Path(f"{what} first", [turn, *path])
        yield Path(f"{what} before the last turn", [*path[:-1], turn, *path[-1:]])
    deciding = max((index for index, turn in enumerate(path) if re.search(r"\d", turn)), default=None)
    if deciding is not None and deciding >= len(path) - 2:
        for step in (1, -1):
            near = [*path[:deciding], _moved(path[deciding], step), *path[deciding + 1 :]]
            yield Path(f"last number {step:+} in turn {deciding + 1}", near, f"without turn {deciding + 1}")


def names_called(path: Sequence[str]) -> list[str]:
    """The tools that a path calls, in order."""
    return [call.name for turn in path for call in parse_calls(turn, None)]


def _other_arguments(turn: str) -> Iterator[tuple[str, str]]:
    """A turn of calls with one argument of one of them replaced, for each argument and value."""
    calls = parse_calls(turn, None)
    for number, call in enumerate(calls):
        for key, value in call.arguments.items():
            others = {f"{other!r}": other for other in OTHERS.get(type(value), ())}
            if type(value) in (int, float):
                others["its negative"] = -value
            for what, other in others.items():
                changed = [
                    call_text(one.name, {**one.arguments, key: other} if at == number else one.arguments)
                    for at, one in enumerate(calls)
                ]
                yield f"{key} = {what}", "".join(changed)


def _moved(turn: str, step: int) -> str:
    """A turn with its last number moved."""
    numbers = list(re.finditer(r"-?\d+(?:\.\d+)?", turn))
    last = numbers[-1]
    value = float(last[0]) + step if "." in last[0] else int(last[0]) + step
    return f"{turn[: last.start()]}{value}{turn[last.end() :]}"
