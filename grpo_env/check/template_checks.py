"""Checks of a task's templates: do they read the rows, hide the gold answer, and name the tags of the format?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from grpo_env.core import Example
from grpo_env.taskfile.task import Task
from grpo_env.taskfile.templates import is_template

from .data import named, prompt_key
from .findings import Finding, error, warning
from .gold_completion import prompt_text

_TAG = re.compile(
    r"<(think|thinking|thought|reasoning|rationale|scratchpad|answer|final|final_answer|solution|result)>"
)
_TAG_OF_FORMAT = re.compile(r"\bformat\.\w+")
_EXPRESSION = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)


def constant_prompt(task: Task, examples: Sequence[Example]) -> Iterator[Finding]:
    """A prompt that is the same in all rows, of which the gold answers differ; the tools may tell the question."""
    if task.spec.environment is not None or len({example.answer for example in examples}) == 1:
        return
    if len({prompt_text(example) for example in examples}) == 1:
        what = f"all {len(examples):,} rows have the same prompt, but not the same gold answer"
        yield error("templates", prompt_key(task), what, "name a column in double braces, such as {{ question }}")


def constant_answer(task: Task) -> Iterator[Finding]:
    """A gold answer without a column, the same in all rows."""
    answer = task.spec.dataset.answer
    if answer is not None and not is_template(answer):
        what = f"{answer!r:.60} is the gold answer of all rows"
        yield warning("templates", "dataset.answer", what, "name a column in double braces, such as {{ answer }}")


def gold_in_prompt(task: Task, examples: Sequence[Example], golds: Sequence[str]) -> Iterator[Finding]:
    """Prompts that show a column from which the gold answer is made, and so in every row the gold answer itself."""
    if len(set(golds)) < 2:
        return
    info: Mapping[str, object] = examples[0].info
    columns = [name for name, value in info.items() if isinstance(value, str | int | float)]
    prompt = str(task.spec.prompt.model_dump(include={"system", "shots", "user", "text"}))
    expressions = _EXPRESSION.findall(_TAG_OF_FORMAT.sub("", prompt))  # "Give the answer" shows no column
    shown = [name for name in named(columns, expressions) if name in named(columns, task.spec.dataset.answer)]
    for name in shown:
        texts = [str(example.info.get(name)) for example in examples]
        if all(
            text in prompt_text(example) and gold in text
            for text, gold, example in zip(texts, golds, examples, strict=True)
        ):
            what = f"the prompt shows column {name!r}, and with it the gold answer, in all {len(golds):,} rows"
            yield warning("templates", "prompt", what, "leave it out, unless the answer is meant to be copied")


def other_tags(task: Task) -> Iterator[Finding]:
    """A prompt that asks for tags like those of ``format``, but other ones."""
    prompt = task.spec.prompt
    template = "\n".join(text for text in (prompt.system, prompt.user, prompt.text) if text)
    asked = dict.fromkeys(_TAG.findall(template))
    expected = [tag for tag in (task.format.reasoning, task.format.answer) if tag]
    missing = [tag for tag in expected if tag not in asked and f"<{tag}>" not in task.format.prefill]
    if missing and "format." not in template and (others := [tag for tag in asked if tag not in expected]):
        what = f"names {_tags(others)}, but the tags of format are {_tags(expected)}"
        yield warning(
            "templates", "prompt", what, "write the same tags in both, or <{{ format.answer }}> in the prompt"
        )


def _tags(names: Sequence[str]) -> str:
    return " and ".join(f"<{name}>" for name in names)
