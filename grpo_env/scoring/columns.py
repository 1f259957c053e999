"""Reads the columns of a row: completions, gold answer, prompt, labels, group, and how each completion ended."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from grpo_env.core import EnvironmentRecord, Message, Turn
from grpo_env.errors import UsageError, nearest
from grpo_env.rows.formats.chat import before_turns, is_chat, read_messages
from grpo_env.rows.formats.file_format import PROMPT_RECORDED, Row
from grpo_env.rows.jsonl import json_value
from grpo_env.taskfile.prompt import build_prompt
from grpo_env.taskfile.task import Task
from grpo_env.taskfile.templates import is_missing, is_template, render, render_list, render_value

MAX_GROUP = 4096  # completions: a group is scored as a whole, so all of it must fit into memory

_LABELS = {"true": True, "1": True, "false": False, "0": False, "-1": False}


@dataclass(frozen=True)
class Fields:
    """Where the rows of a file keep what is scored.

    Each selector is a column, a dotted path into nested columns (``response.choices.0.text``) or a Jinja2 template.
    """

    completion: tuple[str, ...] = ()
    """Several selectors are one group of completions; none: the column ``completion`` or ``completions``."""
    answer: str | None = None
    """The gold answer; none: the task's own template."""
    id: str | None = None
    """The row's id; none: the column ``id``, or else the line number."""
    label: tuple[str, ...] = ()
    """Known verdicts (truth values), one for each completion, to compare the task's metric with."""
    group: str | None = None
    """Neighboring rows of one completion each with the same value are one group; none: the column ``group``."""
    prompt: str | None = None
    """The prompt, as text or messages; none: the column ``prompt``, or else the task's own template."""


def select(row: Row, selector: str, task: Task) -> Any:
    """The value of a selector (see ``Fields``) in a row. Raises ``UsageError`` with the nearest key."""
    if is_template(selector):
        return render(selector, row, task.format, "row")
    if selector in row:
        return row[selector]
    value: Any = row
    for key in selector.split("."):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            hint = nearest(key, value) if isinstance(value, Mapping) else f"the value there is a {type(value).__name__}"
            where = "" if key == selector else f": {key!r} is not in the row"
            raise UsageError(f"no field {selector!r}{where}; {hint}")
    return value


def select_value(row: Row, selector: str, task: Task) -> Any:
    """``select``, but ``None`` for null and NaN, also in a template. Raises ``UsageError``."""
    if is_template(selector):
        return render_value(selector, row, task.format, "row")
    value = select(row, selector, task)
    return None if is_missing(value) else value


def completions_of(row: Row, fields: Fields, task: Task) -> list[Any]:
    """The row's completions, each text or chat messages. Raises ``UsageError`` for none or too many."""
    selectors = fields.completion or (("completions",) if "completions" in row else ("completion",))
    if len(selectors) == 1 and is_template(selectors[0]):
        completions = render_list(selectors[0], row, task.format, "row") or [select(row, selectors[0], task)]
    else:
        completions = [select(row, selector, task) for selector in selectors]
    if len(completions) == 1 and isinstance(completions[0], list) and not is_chat(completions[0]):
        completions = completions[0]
    if not completions:
        raise UsageError("the row has no completions")
    if len(completions) > MAX_GROUP:
        raise UsageError(f"the row has {len(completions):,} completions; a group may have {MAX_GROUP:,}")
    return completions


def gold_answer_of(row: Row, fields: Fields, task: Task) -> Any:
    """The gold answer by ``fields``, or else by the task's own template. Raises ``UsageError``."""
    return select_value(row, fields.answer, task) if fields.answer else task.answer(row, "row")


def group_of(row: Row, fields: Fields, task: Task) -> str | None:
    """The value that neighboring rows of one group share."""
    value = select(row, fields.group, task) if fields.group else row.get("group")
    return None if value == "" else as_text(value)


class Prompt(NamedTuple):
    """A prompt (text, messages, or empty), and whether the file has it, rather than the task makes it.

    The task's prompt need not be the one that a completion was made by. ``None``: not known.
    """

    content: str | tuple[Message, ...] = ()
    recorded: bool | None = None


def prompt_of(row: Row, fields: Fields, task: Task, in_output: bool, completion: Any = None) -> Prompt:
    """The row's own prompt, or else what precedes the first turn in a chat, or else the task's template.

    Without any it is empty, as it is if neither a verifier nor the output (``in_output``) has a use for it. Raises
    ``UsageError`` if a verifier needs a prompt and there is none.
    """
    if not (task.needs_prompt or in_output):
        return Prompt()
    prompt: Any = select(row, fields.prompt, task) if fields.prompt else row.get("prompt")
    if not isinstance(prompt, str | tuple):  # a tuple is of the example that the row was joined with
        prompt = read_messages(prompt)
    if prompt := prompt or read_messages(before_turns(completion)):
        # The row's own, unless it comes from a score row or an example (``FileFormat.join``), which says what it is.
        recorded = True if fields.prompt else row.get(PROMPT_RECORDED, True)
        return Prompt(prompt, recorded if isinstance(recorded, bool) else None)
    spec = task.spec.prompt
    try:
        made = build_prompt(spec, row, task.format, "no column 'prompt', and the task's template")
    except UsageError:
        if task.needs_prompt:
            raise
        return Prompt()
    return Prompt(made, recorded=spec.messages is not None and spec.system is None and not spec.shots)


def as_text(value: Any) -> str | None:
    """A gold answer as text, ``None`` for NaN; a list of them as JSON, which is how ``accuracy`` reads several."""
    if is_missing(value):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def labels_of(row: Row, fields: Fields, task: Task, count: int) -> tuple[bool | None, ...]:
    """The known verdict on each of ``count`` completions, ``None`` without ``fields.label``. Raises ``UsageError``."""
    if not fields.label:
        return (None,) * count
    labels = [select(row, selector, task) for selector in fields.label]
    if len(labels) == 1 and isinstance(labels[0], list):
        labels = labels[0]
    if len(labels) != count:
        raise UsageError(f"{len(labels)} labels for {count} completions")
    return tuple(label_value(label) for label in labels)


def label_value(label: Any) -> bool:
    """A label as a truth value: also the texts ``TRUE`` (spreadsheets) and ``True`` (pandas), and -1 for false, which
    verl's DAPO scores are (rllm#63). Raises ``UsageError``.
    """
    value = _LABELS.get(label.strip().lower()) if isinstance(label, str) else label
    if value not in (1, 0, -1):
        raise UsageError(f"a label must be true, false, 1, 0 or -1 (false), found {label!r}")
    return value == 1


def per_completion(row: Row, column: str, count: int) -> list[Any]:
    """A column's value for each of ``count`` completions: a list has one for each, any other value is for all."""
    value = row.get(column)
    if not isinstance(value, list):
        return [value] * count
    if len(value) != count:
        raise UsageError(f"{column}: {len(value)} values for {count} completions")
    return value


def token_ids_of(row: Row, count: int) -> list[tuple[int, ...] | None]:
    """The column ``token_ids``: a list of ids for a single completion, a list of such lists for a group."""
    value = row.get("token_ids")
    if value is None:
        return [None] * count
    flat = count == 1 and isinstance(value, list) and not any(isinstance(item, list) for item in value)
    lists = [value] if flat else value
    if not isinstance(lists, list) or len(lists) != count:
        raise UsageError(f"token_ids must be a list of token ids for each of the {count} completions")
    for ids in lists:
        if not isinstance(ids, list) or not all(isinstance(id, int) for id in ids):
            raise UsageError("token_ids must be lists of whole numbers")
    return [tuple(ids) for ids in lists]


def episode_of(row: Row, text: str) -> tuple[tuple[Turn, ...], EnvironmentRecord | None]:
    """The columns ``turns`` and ``environment`` of a row with one completion, as score rows have them.

    A column ``turns`` of another kind is not one of ours. Raises ``UsageError`` for turns that do not make ``text``.
    """
    turns, environment = json_value(row.get("turns")), json_value(row.get("environment"))
    if not isinstance(turns, list) or not turns or not all(isinstance(t, Mapping) and "start" in t for t in turns):
        return (), None
    try:
        read = tuple(Turn.from_dict(turn) for turn in turns)
        record = EnvironmentRecord(**environment) if environment else None
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"turns: not the turns of an episode ({error})") from error
    end = 0
    for number, turn in enumerate(read, start=1):
        if turn.start != end or text[turn.start : turn.end] != turn.text:
            raise UsageError(f"turns: turn {number} is not at characters [{turn.start}, {turn.end}) of the completion")
        end = turn.end
    if end != len(text):
        raise UsageError(f"turns: they end at character {end} of {len(text)}")
    return read, record


def environment_reward_of(row: Row, task: Task) -> float | None:
    """What an environment paid for an episode that was recorded elsewhere, if its row plainly says so.

    The column ``environment_reward``, or the one named as the environment's class, as in TRL, or ``reward``.
    """
    use = task.spec.environment.use if task.spec.environment else ""
    for name in ("environment_reward", use.rpartition(":")[2], "reward"):
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    return None
