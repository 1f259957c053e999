"""TRL 1.16: a task as reward functions for ``GRPOTrainer``, and its examples as a data set.

The calls are those of ``trainer/grpo_trainer.py`` (``_calculate_rewards``). For ``trl grpo --reward_funcs``, every task
that can be found by name is an attribute of this module: ``grpo_env.integrations.trl.gsm8k``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from grpo_env.core import Example, Message, Score
from grpo_env.errors import UsageError
from grpo_env.integrations.examples import Unpacker, prompt_to_send
from grpo_env.rows.formats.packed_example import COLUMN, pack
from grpo_env.rows.formats.trl import EPISODE
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task, find_task_file, load_task

from .scoring import Pair, make_completion, recorded_episode, score_pairs
from .trl_environment import completion_of, environment_factory

__all__ = ["RewardFunc", "environment_factory", "reward_funcs", "to_dataset"]

LogExtra = Callable[[str, list[str]], None]
LogMetric = Callable[[str, float], None]


class BatchScorer:
    """Scores batches by a task. Keeps the last scores, since all reward functions of a task get the same batch."""

    def __init__(self, task: Task) -> None:
        self.task, self._unpack = task, Unpacker(task)
        self._lock = Lock()
        self._last: tuple[int, list[Pair], list[Score]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchScorer, (self.task,)

    def __call__(self, pairs: list[Pair], step: int) -> list[Score]:
        """A score for each pair, with the task's weights at a training step."""
        with self._lock:
            if self._last is None or self._last[:2] != (step, pairs):
                self._last = step, pairs, score_pairs(self.task, pairs, step)
            return self._last[2]

    def pairs(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        ids: Sequence[Any],
        columns: Mapping[str, Any],
        environments: Sequence[Any] | None = None,
    ) -> list[Pair]:
        """Examples and completions. Raises ``UsageError`` for rows that lack a column of the task's templates."""
        if self.task.spec.environment is not None and environments is None:
            environments = [None] * len(completions)
        pairs: list[Pair] = []
        for index, (content, tokens) in enumerate(zip(completions, ids, strict=True)):
            where = f"task {self.task.name}, completion {index}"
            if COLUMN in columns:
                example = self._unpack(columns[COLUMN][index], where)
            else:
                row = {"prompt": prompts[index], **{key: values[index] for key, values in columns.items()}}
                example = pairs[-1][0] if pairs and pairs[-1][0].info == row else self._example(row, where)
            if environments is None:
                pairs.append((example, make_completion(self.task, content, tokens)))
            else:  # TRL's tokens are also those of the results
                pairs.append((example, completion_of(self.task, environments[index], content)))
        return pairs

    def _example(self, row: Mapping[str, Any], where: str) -> Example:
        prompt = row["prompt"]
        if not isinstance(prompt, str):
            prompt = tuple(Message(message["role"], message["content"]) for message in prompt)
        return Example("", prompt, self.task.answer(row, where), row)


class RewardFunc:
    """A task's reward, or one part of it, as a reward function. Picklable, safe for threads.

    ``weight`` is its entry in ``reward_weights``: 1 for the reward, 0 for a part, which is only logged.
    """

    def __init__(self, scorer: BatchScorer, part: str | None = None) -> None:
        self._scorer, self._part = scorer, part
        self.weight = 1.0 if part is None else 0.0
        self.__name__ = scorer.task.name if part is None else f"{scorer.task.name}/{part}"

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

        Adjacent completions of one row are a group, as far as they are in this batch. Schedules follow the trainer's
        step.
        """
        ids: Sequence[Any] = completion_ids or [None] * len(completions)
        has_turns = self._scorer.task.spec.environment is not None
        pairs = self._scorer.pairs(prompts, completions, ids, columns, environments if has_turns else None)
        scores = self._scorer(pairs, 0 if trainer_state is None else trainer_state.global_step)
        if self._part is not None:
            # TRL sums the values that are not None: 0 x a part's value would turn a missing reward into 0.
            return [score.part(self._part).value if score.scored else None for score in scores]
        if log_extra:
            self._log_extra(log_extra, pairs, scores)
        if log_metric:
            self._log_metric(log_metric, scores)
        return [score.value for score in scores]

    def _log_extra(self, log: LogExtra, pairs: Sequence[Pair], scores: Sequence[Score]) -> None:
        steps = [[[step.start, step.end, step.value] for step in score.steps] for score in scores]
        log(COLUMN, [pack(example) for example, _ in pairs])
        if self._scorer.task.spec.environment is not None:
            log(EPISODE, [json.dumps(recorded_episode(completion)) for _, completion in pairs])
        log(f"{self.__name__}/why", [str(score) for score in scores])
        log(f"{self.__name__}/steps", [json.dumps(completion_steps) for completion_steps in steps])

    def _log_metric(self, log: LogMetric, scores: Sequence[Score]) -> None:
        name = self._scorer.task.metric
        values = [value for score in scores if (value := score.part(name).value) is not None]
        if values:
            log(f"{self.__name__}/metric/{name}", sum(values) / len(values))
        log(f"{self.__name__}/unscored", sum(not score.scored for score in scores) / max(1, len(scores)))


def reward_funcs(task: Task) -> list[RewardFunc]:
    """The reward, named after the task, then each of its parts (``task/part``), in the order of the task file.

    The parts are only logged: give the trainer ``reward_weights=[func.weight for func in funcs]``, since its default
    would add them to the reward. A batch is scored once for all functions.
    """
    scorer = BatchScorer(task)
    return [RewardFunc(scorer), *(RewardFunc(scorer, part) for part in task.spec.verifiers)]


def to_dataset(task: Task, split: Split) -> Any:
    """A split as a ``datasets.Dataset`` with the columns ``prompt`` (chat or text) and ``grpo_env`` (the example)."""
    from datasets import Dataset

    examples = task.examples(split)
    rows = [{"prompt": prompt_to_send(task, example), COLUMN: pack(example)} for example in examples]
    return Dataset.from_list(rows)


def __getattr__(name: str) -> RewardFunc:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        file = find_task_file(name)
    except UsageError as error:
        raise AttributeError(str(error)) from error
    return RewardFunc(BatchScorer(load_task(file)))
