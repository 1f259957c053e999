"""What the adapters share: completions and groups from other frameworks' data, and their scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from typing import Any, Literal, get_args

from grpo_env.core import Completion, Example, Group, Score, score_groups
from grpo_env.errors import UsageError
from grpo_env.scoring.completion import Recorded, read_completion
from grpo_env.scoring.recorded_turns import Tools
from grpo_env.taskfile.task import Task

Pair = tuple[Example, Completion]
Need = Literal["episodes", "groups", "steps"]
"""What a task needs of a trainer beyond single texts: see ``refuse``."""


def make_completion(
    task: Task,
    content: Any,
    token_ids: Sequence[int] | None = None,
    finish: str | None = None,
    num_tokens: int | None = None,
    tools: Tools | None = None,
) -> Completion:
    """A model's text or chat messages as a completion. Raises ``UsageError`` for anything else."""
    ids = None if token_ids is None else tuple(token_ids)
    return read_completion(task, content, Recorded(None, finish, num_tokens, ids), tools)[0]


def recorded_episode(completion: Completion) -> dict[str, Any]:
    """An episode as JSON can represent it, for a log that ``rows.formats`` reads."""
    record = completion.environment
    return {
        "text": completion.text,
        "turns": [turn.to_dict() for turn in completion.turns],
        "environment": None if record is None else record._asdict(),
    }


def score_pairs(task: Task, pairs: Iterable[Pair], step: int = 0) -> list[Score]:
    """A score for each pair, in order, with the task's weights at a training step.

    Adjacent pairs with the same ``Example`` object are a group. Never raises because of what the model wrote.
    """
    groups = []
    for _, members in groupby(pairs, key=lambda pair: id(pair[0])):
        examples, completions = zip(*members, strict=True)
        groups.append(Group(examples[0], completions))
    scores = chain.from_iterable(score_groups(task.verifier.at(step), groups))
    return [task.with_parts(score) for score in scores]


def part_values(task: Task, score: Score) -> dict[str, float]:
    """The values of the task's parts, as ``parts/NAME``; NaN where there is none, for callers that need every key."""
    values = {f"parts/{name}": score.part(name).value for name in task.spec.verifiers}
    return {name: math.nan if value is None else float(value) for name, value in values.items()}


def value_or(unscored: float | None, score: Score, where: str, caller: str, option: str) -> float:
    """The value of a score for a caller that accepts only numbers: ``unscored`` if the score has none.

    If that is ``None`` too, raises ``UsageError`` that begins with ``where`` and names the caller's ``option``.
    """
    value = unscored if score.value is None else score.value
    if value is None:
        raise UsageError(
            f"{where}: {score.name} is unscored ({score.status}: {score.explanation}), which {caller} cannot express; "
            f"fix the data or the verifier, or set a reward for such completions ({option})"
        )
    return float(value)


def refuse(task: Task, caller: str, needs: tuple[Need, ...] = get_args(Need)) -> None:
    """For a caller that does not play episodes, passes one completion of a group at a time, or not the training step.

    Raises ``UsageError`` if the task needs one of these.
    """
    if "episodes" in needs and task.spec.environment is not None:
        why = f"it has an environment, whose episodes are not played by {caller}; TRL and verifiers do"
    elif "groups" in needs and task.scores_groups:
        why = f"a verifier compares the completions of a group, but {caller} passes one at a time"
    elif "steps" in needs and task.verifier.at(0) != task.verifier.at(2**53):
        why = f"weights follow a schedule, but {caller} does not pass the step; use constant weights"
    else:
        return
    raise UsageError(f"task {task.name}: {why}")
