"""Summaries for the terminal: a task's rendered example, the table of training settings."""

from __future__ import annotations

import json
from functools import partial

from rich.table import Table

from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task
from grpo_env.taskfile.yaml_file import entry_line


def describe(task: Task, split: Split) -> str:
    """A task's first example and its verifiers as text."""
    example = task.examples(split, limit=1)[0]
    lines = [f"task: {task.name}", f"file: {task.source}", f"description: {task.spec.description}", ""]
    if isinstance(example.prompt, str):
        lines += ["--- prompt ---", example.prompt]
    else:
        for message in example.prompt:
            lines += [f"--- {message.role} ---", message.content]
    if task.format.prefill:
        lines += ["--- prefill ---", task.format.prefill]
    if example.chat_template_kwargs:
        lines += ["--- chat_template_kwargs ---", json.dumps(example.chat_template_kwargs)]
    if task.spec.dataset.filter is not None:
        line = task.rows(split).filter_line or "dataset.filter keeps all rows"
        lines += ["---", f"{line} of the {split} split"]
    lines += ["---", f"id: {example.id}", f"answer: {example.answer}", "", "verifiers:"]
    for name, spec in task.spec.verifiers.items():
        written = partial(spec.model_dump, mode="json", by_alias=True)
        # the default weight of a part without one comes first
        shown = written(include={"weight"}) | written(exclude_unset=True)
        lines.append(f"  {entry_line(f'{name} (metric)' if name == task.metric else name, shown)}")
    return "\n".join(lines)


def settings() -> Table:
    """Every training setting with its default and meaning, by its dotted name."""
    from grpo_env.trainer.config import FIELDS

    table = Table("setting", "default", "meaning", box=None, header_style="bold")
    for name, field in FIELDS.items():
        table.add_row(name, str(field.default) or '""', str(field.description).replace("``", ""))
    return table
