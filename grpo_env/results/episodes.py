"""The turns in a score row, and the conversation that they make for training sets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from grpo_env.core import Turn
from grpo_env.environments.calls import parse_calls, without_calls
from grpo_env.environments.episode import messages_of
from grpo_env.errors import UsageError

from .rows import ScoreRow, location

THOUGHTS = "think"  # the tag of a turn's thoughts, which a score row does not name


def turns_of(row: ScoreRow) -> tuple[Turn, ...]:
    """The turns of an episode; none for a completion of one text. Raises ``UsageError`` if they cannot be read."""
    return tuple(_read(row, Turn.from_dict, turn) for turn in _parsed(row, "turns") or ())


def tools_of(row: ScoreRow) -> dict[str, str]:
    """The column ``tools`` of a training set: the descriptions of an episode's tools as JSON, if they are known.

    Raises ``UsageError``.
    """
    tools = _parsed(row, "tools")
    return {"tools": json.dumps(tools, ensure_ascii=False)} if tools else {}


def conversation(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Messages for a chat template, which writes the calls itself: they are cut out of the texts.

    A turn with a call that cannot be read stays as it was written, because no template could write it. What followed
    the last turn is left out. Raises ``ValueError`` unless ``has_calls_in_text``.
    """
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns, start=1):
        said, *told = messages_of([turn])
        if any(not call.name for call in turn.calls):
            said.pop("tool_calls")
        elif turn.calls:
            said["content"] = _without_calls(turn)
        messages += [said, *(told if number < len(turns) else ())]
    return messages


def has_calls_in_text(turns: Sequence[Turn]) -> bool:
    """Whether all calls of the turns can be found in their texts, to be cut out.

    Not those that begin with a special token, which is no part of a text, and of forms that only a tokenizer knows.
    """
    try:
        conversation(turns)
    except ValueError:
        return False
    return True


def _without_calls(turn: Turn) -> str:
    """The text of a turn; calls in its thoughts stay. Raises ``ValueError`` if not all calls are in the text."""
    rest = without_calls(turn.text, THOUGHTS)
    if rest == turn.text.strip() or len(parse_calls(turn.text, THOUGHTS)) != len(turn.calls):
        raise ValueError("the calls of a turn are not in its text")
    return rest


def told_after(turn: Turn) -> str:
    """What the model was told after a turn, as text: results with the names of their tools, or a reply."""
    names = {call.id: call.name or "tool" for call in turn.calls}
    lines = [f"{names.get(result.id, 'tool')}: {result.text}" for result in turn.results]
    return "\n".join([*lines, *([turn.reply] if turn.reply else [])])


def _parsed(row: ScoreRow, column: str) -> Any:
    value = row.get(column)
    return _read(row, json.loads, value) if isinstance(value, str) else value


def _read(row: ScoreRow, read: Any, value: Any) -> Any:
    try:
        return read(value)
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"{location(row)}: not the turns of an episode ({error})") from error
