"""Checks a task without a model: its cases hold, and its data loads with golds that can be judged."""

from __future__ import annotations

from collections.abc import Iterator

from grpo_env.task import Task


def failed_cases(task: Task) -> Iterator[str]:
    """One line for each case with a value other than the task file says."""
    for number, case in enumerate(task.spec.cases):
        score = task.score(case.completion, answer=case.answer, info=case.info)
        for name, expected in (case.model_extra or {}).items():
            part = score if name == "total" else score.part(name)
            if part.value != expected:
                why = f" ({case.why})" if case.why else ""
                found = f"{part.value} [{part.status}] {part.explanation}"
                yield f"{task.source}: cases.{number}: {name} should be {expected}{why}, found {found}"
