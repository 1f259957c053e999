"""Labelled completions of score files, for a reward model: what it reads of each, and a label for each output."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from grpo_env.core import Completion, Example, Message, Score, StepScore
from grpo_env.equality import is_correct
from grpo_env.errors import UsageError
from grpo_env.results.episodes import turns_of
from grpo_env.results.part_scores import full_name, named_scores, part_called
from grpo_env.results.rows import ScoreRow, location, metric_of, prompt_of
from grpo_env.scoring.completion import read_completion
from grpo_env.taskfile.task import Task

if TYPE_CHECKING:
    from grpo_env.verifiers.models import ModelInput, ModelVerifier
    from grpo_env.verifiers.pretrained import Pretrained

ROLLOUTS = "rollouts"
"""The part in which ``label-steps`` writes its labels."""


class Judged(NamedTuple):
    """A completion and what a rule says of it.

    ``label`` is a value from 0 to 1 for an outcome model; ``steps`` are the labels for a process model. ``correct`` is
    the verdict on the whole, ``None`` if there is none. ``where`` is its place in the data, for messages.
    """

    example: Example
    completion: Completion
    label: float | None = None
    steps: Sequence[StepScore] = ()
    correct: bool | None = None
    where: str = ""


class Labelled(NamedTuple):
    """A completion as the model reads it, with a label for each output: of its steps, or one; ``None``: unknown."""

    judged: Judged
    read: ModelInput
    labels: tuple[float | None, ...]

    @property
    def known(self) -> list[float]:
        """The labels that are known."""
        return [label for label in self.labels if label is not None]

    @property
    def prompt(self) -> str:
        """The same text for all completions of a prompt, whatever the ids of their rows."""
        return json.dumps(self.judged.example.prompt)


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


def label(
    verifier: ModelVerifier, loaded: Pretrained, judged: Iterable[Judged], left_out: Counter[str], *, hard: bool = False
) -> list[Labelled]:
    """The completions that the verifier's model can read, with their labels; ``hard`` makes them 1 above 0, else 0.

    Others are counted in ``left_out``. Raises ``UsageError`` for a label that is not between 0 and 1.
    """
    found: list[Labelled] = []
    for item in judged:
        read = verifier.read(loaded, item.example, item.completion)
        if isinstance(read, Score):
            left_out[f"{read.status}: {read.explanation}" if read.status == "error" else read.status] += 1
            continue
        labels = of_steps(item.steps, read.steps) if verifier.head == "token" else [item.label]
        if hard:
            labels = [None if value is None else float(value > 0) for value in labels]
        for value in labels:
            if value is not None and not 0 <= value <= 1:
                raise UsageError(
                    f"{item.where}: a label must be between 0 and 1, found {value:g} (reward-model train --hard takes "
                    "those above 0 as 1)"
                )
        if all(value is None for value in labels):
            left_out["without a label"] += 1
            continue
        found.append(Labelled(item, read, tuple(labels)))
    return found


def of_steps(labels: Sequence[StepScore], steps: Sequence[tuple[int, int]]) -> list[float | None]:
    """For each step the lowest of the labels that end in it."""
    return [min((each.value for each in labels if first < each.end <= last), default=None) for first, last in steps]


def split_by_prompt(rows: Sequence[Labelled], fraction: float, seed: int) -> tuple[list[Labelled], list[Labelled]]:
    """Rows to train on, and held-out ones: all completions of ``fraction`` of the prompts, at least one prompt.

    Raises ``UsageError`` if there are fewer than two prompts.
    """
    prompts = sorted({row.prompt for row in rows})
    if len(prompts) < 2:
        raise UsageError("all completions have the same prompt; held-out figures need at least two")
    count = min(max(1, round(fraction * len(prompts))), len(prompts) - 1)
    held_out = set(random.Random(f"{seed}/held-out").sample(prompts, count))
    return [row for row in rows if row.prompt not in held_out], [row for row in rows if row.prompt in held_out]
