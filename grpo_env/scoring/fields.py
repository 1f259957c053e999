"""What a row says: completions, labels, prompt, how each completion ended; and what is wrong where it does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grpo_env.core import Completion, Finish, Message
from grpo_env.errors import UsageError, nearest
from grpo_env.taskfile.prompt import build_prompt, render
from grpo_env.taskfile.task import Task

MAX_GROUP = 4096  # completions: a group is judged as a whole, so all of it must fit into memory


@dataclass(frozen=True)
class Fields:
    """Where a row keeps what is scored.

    Each selector is a column, a dotted path into nested columns (``response.choices.0.text``) or a Jinja2 template.
    ``completion`` may name several columns, which together are one group; the empty default takes ``completion``
    or ``completions``. ``answer`` defaults to the task's own template. ``label`` names known verdicts (truth
    values), one for each completion, that the summary compares with the task's metric. Neighbouring rows of one
    completion each that agree in ``group`` (by default in their column ``group``, where they have one) are a group.
    """

    completion: tuple[str, ...] = ()
    answer: str | None = None
    id: str | None = None
    label: tuple[str, ...] = ()
    group: str | None = None


def select(row: Mapping[str, Any], selector: str, task: Task) -> Any:
    """What a selector (see ``Fields``) finds in a row. Raises ``UsageError`` with the nearest key."""
    if "{{" in selector or "{%" in selector:
        return render(selector, row, task.format, "row")
    if selector in row:
        return row[selector]
    here: Any = row
    for key in selector.split("."):
        if isinstance(here, Mapping) and key in here:
            here = here[key]
        elif isinstance(here, list) and key.isdecimal() and int(key) < len(here):
            here = here[int(key)]
        else:
            known = nearest(key, here) if isinstance(here, Mapping) else f"there is a {type(here).__name__} there"
            raise UsageError(f"no field {selector!r}: {key!r} is not in the row; {known}")
    return here


def found_in(row: Mapping[str, Any], fields: Fields, task: Task) -> list[Any]:
    """The row's completions, each text or chat messages."""
    selectors = fields.completion or (("completions",) if "completions" in row else ("completion",))
    found = [select(row, selector, task) for selector in selectors]
    if len(found) == 1 and isinstance(found[0], list) and not _is_chat(found[0]):
        found = found[0]
    if not found:
        raise UsageError("the row has no completions")
    if len(found) > MAX_GROUP:
        raise UsageError(f"the row has {len(found):,} completions; a group may have {MAX_GROUP:,}")
    return found


def key_of(row: Mapping[str, Any], fields: Fields, task: Task) -> str | None:
    value = select(row, fields.group, task) if fields.group else row.get("group")
    return None if value == "" else as_text(value)


def prompt_of(row: Mapping[str, Any], task: Task, wanted: bool) -> str | tuple[Message, ...]:
    """The row's own ``prompt``, else the task's template filled from the row; none if nobody wants it.

    Raises ``UsageError`` if there is neither and a verifier looks at the prompt.
    """
    needed = task.needs_prompt
    if not (needed or wanted):
        return ()
    given: Any = row.get("prompt")
    if given and isinstance(given, str):
        return str(given)
    if isinstance(given, tuple):  # of the example that the row was joined with
        return given
    if _is_chat(given):
        return tuple(Message(str(message["role"]), str(message.get("content") or "")) for message in given)
    try:
        return build_prompt(task.spec.prompt, row, task.format, "no column 'prompt', and the task's template")
    except UsageError:
        if needed:
            raise
        return ()


def as_text(value: Any) -> str | None:
    """A gold answer as text; a list of them as JSON, which is how ``accuracy`` reads several."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_chat(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping) and "role" in value[0]


def labels_of(row: Mapping[str, Any], fields: Fields, task: Task, count: int) -> tuple[bool | None, ...]:
    if not fields.label:
        return (None,) * count
    found = [select(row, selector, task) for selector in fields.label]
    if len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    if len(found) != count:
        raise UsageError(f"{len(found)} labels for {count} completions")
    for value in found:
        if value not in (True, False):
            raise UsageError(f"a label must be true, false, 1 or 0, found {value!r}")
    return tuple(bool(value) for value in found)


def each(row: Mapping[str, Any], column: str, count: int) -> list[Any]:
    """What a column says of each completion: a list of its own for each, or one value for all."""
    value = row.get(column)
    if not isinstance(value, list):
        return [value] * count
    if len(value) != count:
        raise UsageError(f"{column}: {len(value)} values for {count} completions")
    return value


def token_ids(row: Mapping[str, Any], count: int) -> list[tuple[int, ...] | None]:
    """The column ``token_ids``: a list of ids for one completion, a list of such lists for a group."""
    value = row.get("token_ids")
    if value is None:
        return [None] * count
    lists = [value] if count == 1 and isinstance(value, list) and not any(isinstance(x, list) for x in value) else value
    if not isinstance(lists, list) or len(lists) != count:
        raise UsageError(f"token_ids must be a list of token ids for each of the {count} completions")
    for ids in lists:
        if not isinstance(ids, list) or not all(isinstance(one, int) for one in ids):
            raise UsageError("token_ids must be lists of whole numbers")
    return [tuple(ids) for ids in lists]


def completion_of(
    task: Task, found: Any, reasoning: Any, finish: Any, tokens: Any, ids: tuple[int, ...] | None
) -> tuple[Completion, str | None]:
    """A completion, and the reasoning that a server had split off it."""
    if _is_chat(found):
        said = found[-1]
        reasoning = said.get("reasoning_content", reasoning)
        found = said.get("content")
        if found is None and ("content" in said or "tool_calls" in said or len(said) == 1):
            found = ""  # it called a tool, or only reasoned: it says nothing
    if reasoning is not None and not isinstance(reasoning, str):
        raise UsageError(f"reasoning_content must be a string, found {type(reasoning).__name__}")
    if found is None and reasoning:  # cut off before the reasoning ended
        found = ""
    if not isinstance(found, str):
        raise UsageError(f"a completion must be a string or a list of chat messages, found {type(found).__name__}")
    if isinstance(tokens, str) and tokens.isdecimal():  # a CSV file knows no numbers
        tokens = int(tokens)
    if tokens is not None and (not isinstance(tokens, int) or tokens < 0):
        raise UsageError(f"num_tokens must be a count of tokens, found {tokens!r}")
    known: Finish = finish if finish in ("stop", "length") else "unknown"
    text = _whole(found, reasoning, task.format.reasoning, known)
    # Some servers return the prefill as part of the text: it is then there already.
    prefill = "" if text.startswith(task.format.prefill.rstrip()) else task.format.prefill
    count = len(ids) if tokens is None and ids is not None else tokens
    return Completion(text, known, count, prefill, ids), reasoning or None


def _whole(content: str, reasoning: str | None, tag: str | None, finish: Finish) -> str:
    """The text as the model wrote it, before a server split it: the reasoning in its tags, then the content."""
    if not reasoning or tag is None or content.lstrip().startswith(f"<{tag}>"):
        return content
    inside = reasoning.strip("\n")
    if not content and finish == "length":
        return f"<{tag}>\n{inside}"
    return f"<{tag}>\n{inside}\n</{tag}>\n" + content.lstrip("\n")
