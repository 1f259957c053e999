"""verl 0.9: a task as ``compute_score`` for ``reward.custom_reward_function``, its batch form, and the data set.

The calls are those of ``experimental/reward_loop`` and ``workers/reward_manager``. Gold answers are packed examples
(``rows``) or plain text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

from grpo_env.core import Example, Score
from grpo_env.integrations.examples import Unpacker, chats
from grpo_env.rows.formats.packed_example import pack
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from .scoring import make_completion, part_values, refuse, score_pairs, value_or


class RewardFunc:
    """A task's reward. Raises ``UsageError`` for a task with an environment, or a schedule of weights."""

    def __init__(self, task: Task) -> None:
        refuse(task, "verl", ("episodes", "steps"))
        self.task, self._unpack = task, Unpacker(task)

    def compute_score(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: Any,
        extra_info: Mapping[str, Any] | None = None,
        unscored: float | None = None,
        **_: Any,
    ) -> dict[str, float]:
        """The reward of one completion: ``score``, the metric as ``acc``, and the parts, NaN where they have no value.

        Safe for threads. verl cannot express a completion without a reward: NaN would reach the weights. Such a
        completion raises ``UsageError``, which ends the run, unless ``unscored`` (in ``reward_kwargs``) is a reward to
        give instead. Also raises ``UsageError`` for a task that compares the completions of a group, since verl passes
        one at a time.
        """
        refuse(self.task, "verl's compute_score", ("groups",))
        return self.compute_scores([data_source], [solution_str], [ground_truth], [extra_info], unscored)[0]

    def compute_scores(
        self,
        data_sources: Sequence[str],
        solution_strs: Sequence[str],
        ground_truths: Sequence[Any],
        extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
        unscored: float | None = None,
        **_: Any,
    ) -> list[dict[str, float]]:
        """``compute_score`` for verl's ``BatchRewardManager``. Adjacent rows with one packed example are a group."""
        extras = repeat(None, len(solution_strs)) if extra_infos is None else extra_infos
        rows = enumerate(zip(solution_strs, ground_truths, extras, strict=True))
        pairs = [
            (
                self._unpack.of_gold(gold, f"row {index}", Example("", info=extra or {})),
                make_completion(self.task, text),
            )
            for index, (text, gold, extra) in rows
        ]
        return [self._reply(index, score, unscored) for index, score in enumerate(score_pairs(self.task, pairs))]

    def _reply(self, index: int, score: Score, unscored: float | None) -> dict[str, float]:
        reward = value_or(unscored, score, f"row {index}", "verl", "custom_reward_function.reward_kwargs.unscored")
        metric = score.part(self.task.metric).value
        return {"score": reward, "acc": math.nan if metric is None else float(metric), **part_values(self.task, score)}


def rows(task: Task, split: Split) -> Iterator[dict[str, Any]]:
    """A split as verl reads it. Raises ``UsageError`` for text prompts and for a task with an environment."""
    for index, (example, prompt) in enumerate(chats(task, split, "verl")):
        yield {
            "data_source": task.name,
            "prompt": prompt,
            "ability": task.name,
            "reward_model": {"style": "rule", "ground_truth": pack(example)},
            "extra_info": {"split": split, "index": index, "id": example.id},
        }


def write(task: Task, split: Split, path: str | Path) -> None:
    """Write a split as Parquet for ``data.train_files``."""
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows(task, split))), path)
