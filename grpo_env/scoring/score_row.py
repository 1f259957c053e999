"""A scored completion as a row of the output; the keys are in docs/scoring.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from grpo_env.core import Score
from grpo_env.taskfile.task import Task

from .scorer import Scored


class Advantage(NamedTuple):
    """What GRPO would reinforce: the completion as a whole, and each of its steps."""

    outcome: float | None
    steps: list[float]


def output_row(
    task: Task,
    result: Scored,
    index: int,
    *,
    text: bool = True,
    file: str | None = None,
    advantage: Advantage | None = None,
) -> dict[str, Any]:
    """The output for the ``index``-th completion of a row.

    ``text`` False leaves prompt and text out, ``file`` tells the input apart from others.
    """
    score, completion = result.scores[index], result.row.completions[index]
    row: dict[str, Any] = {
        "id": result.id,
        "line": result.line,
        "completion": result.row.first + index,
        "group": result.group,
        "task": task.name,
        "metric": task.metric,
    }
    if file is not None:
        row |= {"file": file, "group": f"{file}:{result.group}"}
    if text:
        prompt = result.row.example.prompt
        row["prompt"] = [message._asdict() for message in prompt] if isinstance(prompt, tuple) else prompt
        row["prompt"] = row["prompt"] or None
        row["text"] = completion.text
        if result.row.reasonings[index] is not None:
            row["reasoning_content"] = result.row.reasonings[index]
    row |= {
        "finish_reason": completion.finish,
        "num_tokens": completion.num_tokens,
        "total": score.value,
        "status": score.status,
        "explanation": score.explanation,
        "parts": {part.name: _part(part) for part in score.parts},
        "steps": [vars(step) for step in score.steps],
        "seconds": round(score.seconds, 6),
    }
    if result.labels[index] is not None:
        row["label"] = result.labels[index]
    if advantage is not None:
        row |= {"advantage": advantage.outcome, "step_advantages": advantage.steps}
    return row


def _part(score: Score) -> dict[str, Any]:
    part: dict[str, Any] = {
        "value": score.value,
        "weight": score.weight,
        "weighted": None if score.value is None else score.weight * score.value,
        "process": score.process,
        "status": score.status,
        "answer": score.answer,
        "gold": score.gold,
        "explanation": score.explanation,
    }
    if score.steps:
        part["steps"] = [vars(step) for step in score.steps]
    if score.parts:
        part["parts"] = {inner.name: _part(inner) for inner in score.parts}
    return part


def advantages(scores: Sequence[Score]) -> list[Advantage]:
    """The advantages of a group's completions, by the trainer's functions at their defaults; unscored ones have none.

    A step's advantage is that of the token which ends it: the sum of the normalised rewards of this and later steps.
    """
    import torch

    from grpo_env.trainer.advantages import outcome_advantages, process_advantages

    size, most = len(scores), max(1, *(len(score.steps) for score in scores))
    scored = torch.tensor([score.scored for score in scores])
    rewards = torch.tensor([score.value or 0.0 for score in scores], dtype=torch.float64)
    rows = [[step.value for step in score.steps] + [0.0] * (most - len(score.steps)) for score in scores]
    places = torch.arange(most).expand(size, most)
    mask = places < torch.tensor([len(score.steps) for score in scores])[:, None]
    steps = process_advantages(torch.tensor(rows, dtype=torch.float64), places, mask, scored, size, most).tolist()
    outcome = outcome_advantages(rewards, scored, size).tolist()
    return [
        Advantage(mine, paid[: len(score.steps)]) if score.scored else Advantage(None, [])
        for score, mine, paid in zip(scores, outcome, steps, strict=True)
    ]
