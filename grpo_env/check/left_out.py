"""Columns without which a question cannot be answered, and which the prompt leaves out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from grpo_env.core import Example
from grpo_env.taskfile.question_parts import Options, find_options, find_passages, find_unit, passage_template, shown
from grpo_env.taskfile.task import Task

from .data import named, prompt_key
from .findings import Finding, error, warning
from .gold_completion import prompt_text

LENGTH = 40  # characters of an option


def left_out(task: Task, examples: Sequence[Example], golds: Sequence[str]) -> Iterator[Finding]:
    """Options, passages, tables and units that are in the rows, but in no prompt and no other template.

    MMLU and C-Eval have their options in columns of their own, TAT-QA its table, SVAMP its ``Body``, SciBench its
    ``unit``: from the question alone nobody can tell the answer. Tools of an environment may tell them.
    """
    if task.spec.environment is not None:
        return
    rows = [example.info for example in examples]
    used = named(list(rows[0]), task.spec.model_dump(include={"dataset", "prompt", "verifiers"}))
    prompts = [prompt_text(example) for example in examples]
    options = find_options(rows, golds, used)
    if options is not None:
        yield from _options_left_out(options, examples, prompts, prompt_key(task))
    taken = [*used, *(options.columns if options else ())]
    for name in find_passages(rows, taken):
        hidden = [
            not shown(row.get(name), prompt) and not _holds(row.get(name), prompt)
            for row, prompt in zip(rows, prompts, strict=True)
        ]
        if 2 * sum(hidden) >= len(hidden):
            what = f"column {name!r} is not in the prompt of {sum(hidden):,} of {len(hidden):,} rows"
            fix = f"if the questions need it, write before them: {json.dumps(passage_template(name, rows))}"
            yield warning("templates", prompt_key(task), what, fix)
    unit = find_unit(rows, taken)
    if unit and not all(shown(row.get(unit), prompt) for row, prompt in zip(rows, prompts, strict=True)):
        what = f"column {unit!r} is neither in the prompt nor in the gold answer, such as {_example(unit, examples)}"
        fix = "ask for the unit in the prompt, or write it behind the number in the gold answer"
        yield warning("templates", "dataset.answer", what, fix)


def _options_left_out(
    options: Options, examples: Sequence[Example], prompts: Sequence[str], where: str
) -> Iterator[Finding]:
    texts = [options.texts(example.info) for example in examples]
    hidden = [
        index
        for index, prompt in enumerate(prompts)
        if len(texts[index]) > 1 and not any(text in prompt for text in texts[index])
    ]
    if 2 * len(hidden) < sum(len(of_row) > 1 for of_row in texts) or not hidden:
        return
    columns = " to ".join(repr(name) for name in dict.fromkeys((options.columns[0], options.columns[-1])))
    what = f"the gold answers name options in {columns}, which {len(hidden):,} of {len(prompts):,} prompts leave out"
    what += f", such as {texts[hidden[0]][0][:LENGTH]!r} ({examples[hidden[0]].name})"
    yield error("templates", where, what, f"write behind the question: {json.dumps(options.template)}")


def _holds(value: object, prompt: str) -> bool:
    """Whether a text has the prompt in it, as the column ``text`` of Alpaca has the question and its answer."""
    last = prompt.rpartition("\n\n")[2].strip()
    return isinstance(value, str) and bool(last) and last in value


def _example(column: str, examples: Sequence[Example]) -> str:
    example = next(example for example in examples if str(example.info.get(column) or "").strip())
    return f"{str(example.info[column]).strip()[:LENGTH]!r} ({example.name})"
