"""Prompts: a row's columns become messages, and messages become text and token ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grpo_env.core import Example, Format, Message
from grpo_env.errors import UsageError, nearest
from grpo_env.rows.jsonl import json_value

from .schema import PromptSpec
from .templates import render

BATCH = 1000  # prompts that are tokenized together to measure them


def build_prompt(spec: PromptSpec, row: Mapping[str, Any], format: Format, where: str) -> str | tuple[Message, ...]:
    """The prompt of a row: plain text, or messages (system, worked examples, user). Raises ``UsageError``."""
    if spec.text is not None:
        return render(spec.text, row, format, f"{where}: prompt.text")
    question = None if spec.messages is None else _chat(row, spec.messages, f"{where}: prompt.messages")
    messages: list[Message] = []
    if question and question[0].role == "system":
        messages.append(question.pop(0))
    elif spec.system is not None:
        messages.append(Message("system", render(spec.system, row, format, f"{where}: prompt.system")))
    for number, shot in enumerate(spec.shots):
        at = f"{where}: prompt.shots.{number}"
        messages.append(Message("user", render(shot.user, row, format, at)))
        messages.append(Message("assistant", render(shot.assistant, row, format, at)))
    if question is None:
        assert spec.user is not None
        question = [Message("user", render(spec.user, row, format, f"{where}: prompt.user"))]
    return (*messages, *question)


def _chat(row: Mapping[str, Any], column: str, where: str) -> list[Message]:
    """The chat in a column, also as JSON, which ends with what the model has to answer. Raises ``UsageError``."""
    if column not in row:
        raise UsageError(f"{where}: no column {column!r}; {nearest(column, row)}")
    chat = json_value(row[column])
    if not isinstance(chat, list) or not chat or not all(_is_message(message) for message in chat):
        raise UsageError(f"{where}: column {column!r} is not a list of messages with a role and a text as content")
    if chat[-1]["role"] == "assistant":
        raise UsageError(f"{where}: the chat in column {column!r} ends with a message of the assistant; leave it out")
    return [Message(message["role"], message["content"]) for message in chat]


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(value.get(key), str) for key in ("role", "content"))


def prompt_text(tokenizer: Any, example: Example, format: Format) -> str:
    """The prompt as a model reads it: a string as it is, a chat through the chat template, then the format's prefill.

    Of the prefill, only what a chat template has not written itself is added: DeepSeek-R1's ends in ``<think>``.
    Without a chat template the messages are joined by blank lines and the completion starts on a new line. Raises
    ``UsageError`` if the chat template fails.
    """
    if isinstance(example.prompt, str):
        return example.prompt + format.prefill
    messages = [message._asdict() for message in example.prompt]
    if tokenizer.chat_template is None:
        return "\n\n".join(message["content"] for message in messages) + "\n" + format.prefill
    try:
        variables = dict(example.chat_template_kwargs)
        text = str(tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False, **variables))
    except Exception as error:  # a template is a program
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UsageError(
            f"example {example.name}: the chat template of {tokenizer.name_or_path or 'the model'} fails: {reason}"
        ) from error
    return text + missing_prefill(text, format.prefill)


def unused_template_kwargs(tokenizer: Any, names: Iterable[str]) -> list[str]:
    """The names that do not occur in the chat template of a model, so that their values have no effect."""
    template = str(tokenizer.chat_template or "")
    return [name for name in names if not re.search(rf"\b{re.escape(name)}\b", template)]


def missing_prefill(text: str, prefill: str) -> str:
    """The part of the prefill that ``text`` does not end with. White space after the whole prefill may differ."""
    for size in range(len(prefill), 0, -1):
        if text.endswith(prefill[:size]) and not prefill[:size].isspace():
            return prefill[size:]
    return "" if text.rstrip().endswith(prefill.rstrip()) and prefill.strip() else prefill


def prompt_ids(tokenizer: Any, example: Example, format: Format, model: str) -> list[int]:
    """The prompt as token ids. The tokenizer adds its special tokens, except to a chat template, which writes its own.

    A text that begins with the start token gets no second one. Raises ``UsageError``, which names the ``model``, for a
    prompt without any token.
    """
    text = prompt_text(tokenizer, example, format)
    (ids,) = _ids(tokenizer, [text], from_template=_uses_template(tokenizer, example))
    if not ids:
        raise UsageError(f"example {example.name}: the prompt is empty, and {model} has no start token to add")
    return ids


def prompt_lengths(tokenizer: Any, examples: Sequence[Example], format: Format) -> list[int]:
    """The number of tokens of the prompts of a task, as ``prompt_ids`` makes them, but tokenized in batches.

    Raises ``UsageError`` if the chat template fails.
    """
    lengths: list[int] = []
    for start in range(0, len(examples), BATCH):
        batch = examples[start : start + BATCH]
        texts = [prompt_text(tokenizer, example, format) for example in batch]
        lengths += map(len, _ids(tokenizer, texts, from_template=_uses_template(tokenizer, batch[0])))
    return lengths


def _ids(tokenizer: Any, texts: Sequence[str], *, from_template: bool) -> list[list[int]]:
    rows: list[list[int]] = tokenizer(texts, add_special_tokens=not from_template)["input_ids"]
    twice = [] if from_template else [tokenizer.bos_token_id] * 2
    return [row[1:] if row[:2] == twice else row for row in rows]


def _uses_template(tokenizer: Any, example: Example) -> bool:
    return not isinstance(example.prompt, str) and tokenizer.chat_template is not None
