"""Checks of a task's data that need no scoring: columns, ids, repeated prompts, overlapping splits, prompt lengths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median_high
from typing import Any

from grpo_env.control_tokens import without_control_tokens
from grpo_env.core import Example, Message
from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.taskfile.dataset import SplitRows
from grpo_env.taskfile.prompt import prompt_ids
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from .findings import Finding, error, warning
from .gold_completion import prompt_text
from .overlap import NEAR, overlaps, words

MAX_COLUMNS = 20
_CONDITION = re.compile(r"\{[{%][^%}]*?\b(?:el)?if\b((?:(?!\belse\b)[^%}])*)")


def columns(task: Task, examples: Sequence[Example]) -> tuple[str, list[Finding]]:
    """List the columns, those that the task uses marked ``*``; an empty one of prompt or answer is a finding.

    One that a condition of a template tests (``{% if hint %}``) may be empty.
    """
    names = list(dict.fromkeys(name for example in examples for name in example.info))
    of_functions = {name for cls in task.verifier_classes for name in getattr(cls, "defaults", ())}
    used = {*named(names, task.spec.model_dump(include={"dataset", "prompt", "verifiers"})), *of_functions}
    written = task.spec.model_dump(include={"dataset": {"id", "answer"}, "prompt": True})
    tested = named(names, _CONDITION.findall("\n".join(_texts(written))))
    needed = [name for name in named(names, written) if name not in tested]
    findings = [
        warning("columns", example.name, f"column {name!r} is empty", "fill it, or remove the row")
        for example in examples
        for name in needed
        if name in example.info and (example.info[name] is None or not str(example.info[name]).strip())
    ]
    listed = [f"{name}*" if name in used else name for name in names[:MAX_COLUMNS]]
    more = f" and {len(names) - MAX_COLUMNS} more" if len(names) > MAX_COLUMNS else ""
    return f"{', '.join(listed)}{more} (* used)", findings


def uneven(task: Task, rows: Mapping[Split, SplitRows]) -> Iterator[Finding]:
    """Splits by fractions, of data that were read to their ends, with less than half of the rows that they ask for."""
    fractions = {split: value for split, value in task.spec.dataset.split.items() if isinstance(value, float)}
    total = sum(split_rows.read for split_rows in rows.values())
    for split, split_rows in rows.items() if fractions else ():
        fraction = fractions[split]
        if split_rows.read < total * fraction / sum(fractions.values()) / 2:
            what = f"{split_rows.read:,} of {total:,} rows, though dataset.split asks for {fraction:g}"
            fix = "the hashes of few rows fall unevenly: give more rows, other fractions, or each split a file"
            yield warning("splits", split, what, fix)


def named(names: Iterable[str], spec: Any) -> list[str]:
    """The columns that the texts in a part of the task file name."""
    text = "\n".join(_texts(spec))
    return [name for name in names if name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def _texts(value: Any) -> Iterator[str]:
    """The texts in a mapping, at any depth, without its keys."""
    if isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value


def prompt_key(task: Task) -> str:
    """The key of the task file that writes the question."""
    keys = ("user", "text", "messages")
    return f"prompt.{next(key for key in keys if getattr(task.spec.prompt, key) is not None)}"


def ids(examples: Mapping[Split, Sequence[Example]]) -> Iterator[Finding]:
    """Duplicate ids, within a split or across splits."""
    first: dict[str, str] = {}
    for example in (example for split_examples in examples.values() for example in split_examples):
        if example.id in first:
            what = f"the id {example.id!r} is also that of {first[example.id]}"
            yield error("ids", example.name, what, "fix dataset.id, or remove it", "duplicate id")
        first.setdefault(example.id, example.name)


def repeated(examples: Mapping[Split, Sequence[Example]]) -> Iterator[Finding]:
    """Repeated prompts within a split, and those among them with a different gold answer."""
    for split, split_examples in examples.items():
        first: dict[tuple[str, ...], Example] = {}
        repetitions = [
            (earlier, example)
            for example in split_examples
            if (earlier := first.setdefault(words(prompt_text(example)), example)) is not example
        ]
        for earlier, example in repetitions:
            if earlier.answer != example.answer:
                what = f"same prompt as {earlier.name}, but the gold answer is {example.answer!r:.60}"
                yield warning("repeats", example.name, what, "one of the two is wrong")
        if repetitions:
            earlier, example = repetitions[0]
            count = counted(len(repetitions), "repeated prompt")
            what = f"{count} (the first: {earlier.name} and {example.name})"
            yield warning("repeats", split, what, "remove them, unless they are meant as weights")


def overlap(train: Sequence[Example], held_out: Sequence[Example]) -> tuple[str, list[Finding]]:
    """Held-out prompts that are in the training split: word for word (errors) or nearly (warnings)."""
    findings = []
    same = near = 0
    for pair in overlaps([prompt_text(example) for example in train], [prompt_text(example) for example in held_out]):
        example, first = held_out[pair.held_out], train[pair.train]
        where, other = example.name, first.name
        if pair.similarity == 1:
            same += 1
            what, cause = f"same prompt as {other}", "same prompt"
            if example.answer != first.answer:
                what, cause = f"{what}, with another gold answer", ""
            findings.append(error("overlap", where, what, "remove one of the two rows", cause))
        else:
            near += 1
            what = f"nearly the same prompt as {other} (similarity {pair.similarity:.2f})"
            findings.append(warning("overlap", where, what, "look at both; remove one if they are the same problem"))
    fact = f"{same:,} of {len(held_out):,} held-out prompts in train, {near:,} nearly (three-word shingles, {NEAR:g})"
    return fact, findings


def lengths(task: Task, examples: Sequence[Example], model: str | None) -> tuple[str, list[Finding]]:
    """Prompt lengths, in tokens of ``model`` compared with its positions, or in characters without a model.

    Raises ``UsageError`` for a model that does not load.
    """
    if model is None:
        counts = [len(prompt_text(example)) for example in examples]
        return f"prompts {_spread(counts)} characters (tokens with --model)", []
    from grpo_env.trainer.config import TrainConfig

    tokenizer, positions = load_tokenizer(model)
    counts = [len(prompt_ids(tokenizer, example, task.format, model)) for example in examples]
    new = TrainConfig.from_mapping(task.defaults, f"{task.source}: train").sampling.max_new_tokens
    fact = f"prompts {_spread(counts)} tokens of {model}, and sampling.max_new_tokens {new:,}"
    forged = list(_control_tokens(examples, tokenizer, model))
    if positions is None:
        return f"{fact}; the model has no position limit", forged
    fix = "shorten the prompt, or set a smaller train.sampling.max_new_tokens"
    findings = [
        error("lengths", example.name, f"{count:,} + {new:,} tokens exceed the {positions:,} positions of {model}", fix)
        for example, count in zip(examples, counts, strict=True)
        if count + new > positions
    ]
    return f"{fact}, of {positions:,} positions", [*findings, *forged]


def _control_tokens(examples: Sequence[Example], tokenizer: Any, model: str) -> Iterator[Finding]:
    """Chats whose messages contain a control token of the model, such as the end of a message."""
    plain = without_control_tokens(tokenizer)
    for example in examples:
        texts = [message.content for message in example.prompt if isinstance(message, Message)]
        text = next((text for text in texts if plain(text) != text), None)
        if text is not None:
            at = next(n for n, (a, b) in enumerate(zip(text, plain(text), strict=False)) if a != b) - 1
            what = f"{text[at : at + 20]!r} in the prompt begins with a control token of {model}"
            yield warning(
                "control tokens", example.name, what, "the model reads it as that token; break it up in the data"
            )


def load_tokenizer(model: str) -> tuple[Any, int | None]:
    """The model's tokenizer and its number of positions (``None``: unlimited); no weights are loaded."""
    from transformers import AutoConfig, AutoTokenizer

    from grpo_env.trainer.engine.bundled import MODELS

    source = str(MODELS.get(model, model))
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            source,
            model_max_length=10**9,  # or it warns about long prompts
            trust_remote_code=False,
        )
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
    except (OSError, ValueError) as problem:
        reason = next(iter(str(problem).splitlines()), type(problem).__name__)
        raise UsageError(f"--model {model}: cannot be loaded: {reason}") from problem
    return tokenizer, getattr(config.get_text_config(decoder=True), "max_position_embeddings", None)


def _spread(counts: Sequence[int]) -> str:
    return f"{min(counts):,} to {max(counts):,} (median {median_high(counts):,})"
