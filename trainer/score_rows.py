"""Scored rollouts as the rows that ``grpo_env score`` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grpo_env.files.writer import new_rows
from grpo_env.scoring import RowResult, score_row
from grpo_env.scoring.reader import InputRow
from grpo_env.taskfile.task import Task

from .rollout import ScoredRollout


def write_scores(
    out: Path, task: Task, rollouts: Sequence[ScoredRollout], samples: int, *, overwrite: bool = False
) -> None:
    """Write the scores of ``samples`` adjacent rollouts of each example. Raises as ``new_rows`` does."""
    with new_rows(out, overwrite=overwrite) as write:
        for line, start in enumerate(range(0, len(rollouts), samples), start=1):
            group = rollouts[start : start + samples]
            completions = tuple(scored.rollout.completion(task.format.prefill) for scored in group)
            nothing = (None,) * len(group)
            row = InputRow(line, group[0].example.id, None, group[0].example, completions, nothing, nothing)
            result = RowResult(row, str(line), tuple(scored.score for scored in group))
            for index in range(len(group)):
                write(score_row(task, result, index))
