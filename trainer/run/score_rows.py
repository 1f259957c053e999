"""Scored rollouts as the rows that ``grpo_env score`` writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grpo_env.rows.writer import new_rows
from grpo_env.scoring import RowResult, score_row
from grpo_env.scoring.row_reader import InputRow
from grpo_env.taskfile.task import Task

from ..shared_types import ScoredRollout


def write_scores(
    out: Path,
    task: Task,
    rollouts: Sequence[ScoredRollout],
    samples: int,
    *,
    overwrite: bool = False,
    report: Callable[[str], None],
) -> None:
    """Write the scores of ``samples`` adjacent rollouts of each example. Raises as ``new_rows`` does.

    A score that JSON cannot represent, of a user's verifier, is left out, and ``report`` is called with a line about
    it.
    """
    with new_rows(out, overwrite=overwrite) as write:
        for row in score_rows({task.name: task}, rollouts, samples):
            try:
                write(row)
            except (TypeError, ValueError) as error:
                report(
                    f"{out}: example {row['id']}, completion {row['completion']} is left out: its score cannot be "
                    f"written as JSON ({error})"
                )


def score_rows(
    tasks: Mapping[str, Task], rollouts: Sequence[ScoredRollout], group_size: int
) -> Iterator[dict[str, Any]]:
    """The score row of each rollout. A group is ``group_size`` adjacent rollouts; its line is its number, from 1."""
    for line, start in enumerate(range(0, len(rollouts), group_size), start=1):
        group = rollouts[start : start + group_size]
        task, example = tasks[group[0].task], group[0].example
        completions = tuple(scored.rollout.completion(task.format.prefill) for scored in group)
        nothing = (None,) * len(group)
        tools = example.chat_template_kwargs.get("tools") if any(seen.turns for seen in completions) else None
        row = InputRow(
            line, example.id, None, example, completions, nothing, nothing, tools=tools, prompt_recorded=True
        )
        result = RowResult(row, tuple(scored.score for scored in group))
        for index in range(len(group)):
            yield score_row(task, result, index)
