"""verl 0.9: ``compute_score`` for ``reward.custom_reward_function``, its batch form, and the data set to train on.

Read from ``experimental/reward_loop`` and ``workers/reward_manager``. The task is the one that ``reward_kwargs`` names,
else the row's ``data_source``. Golds are packed examples (``rows``) or plain answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, repeat
from pathlib import Path
from typing import Any

from grpo_env.core import Completion, Example, Score
from grpo_env.errors import UsageError
from grpo_env.formats.packed_example import Unpacker, is_packed, pack, prompt_to_send
from grpo_env.scoring.columns import as_text
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task, load_task

from .scoring import Pair, completion, number, refuse_groups, refuse_schedules, verdicts

Asked = tuple[str, str, Any, Mapping[str, Any] | None]  # task, completion, gold, extra_info


class Judge:
    """A task's verdicts for verl. Raises ``UsageError`` for a task whose reward changes over training."""

    def __init__(self, task: Task) -> None:
        refuse_schedules(task, "verl")
        self.task, self._unpack = task, Unpacker(task)

    def __call__(self, asked: Sequence[Asked], unscored: float | None) -> list[dict[str, float]]:
        """verl's dictionaries: ``score``, the metric as ``acc``, and the parts, NaN where there is no number."""
        scores = verdicts(self.task, [self._pair(row, *one) for row, one in enumerate(asked)])
        return [self._reply(row, score, unscored) for row, score in enumerate(scores)]

    def _pair(self, row: int, _: str, text: str, gold: Any, extra: Mapping[str, Any] | None) -> Pair:
        said: Completion = completion(self.task, text)
        if is_packed(gold):
            return self._unpack(gold, f"row {row}"), said
        return Example("", answer=as_text(gold), info=extra or {}), said

    def _reply(self, row: int, score: Score, unscored: float | None) -> dict[str, float]:
        value = number(score, unscored, f"row {row}", "verl", "custom_reward_function.reward_kwargs.unscored")
        parts = {f"parts/{name}": score.part(name).value for name in self.task.spec.verifiers}
        found = {"score": value, "acc": score.part(self.task.metric).value, **parts}
        return {key: math.nan if number is None else float(number) for key, number in found.items()}


@lru_cache
def _judge(task: str) -> Judge:
    return Judge(load_task(task))


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

    verl knows no completion without a reward: NaN would reach the weights. Such a completion raises ``UsageError``,
    which ends the run, unless ``unscored`` (of ``reward_kwargs``) is the reward to give instead. Raises
    ``UsageError`` too for a task that compares the completions of a group: they come one at a time.
    """
    judge = _judge(task or data_source)
    refuse_groups(judge.task, "verl's compute_score")
    return judge([(task or data_source, solution_str, ground_truth, extra_info)], unscored)[0]


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    task: str | None = None,
    unscored: float | None = None,
    **_: Any,
) -> list[dict[str, float]]:
    """``compute_score`` of a batch, for verl's ``BatchRewardManager``. Neighbours of one packed example are a group."""
    names = list(data_sources) if task is None else [task] * len(solution_strs)
    extras = repeat(None, len(names)) if extra_infos is None else extra_infos
    asked: Iterator[Asked] = zip(names, solution_strs, ground_truths, extras, strict=True)
    return [reply for name, rows in groupby(asked, lambda row: row[0]) for reply in _judge(name)(list(rows), unscored)]


def rows(task: Task, split: Split) -> Iterator[dict[str, Any]]:
    """A split as verl reads it. Raises ``UsageError`` for prompts that are text: verl applies a chat template."""
    for index, example in enumerate(task.examples(split)):
        if isinstance(example.prompt, str):
            raise UsageError(f"{task.source}: prompt.text: verl's data sets hold chats; give prompt.user")
        yield {
            "data_source": task.name,
            "prompt": prompt_to_send(task, example),
            "ability": task.name,
            "reward_model": {"style": "rule", "ground_truth": pack(example)},
            "extra_info": {"split": split, "index": index, "id": example.id},
        }


def write(task: Task, split: Split, path: str | Path) -> None:
    """Write a split as Parquet: ``data.train_files``."""
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows(task, split))), path)
