"""verl 0.9: ``compute_score`` for ``reward.custom_reward_function``, its batch form, and the data set.

The calls are those of ``experimental/reward_loop`` and ``workers/reward_manager``. The task is the one named in
``reward_kwargs``, or else by the row's ``data_source``. Gold answers are packed examples (``rows``) or plain text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, repeat
from pathlib import Path
from typing import Any

from grpo_env.core import Example, Score
from grpo_env.errors import UsageError
from grpo_env.integrations.examples import Unpacker, prompt_to_send
from grpo_env.rows.formats.packed_example import is_packed, pack
from grpo_env.scoring.columns import as_text
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task, load_task

from .scoring import (
    Pair,
    make_completion,
    refuse_environments,
    refuse_groups,
    refuse_schedules,
    score_pairs,
    value_or,
)

Row = tuple[str, str, Any, Mapping[str, Any] | None]  # task, completion, gold answer, extra_info


class TaskScorer:
    """Scores verl's rows by a task. Raises ``UsageError`` for a task with an environment, or a schedule of weights."""

    def __init__(self, task: Task) -> None:
        refuse_environments(task, "verl")
        refuse_schedules(task, "verl")
        self.task, self._unpack = task, Unpacker(task)

    def __call__(self, rows: Sequence[Row], unscored: float | None) -> list[dict[str, float]]:
        """verl's dictionaries: ``score``, the metric as ``acc``, and the parts, NaN where they have no value."""
        scores = score_pairs(self.task, [self._pair(index, *row) for index, row in enumerate(rows)])
        return [self._reply(index, score, unscored) for index, score in enumerate(scores)]

    def _pair(self, index: int, _: str, text: str, gold: Any, extra: Mapping[str, Any] | None) -> Pair:
        completion = make_completion(self.task, text)
        if is_packed(gold):
            return self._unpack(gold, f"row {index}"), completion
        return Example("", answer=as_text(gold), info=extra or {}), completion

    def _reply(self, index: int, score: Score, unscored: float | None) -> dict[str, float]:
        reward = value_or(unscored, score, f"row {index}", "verl", "custom_reward_function.reward_kwargs.unscored")
        parts = {f"parts/{name}": score.part(name).value for name in self.task.spec.verifiers}
        values = {"score": reward, "acc": score.part(self.task.metric).value, **parts}
        return {key: math.nan if value is None else float(value) for key, value in values.items()}


@lru_cache
def _scorer(task: str) -> TaskScorer:
    return TaskScorer(load_task(task))


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    task: str | None = None,
    unscored: float | None = None,
    **_: Any,
) -> dict[str, float]:
    """The reward of one completion. Safe for threads.

    verl cannot express a completion without a reward: NaN would reach the weights. Such a completion raises
    ``UsageError``, which ends the run, unless ``unscored`` (in ``reward_kwargs``) is a reward to give instead. Also
    raises ``UsageError`` for a task that compares the completions of a group, since verl passes one at a time.
    """
    scorer = _scorer(task or data_source)
    refuse_groups(scorer.task, "verl's compute_score")
    return scorer([(task or data_source, solution_str, ground_truth, extra_info)], unscored)[0]


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    task: str | None = None,
    unscored: float | None = None,
    **_: Any,
) -> list[dict[str, float]]:
    """``compute_score`` for verl's ``BatchRewardManager``. Adjacent rows with the same packed example are a group."""
    names = list(data_sources) if task is None else [task] * len(solution_strs)
    extras = repeat(None, len(names)) if extra_infos is None else extra_infos
    rows: Iterator[Row] = zip(names, solution_strs, ground_truths, extras, strict=True)
    by_task = groupby(rows, lambda row: row[0])
    return [reply for name, task_rows in by_task for reply in _scorer(name)(list(task_rows), unscored)]


def rows(task: Task, split: Split) -> Iterator[dict[str, Any]]:
    """A split as verl reads it. Raises ``UsageError`` for text prompts, since verl applies a chat template.

    Also for a task with an environment.
    """
    refuse_environments(task, "verl")
    for index, example in enumerate(task.examples(split)):
        if isinstance(example.prompt, str):
            raise UsageError(f"{task.source}: prompt.text: verl's data sets contain chats; use prompt.user")
        yield {
            "data_source": task.name,
            "prompt": prompt_to_send(task, example),
            "ability": task.name,
            "reward_model": {"style": "rule", "ground_truth": pack(example)},
            "extra_info": {"split": split, "index": index, "id": example.id},
        }


def write(task: Task, split: Split, path: str | Path) -> None:
    """Write a split as Parquet for ``data.train_files``."""
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows(task, split))), path)
