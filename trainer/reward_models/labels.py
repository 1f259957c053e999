"""Labelled completions of score files, for a reward model: what it reads of each, and a label for each output."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from grpo_env.core import Completion, Example, Message, Score, StepScore
from grpo_env.equality import is_correct
from grpo_env.errors import UsageError
from grpo_env.results.episodes import turns_of
from grpo_env.results.part_scores import PartScore, full_name, named_scores, part_called
from grpo_env.results.rows import ScoreRow, location, metric_of, prompt_of
from grpo_env.scoring.completion import read_completion
from grpo_env.taskfile.task import Task

if TYPE_CHECKING:
    from grpo_env.verifiers.models import ModelInput, ModelVerifier
    from grpo_env.verifiers.pretrained import Pretrained

ROLLOUTS = "rollouts"
"""The part in which ``label-steps`` writes its labels."""


class Labelled(NamedTuple):
    """A completion as the model reads it, with a label for each output: of its steps, or one; ``None``: unknown.

    ``correct`` is the verdict on the whole, ``None`` if there is none.
    """

    example: Example
    completion: Completion
    read: ModelInput
    labels: tuple[float | None, ...]
    correct: bool | None = None

    @property
    def known(self) -> list[float]:
        """The labels that are known."""
        return [label for label in self.labels if label is not None]

    @property
    def prompt(self) -> str:
        """The same text for all completions of a prompt, whatever the ids of their rows."""
        return json.dumps(self.example.prompt)


def labelled_completions(
    rows: Iterable[ScoreRow],
    task: Task,
    part: str | None,
    verifier: ModelVerifier,
    loaded: Pretrained,
    *,
    hard: bool = False,
) -> tuple[list[Labelled], Counter[str]]:
    """The completions of score rows that the verifier's model can read, with the labels of ``part``: its step scores
    for a model of steps, else its value; and how many others are left out, by the reason.

    By default that is the part of ``label-steps``, or the task's metric. ``hard`` makes labels 1 above 0, else 0.
    Raises ``UsageError``, with the row, for rows of another task, episodes, rows without a text, a prompt or that part,
    and for a label that is not between 0 and 1.
    """
    found, left_out, process = list[Labelled](), Counter[str](), verifier.head == "token"
    for row in rows:
        prompt, text = _checked(row, task)
        example, completion = Example(str(row["id"]), prompt), read_completion(task, text)[0]
        score, correct = _judged(row, part or (ROLLOUTS if process else metric_of(row)))
        read: ModelInput | Score
        if score.value is None:
            left_out[f"unscored ({score.status})"] += 1
        elif process and not score.step_scores():
            left_out["without steps"] += 1
        elif isinstance(read := verifier.read(loaded, example, completion), Score):
            left_out[f"{read.status}: {read.explanation}" if read.status == "error" else read.status] += 1
        else:
            labels = of_steps(score.step_scores(), read.steps) if process else [score.value]
            if hard:
                labels = [None if value is None else float(value > 0) for value in labels]
            if wrong := [value for value in labels if value is not None and not 0 <= value <= 1]:
                raise UsageError(
                    f"{location(row)}: a label must be between 0 and 1, found {wrong[0]:g} (reward-model train --hard "
                    "takes those above 0 as 1)"
                )
            if any(value is not None for value in labels):
                found.append(Labelled(example, completion, read, tuple(labels), correct))
            else:
                left_out["without a label"] += 1
    return found, left_out


def _judged(row: ScoreRow, part: str) -> tuple[PartScore, bool | None]:
    """The score of a part in a row, and the verdict of its metric. Raises ``UsageError`` if there is no such part."""
    scores = named_scores(row)
    if part == ROLLOUTS and part_called(scores, part) is None:
        hint = "label the steps with grpo_env reward-model label-steps, or give --part"
        raise UsageError(f"{location(row)}: no part is called {part!r}; {hint}")
    metric = part_called(scores, row.get("metric"))
    correct = None if metric is None or metric.value is None else is_correct(metric.value)
    return scores[full_name(row, part, scores)], correct


def _checked(row: ScoreRow, task: Task) -> tuple[str | tuple[Message, ...], str]:
    """Prompt and text of a row. Raises ``UsageError``."""
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
    return prompt if isinstance(prompt, str) else tuple(Message(**message) for message in prompt), row["text"]


def of_steps(labels: Sequence[StepScore], steps: Sequence[tuple[int, int]]) -> list[float | None]:
    """For each step the lowest of the labels that end in it."""
    return [min((each.value for each in labels if first < each.end <= last), default=None) for first, last in steps]


def split_by_prompt(rows: Sequence[Labelled], fraction: float, seed: int) -> tuple[list[Labelled], list[Labelled]]:
    """Rows to train on, and held-out ones: all completions of ``fraction`` of the prompts, at least one prompt."""
    prompts = sorted({row.prompt for row in rows})
    count = min(max(1, round(fraction * len(prompts))), len(prompts) - 1)
    held_out = set(random.Random(f"{seed}/held-out").sample(prompts, count))
    return [row for row in rows if row.prompt not in held_out], [row for row in rows if row.prompt in held_out]
