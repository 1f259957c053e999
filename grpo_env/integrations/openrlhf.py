"""OpenRLHF 0.11: ``reward_func(queries, prompts, labels)`` for ``--reward.remote_url``, and what its HTTP form shares.

Read from ``openrlhf/utils/agent.py`` (``SingleTurnAgentExecutor``): each call is one sample, made from a thread, by
position. Labels are packed examples (``rows``) or plain gold answers.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from unicodedata import normalize

from grpo_env.core import Example, Finish, Score
from grpo_env.errors import UsageError
from grpo_env.files.jsonl import dump_record
from grpo_env.formats.packed_example import Unpacker, is_packed, pack, prompt_to_send
from grpo_env.scoring.columns import as_text
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task, load_task

from .scoring import Pair, completion, number, refuse_groups, refuse_schedules, verdicts

TASK = "GRPO_ENV_TASK"
"""The environment variable that names the task of this file's own ``reward_func``."""

# What such tokens look like: <|im_end|>, <|endoftext|>, <|eot_id|>; DeepSeek's, with fullwidth bars (U+FF5C); those of
# Llama 2 and Mistral, and of Gemma.
_END = re.compile(r"(?:<\|\w{1,40}\|>|<\uff5c[^<>\uff5c]{1,40}\uff5c>|</s>|<eos>|<end_of_turn>|<turn\|>)\Z")
_LONGEST_END = 44


class RewardFunc:
    """A task as ``reward_func(queries, prompts, labels)``. Safe for threads.

    OpenRLHF knows no completion without a reward: NaN would reach the weights. A call that has one raises
    ``UsageError``, which OpenRLHF logs before it stops for the missing reward; ``unscored`` is the reward to give
    instead, if you must. The task may not compare the completions of a group, nor change over training: neither the
    group nor the step arrives here. Raises ``UsageError`` for such a task.
    """

    def __init__(self, task: Task, unscored: float | None = None) -> None:
        refuse_groups(task, "OpenRLHF")
        refuse_schedules(task, "OpenRLHF")
        self.task, self.unscored, self._unpack = task, unscored, Unpacker(task)

    def __call__(
        self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any
    ) -> dict[str, Any]:
        """OpenRLHF's dictionary, with tensors of shape (number of queries,)."""
        import torch

        found = self.reply(verdicts(self.task, self.read(queries, prompts, labels)))
        logs = {name: torch.tensor(values) for name, values in found["extra_logs"].items()}
        return {"rewards": torch.tensor(found["rewards"]), "scores": torch.tensor(found["scores"]), "extra_logs": logs}

    def read(self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> list[Pair]:
        """What is to be judged. Raises ``UsageError`` naming the row whose query does not begin with its prompt."""
        if not len(queries) == len(prompts) == len(labels):
            raise UsageError(f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels")
        rows = zip(queries, prompts, labels, strict=True)
        return [self._pair(f"row {row}", *asked) for row, asked in enumerate(rows)]

    def reply(self, scores: Sequence[Score]) -> dict[str, Any]:
        """The dictionary in numbers: ``rewards``; the metric in [0, 1] as ``scores``; the parts as ``extra_logs``.

        A part that is unscored where the whole is not has NaN in the logs, as every sample must have every key.
        Raises ``UsageError`` for an unscored completion, unless there is a number for those.
        """
        rewards = self._numbers(scores)
        metrics = self._numbers([score.part(self.task.metric) for score in scores])
        names = self.task.spec.verifiers
        logs = {f"parts/{name}": [score.part(name).value for score in scores] for name in names}
        return {
            "rewards": rewards,
            "scores": [min(max(metric, 0.0), 1.0) for metric in metrics],
            "extra_logs": {
                name: [math.nan if value is None else value for value in values] for name, values in logs.items()
            },
        }

    def _numbers(self, scores: Sequence[Score]) -> list[float]:
        rows = enumerate(scores)
        return [number(score, self.unscored, f"row {row}", "OpenRLHF", "RewardFunc's unscored") for row, score in rows]

    def _pair(self, where: str, query: str, prompt: str, label: Any) -> Pair:
        text = _after(query, prompt)
        if text is None:
            raise UsageError(
                f"{where}: the query does not begin with its prompt; is the prompt longer than --data.max_len allows?"
            )
        text, finish = _ended(text)
        example = self._unpack(label, where) if is_packed(label) else Example("", prompt, as_text(label))
        return example, completion(self.task, text, finish=finish)


def rows(task: Task, split: Split) -> Iterator[dict[str, Any]]:
    """A split as OpenRLHF reads it: ``--data.input_key prompt --data.label_key label``.

    Prompts of messages need ``--data.apply_chat_template``.
    """
    for example in task.examples(split):
        yield {"prompt": prompt_to_send(task, example), "label": pack(example)}


def write(task: Task, split: Split, path: str | Path) -> None:
    """Write a split as JSON lines: ``--data.prompt_dataset``."""
    lines = map(dump_record, rows(task, split))
    Path(path).write_text("".join(lines), encoding="utf-8")


def _after(query: str, prompt: str) -> str | None:
    """The query behind its prompt; ``None`` if it does not begin with it.

    Encoding and decoding may compose characters (Qwen's tokenizer) and change white space (clean-up, Llama 2).
    """
    if query.startswith(prompt):
        return query[len(prompt) :]
    for text in (prompt, normalize("NFC", prompt)):
        wanted = "".join(text.split())
        end = next((found.end() for found in islice(re.finditer(r"\S", query), len(wanted) - 1, None)), 0)
        if wanted and "".join(query[:end].split()) == wanted:
            return query[end:].removeprefix(text[len(text.rstrip()) :])
    return None


def _ended(text: str) -> tuple[str, Finish]:
    """The text without the special tokens at its end, which are the sampler's stop and no part of the answer."""
    end = len(text)
    while found := _END.search(text, max(0, end - _LONGEST_END), end):
        end = found.start()
    return text[:end], "stop" if end < len(text) else "unknown"


def __getattr__(name: str) -> Any:
    # OpenRLHF loads this very file by its path and asks for reward_func: a task that is not there is told then.
    if name != "reward_func":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not os.environ.get(TASK):
        raise UsageError(f"{TASK} is not set: the name or the file of the task to reward by")
    return RewardFunc(load_task(os.environ[TASK]))
