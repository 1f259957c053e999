"""Finds the example of the task that a row without a question answers: by its id, its prompt or its place.

An index has examples by keys: ids; prompts, as text, and the questions in them; or line numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Literal

from grpo_env.core import Example, Message
from grpo_env.errors import UsageError

from .chat import read_messages

By = Literal["id", "prompt", "order"]
Row = Mapping[str, Any]

# What chat templates write around messages: ChatML, Llama, DeepSeek (with wide bars), Gemma and Mistral.
_MARKS = re.compile(r"<[|\uff5c][^<>]{1,40}[|\uff5c]>|<(?:start|end)_of_turn>|\[/?INST\]|</?s>|<bos>")
_MAX_PARAGRAPHS = 100


class UnmatchedError(UsageError):
    """No example of the task is that of a row."""


def index_by_prompt(examples: Iterable[Example]) -> dict[str, Example]:
    """Examples by prompt, by the last message of its user, and by the bare question. Ambiguous keys are left out."""
    index: dict[str, Example] = {}
    ambiguous = set()
    for example in examples:
        for key in {prompt_key(example.prompt), *_questions(example)}:
            if index.setdefault(key, example).answer != example.answer:
                ambiguous.add(key)
    return {key: example for key, example in index.items() if key not in ambiguous}


def index_by_id(examples: Iterable[Example]) -> dict[str, Example]:
    """Examples by id. Raises ``UsageError`` for an id that two have, since rows would get one's gold answer."""
    index: dict[str, Example] = {}
    for example in examples:
        if (first := index.setdefault(example.id, example)) is not example:
            raise UsageError(
                f"{example.name}: the id {example.id!r} is also that of {first.name}; fix dataset.id, or join by "
                "--join prompt or --join order"
            )
    return index


def find(row: Row, index: Mapping[str, Example], by: By) -> Example:
    """The example of a row. Raises ``UnmatchedError``."""
    if by == "prompt":
        prompt = row.get("prompt")
        if not prompt:
            raise UnmatchedError(
                "this row has no column 'prompt', by which its example is found; name another with --prompt"
            )
        keys, what = _prompt_keys(prompt), f"the prompt {_shown(prompt)}"
    else:
        key = row.get("id")
        keys, what = iter([key] if isinstance(key, str) else []), f"the id {key!r:.100}"
    example = next((index[key] for key in keys if key in index), None)
    if example is None:
        raise UnmatchedError(
            f"no example of the split has {what} (--split chooses the other); {_known_keys(index, by)}"
        )
    return example


def advice(by: By) -> str:
    """What to try if none of the first rows of a file could be joined."""
    if by == "prompt":
        return (
            "name the column of the prompts or bare questions (--prompt), log the gold answers with the completions "
            "(TRL: log_extra('answer', answers)), or join by --join id or --join order"
        )
    return (
        "name the columns with the same ids (--id in the file, dataset.id='{{ column }}' in the data), or join by "
        "--join prompt or --join order"
    )


def _known_keys(index: Mapping[str, Example], by: By) -> str:
    """What the keys of the task's examples look like."""
    examples = list(islice(index.values(), 2))
    if by != "prompt":
        return f"its ids look like {' and '.join(repr(example.id) for example in examples)}"
    if not examples:
        return "none of its prompts has a single gold answer"
    return f"its prompts look like {_shown(examples[0].prompt)}"


def _shown(prompt: Any) -> str:
    """The last message of a prompt, or its text."""
    last = prompt[-1] if isinstance(prompt, list | tuple) and prompt else prompt
    content = last.get("content") if isinstance(last, Mapping) else last.content if isinstance(last, Message) else last
    return f"{content!r:.300}"


def prompt_key(prompt: Any) -> str:
    """A prompt, text or messages, as text: the same from a dataset and from a file that adds empty columns to it."""
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, (list, tuple)):
        prompt = [
            (message.get("role"), message.get("content")) if isinstance(message, Mapping) else message
            for message in prompt
        ]
    return json.dumps(prompt, default=str)


def _questions(example: Example) -> list[str]:
    """The user's last message, or the prompt if it is text; and the longest column in it, the bare question."""
    prompt = example.prompt
    if isinstance(prompt, tuple):
        if not prompt or prompt[-1].role != "user":
            return []
        prompt = prompt[-1].content
    columns = [value.strip() for value in example.info.values() if isinstance(value, str) and value.strip() in prompt]
    return [text for text in (prompt.strip(), max(columns, key=len, default="")) if text]


def _prompt_keys(prompt: Any) -> Iterator[str]:
    """The keys that a row's prompt may have: as it is; the question below a system message of its own; and the messages
    in a text that a chat template wrote.
    """
    yield prompt_key(prompt)
    if not isinstance(prompt, str):
        messages = read_messages(prompt) or ()
        if [message.role for message in messages] in (["user"], ["system", "user"]):
            yield messages[-1].content.strip()
        return
    yield prompt.strip()
    for piece in reversed(_MARKS.split(prompt)):
        yield piece.strip()
        yield piece.removeprefix("user\n").strip()
        for blank in islice(re.finditer("\n\n", piece), _MAX_PARAGRAPHS):  # below a system message in the user's turn
            yield piece[blank.end() :].strip()
