"""A task for a table, for tests of ``check`` and ``audit``."""

import json

import yaml

from grpo_env.taskfile.task import load_task


def table_task(folder, rows, **changes):
    """Write a task for rows with a question and an answer, with other keys of the task file, and load it."""
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = {
        "version": 1,
        "task": "survey",
        "dataset": {"path": "rows.jsonl", "split": {"train": 1.0}, "answer": "{{ answer }}"},
        "prompt": {"user": "{{ question }}"},
        "verifiers": {"accuracy": {"weight": 1.0}},
        "metric": "accuracy",
        **changes,
    }
    (folder / "survey.yaml").write_text(yaml.safe_dump(task))
    return load_task(folder / "survey.yaml")
