"""The verdicts on what another framework hands over: many completions at once, those of one example as its group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

from grpo_env.core import Completion, Example, Group, Score, score_groups
from grpo_env.errors import UsageError
from grpo_env.scoring.completion import read_completion
from grpo_env.taskfile.task import Task

Pair = tuple[Example, Completion]


def completion(task: Task, said: Any, token_ids: Sequence[int] | None = None, finish: str | None = None) -> Completion:
    """What a model said, a text or chat messages, as a completion. Raises ``UsageError`` for anything else."""
    ids = None if token_ids is None else tuple(token_ids)
    return read_completion(task, said, finish_reason=finish, token_ids=ids)[0]


def verdicts(task: Task, pairs: Iterable[Pair], step: int = 0) -> list[Score]:
    """A score for each pair, in order, by the task as it stands at a training step.

    Neighbours with one and the same ``Example`` object are a group. Never raises for what the model wrote.
    """
    together = groupby(pairs, key=lambda pair: id(pair[0]))
    members = [list(group) for _, group in together]
    groups = [Group(group[0][0], [said for _, said in group]) for group in members]
    scores = chain.from_iterable(score_groups(task.verifier.at(step), groups))
    return [with_parts(task, score) for score in scores]


def with_parts(task: Task, score: Score) -> Score:
    """The score with the parts that callers ask for by name, of which one that failed as a whole has none."""
    names = {**dict.fromkeys(task.spec.verifiers), task.metric: None}
    return score if score.parts else replace(score, parts=tuple(score.relabel(name=name) for name in names))


def number(score: Score, unscored: float | None, where: str, caller: str, option: str) -> float:
    """The value of a score for a caller that takes nothing but numbers: ``unscored`` where there is none.

    Raises ``UsageError`` that begins with ``where`` and names the caller's ``option`` if ``unscored`` is no number.
    """
    value = unscored if score.value is None else score.value
    if value is None:
        raise UsageError(
            f"{where}: {score.name} is unscored ({score.status}: {score.explanation}), which {caller} cannot express; "
            f"mend the data or the verifier, or say what it is to be worth ({option})"
        )
    return float(value)


def refuse_groups(task: Task, caller: str) -> None:
    """Raises ``UsageError`` for such a task where completions come one at a time."""
    if task.scores_groups:
        raise UsageError(
            f"task {task.name}: a verifier compares the completions of a group, but {caller} hands over one at a time"
        )


def refuse_schedules(task: Task, caller: str) -> None:
    """Raises ``UsageError`` for a task whose weights change over training where the step is not told."""
    if task.verifier.at(0) != task.verifier.at(2**53):
        raise UsageError(
            f"task {task.name}: weights follow a schedule, but {caller} does not tell the step; make them numbers"
        )
