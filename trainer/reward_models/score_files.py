"""Labels from score files: what ``score`` and ``label-steps`` write, and the samples of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from grpo_env.core import Example, Message
from grpo_env.equality import is_correct
from grpo_env.errors import UsageError, nearest
from grpo_env.results.episodes import turns_of
from grpo_env.results.part_scores import PartScore, named_scores, part_called
from grpo_env.results.rows import ScoreRow, location, metric_of, prompt_of
from grpo_env.scoring.completion import read_completion
from grpo_env.taskfile.task import Task

from .labels import Judged

ROLLOUTS = "rollouts"
"""The part in which ``label-steps`` writes its labels."""


def judged_completions(
    rows: Iterable[tuple[str, ScoreRow]], task: Task, part: str | None, left_out: Counter[str], *, process: bool
) -> Iterator[Judged]:
    """The completions of score rows with the labels of ``part``: its step scores for ``process``, else its value.

    Each row comes with the name of its file.

    By default that is the part of ``label-steps``, or the task's metric. Rows in which it is unscored are counted in
    ``left_out``. Raises ``UsageError``, with the row, for rows of another task, episodes, and rows without a text, a
    prompt or that part.
    """
    for file, row in rows:
        where = f"{file}: {location(row)}"
        try:
            prompt, text, correct = _checked(row, task)
            score = _part(row, part or (ROLLOUTS if process else metric_of(row)))
        except UsageError as error:
            raise UsageError(f"{file}: {error}") from error
        if score.value is None:
            left_out[f"unscored ({score.status})"] += 1
            continue
        steps = score.step_scores() if process else ()
        if process and not steps:
            left_out["without steps"] += 1
            continue
        label = None if process else score.value
        yield Judged(Example(str(row["id"]), prompt), read_completion(task, text)[0], label, steps, correct, where)


def _checked(row: ScoreRow, task: Task) -> tuple[str | tuple[Message, ...], str, bool | None]:
    """Prompt, text and verdict of a row. Raises ``UsageError``."""
    where = location(row)
    if row.get("task") not in (None, task.name):
        raise UsageError(f"{where}: is of the task {row['task']!r}, not of {task.name!r}")
    if turns_of(row):
        raise UsageError(f"{where}: has several turns; reward models are trained on single texts")
    if not isinstance(row.get("text"), str):
        raise UsageError(f"{where}: has no text (score --no-text); score the completions with their texts")
    prompt = prompt_of(row)
    if not prompt:
        raise UsageError(f"{where}: has no prompt, which the model reads")
    metric = part_called(named_scores(row), row.get("metric"))
    correct = None if metric is None or metric.value is None else is_correct(metric.value)
    return prompt if isinstance(prompt, str) else tuple(Message(**message) for message in prompt), row["text"], correct


def _part(row: ScoreRow, name: str) -> PartScore:
    scores = named_scores(row)
    score = part_called(scores, name)
    if score is None:
        hint = (
            "label the steps with grpo_env reward-model label-steps, or give --part"
            if name == ROLLOUTS
            else nearest(name, scores)
        )
        raise UsageError(f"{location(row)}: no part is called {name!r}; {hint}")
    return score
