"""TRL 1.16: a task as reward functions of ``GRPOTrainer``, and its examples as a data set.

Read from ``trainer/grpo_trainer.py`` (``_calculate_rewards``). For ``trl grpo --reward_funcs`` every task that can be
found by name is an attribute of this module: ``grpo_env.integrations.trl.gsm8k``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from threading import Lock
from typing import Any

from grpo_env.core import Example, Message, Score
from grpo_env.errors import UsageError
from grpo_env.formats.packed_example import COLUMN, Unpacker, pack, prompt_to_send
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task, find_task_file, load_task

from .scoring import Pair, completion, verdicts

LogExtra = Callable[[str, list[str]], None]
LogMetric = Callable[[str, float], None]


class Judge:
    """A task's verdicts on batches. Keeps the last batch's, as all functions of a task are asked about the same."""

    def __init__(self, task: Task) -> None:
        self.task, self._unpack = task, Unpacker(task)
        self._lock = Lock()
        self._last: tuple[int, list[Pair], list[Score]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Judge, (self.task,)

    def __call__(self, pairs: list[Pair], step: int) -> list[Score]:
        """A score for each pair by the task as it stands at a training step."""
        with self._lock:
            if self._last is None or self._last[:2] != (step, pairs):
                self._last = step, pairs, verdicts(self.task, pairs, step)
            return self._last[2]

    def pairs(
        self, prompts: Sequence[Any], completions: Sequence[Any], ids: Sequence[Any], columns: Mapping[str, Any]
    ) -> list[Pair]:
        """What is to be judged. Raises ``UsageError`` for rows that the task's templates do not fit."""
        pairs: list[Pair] = []
        for place, (said, tokens) in enumerate(zip(completions, ids, strict=True)):
            where = f"task {self.task.name}, completion {place}"
            if COLUMN in columns:
                example = self._unpack(columns[COLUMN][place], where)
            else:
                row = {"prompt": prompts[place], **{key: values[place] for key, values in columns.items()}}
                example = pairs[-1][0] if pairs and pairs[-1][0].info == row else self._example(row, where)
            pairs.append((example, completion(self.task, said, tokens)))
        return pairs

    def _example(self, row: Mapping[str, Any], where: str) -> Example:
        prompt = row["prompt"]
        chat = prompt if isinstance(prompt, str) else tuple(Message(one["role"], one["content"]) for one in prompt)
        return Example("", chat, self.task.answer(row, where), row)


class RewardFunc:
    """A task's reward, or one part of it, as a reward function. Picklable, safe for threads.

    ``weight`` is what it counts in ``reward_weights``: 1 for the reward, 0 for a part, which is there to be watched.
    """

    def __init__(self, judge: Judge, part: str | None = None) -> None:
        self._judge, self._part = judge, part
        self.weight = 1.0 if part is None else 0.0
        self.__name__ = judge.task.name if part is None else f"{judge.task.name}/{part}"

    def __call__(
        self,
        *,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        trainer_state: Any = None,
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        environments: Any = None,
        **columns: Sequence[Any],
    ) -> list[float | None]:
        """A value for each completion, ``None`` for an unscored one.

        Neighbours of one row are a group, as far as they are in this batch. Schedules follow the trainer's step.
        """
        pairs = self._judge.pairs(prompts, completions, completion_ids or list(repeat(None, len(completions))), columns)
        scores = self._judge(pairs, 0 if trainer_state is None else trainer_state.global_step)
        if self._part is not None:
            # TRL adds up what is there: a part's 0 x value beside no reward would make the reward 0.
            return [score.part(self._part).value if score.scored else None for score in scores]
        if log_extra:
            self._log_extra(log_extra, pairs, scores)
        if log_metric:
            self._log_metric(log_metric, scores)
        return [score.value for score in scores]

    def _log_extra(self, log: LogExtra, pairs: Sequence[Pair], scores: Sequence[Score]) -> None:
        steps = [[[step.start, step.end, step.value] for step in score.steps] for score in scores]
        log(COLUMN, [pack(example) for example, _ in pairs])
        log(f"{self.__name__}/why", [str(score) for score in scores])
        log(f"{self.__name__}/steps", [json.dumps(each) for each in steps])

    def _log_metric(self, log: LogMetric, scores: Sequence[Score]) -> None:
        name = self._judge.task.metric
        found = [value for score in scores if (value := score.part(name).value) is not None]
        if found:
            log(f"{self.__name__}/metric/{name}", sum(found) / len(found))
        log(f"{self.__name__}/unscored", sum(not score.scored for score in scores) / max(1, len(scores)))


def reward_funcs(task: Task) -> list[RewardFunc]:
    """The reward, named after the task, then each of its parts in the order of the task file (``task/part``).

    The parts are to be watched: give the trainer ``reward_weights=[func.weight for func in funcs]``.
    """
    judge = Judge(task)
    return [RewardFunc(judge), *(RewardFunc(judge, part) for part in task.spec.verifiers)]


def to_dataset(task: Task, split: Split) -> Any:
    """A split as a ``datasets.Dataset`` with the columns ``prompt`` (chat or text) and ``grpo_env``."""
    from datasets import Dataset

    examples = task.examples(split)
    return Dataset.from_list([{"prompt": prompt_to_send(task, one), COLUMN: pack(one)} for one in examples])


def __getattr__(name: str) -> RewardFunc:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        file = find_task_file(name)
    except UsageError as error:
        raise AttributeError(str(error)) from error
    return RewardFunc(Judge(load_task(file)))
