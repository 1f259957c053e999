"""Labels from score files: what ``score`` and ``label-steps`` write, and the samples of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from grpo_env.core import Example, Message
from grpo_env.equality import is_correct
from grpo_env.errors import UsageError
from grpo_env.results.episodes import turns_of
from grpo_env.results.part_scores import full_name, named_scores, part_called
from grpo_env.results.rows import ScoreRow, location, metric_of, prompt_of
from grpo_env.scoring.completion import read_completion
from grpo_env.taskfile.task import Task

from .labels import Judged

ROLLOUTS = "rollouts"
"""The part in which ``label-steps`` writes its labels."""


def judged_completions(
    rows: Iterable[ScoreRow], task: Task, part: str | None, left_out: Counter[str], *, process: bool
) -> Iterator[Judged]:
    """The completions of score rows with the labels of ``part``: its step scores for ``process``, else its value.

    By default that is the part of ``label-steps``, or the task's metric. Rows in which it is unscored are counted in
    ``left_out``. Raises ``UsageError``, with the row, for rows of another task, episodes, and rows without a text, a
    prompt or that part.
    """
    for row in rows:
        scores, where = named_scores(row), location(row)
        prompt, text = _checked(row, task, where)
        name = part or (ROLLOUTS if process else metric_of(row))
        if name == ROLLOUTS and part_called(scores, name) is None:
            hint = "label the steps with grpo_env reward-model label-steps, or give --part"
            raise UsageError(f"{where}: no part is called {name!r}; {hint}")
        score = scores[full_name(row, name, scores)]
        if score.value is None:
            left_out[f"unscored ({score.status})"] += 1
            continue
        steps = score.step_scores() if process else ()
        if process and not steps:
            left_out["without steps"] += 1
            continue
        label, metric = None if process else score.value, part_called(scores, row.get("metric"))
        correct = None if metric is None or metric.value is None else is_correct(metric.value)
        yield Judged(Example(str(row["id"]), prompt), read_completion(task, text)[0], label, steps, correct, where)


def _checked(row: ScoreRow, task: Task, where: str) -> tuple[str | tuple[Message, ...], str]:
    """Prompt and text of a row. Raises ``UsageError``."""
    if row.get("task") not in (None, task.name):
        raise UsageError(f"{where}: is of the task {row['task']!r}, not of {task.name!r}")
    if turns_of(row):
        raise UsageError(f"{where}: has several turns; reward models are trained on single texts")
    if not isinstance(row.get("text"), str):
        raise UsageError(f"{where}: has no text (score --no-text); score the completions with their texts")
    prompt = prompt_of(row)
    if not prompt:
        raise UsageError(f"{where}: has no prompt, which the model reads")
    return prompt if isinstance(prompt, str) else tuple(Message(**message) for message in prompt), row["text"]
