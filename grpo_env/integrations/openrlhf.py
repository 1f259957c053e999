"""OpenRLHF 0.11: a task as ``reward_func(queries, prompts, labels)`` for ``--reward.remote_url``, and its data set.

OpenRLHF (``openrlhf/utils/agent.py``, ``SingleTurnAgentExecutor``) loads a file by its path and calls its function from
threads, with one sample and by position. Labels are packed examples (``rows``) or plain gold answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from unicodedata import normalize

from grpo_env.core import Example, Finish, Score
from grpo_env.errors import UsageError
from grpo_env.integrations.examples import Unpacker, prompt_to_send
from grpo_env.rows.formats.packed_example import pack
from grpo_env.rows.jsonl import dump_record
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from .scoring import Pair, make_completion, part_values, refuse, score_pairs, value_or

# <|im_end|>, <|endoftext|>, <|eot_id|>; DeepSeek's, with fullwidth bars (U+FF5C); those of Llama 2, Mistral and Gemma.
_END_TOKEN = re.compile(r"(?:<\|\w{1,40}\|>|<\uff5c[^<>\uff5c]{1,40}\uff5c>|</s>|<eos>|<end_of_turn>|<turn\|>)\Z")
_MAX_END_TOKEN = 44


class RewardFunc:
    """A task as ``reward_func(queries, prompts, labels)``. Safe for threads.

    OpenRLHF cannot express a completion without a reward: NaN would reach the weights. Such a completion raises
    ``UsageError``, which OpenRLHF logs before it stops because of the missing reward, unless ``unscored`` is a reward
    to give instead. Raises ``UsageError`` for a task that compares the completions of a group or whose weights follow
    a schedule: OpenRLHF passes neither the group nor the step. Also for a task with an environment.
    """

    def __init__(self, task: Task, unscored: float | None = None) -> None:
        refuse(task, "OpenRLHF")
        self.task, self.unscored, self._unpack = task, unscored, Unpacker(task)

    def __call__(
        self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any
    ) -> dict[str, Any]:
        """OpenRLHF's dictionary, with tensors of shape (number of queries,)."""
        import torch

        reply = self.reply(score_pairs(self.task, self.read(queries, prompts, labels)))
        logs = {name: torch.tensor(values) for name, values in reply["extra_logs"].items()}
        return {"rewards": torch.tensor(reply["rewards"]), "scores": torch.tensor(reply["scores"]), "extra_logs": logs}

    def read(self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> list[Pair]:
        """Examples and completions. Raises ``UsageError`` for a row whose query does not begin with its prompt."""
        if not len(queries) == len(prompts) == len(labels):
            raise UsageError(f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels")
        rows = zip(queries, prompts, labels, strict=True)
        return [self._pair(f"row {index}", *row) for index, row in enumerate(rows)]

    def reply(self, scores: Sequence[Score]) -> dict[str, Any]:
        """OpenRLHF's dictionary as lists: ``rewards``, ``scores`` (the metric clipped to [0, 1]) and ``extra_logs``.

        The logs are the parts. An unscored part of a scored completion is NaN, since every sample must have every key.
        Raises ``UsageError`` for an unscored completion if ``unscored`` is ``None``.
        """
        rewards = self._values(scores)
        metrics = self._values([score.part(self.task.metric) for score in scores])
        names = [f"parts/{name}" for name in self.task.spec.verifiers]
        parts = [part_values(self.task, score) for score in scores]
        return {
            "rewards": rewards,
            "scores": [min(max(metric, 0.0), 1.0) for metric in metrics],
            "extra_logs": {name: [values[name] for values in parts] for name in names},
        }

    def _values(self, scores: Sequence[Score]) -> list[float]:
        option = "RewardFunc's unscored; in the URL of a server, &unscored=0"
        return [value_or(self.unscored, score, f"row {row}", "OpenRLHF", option) for row, score in enumerate(scores)]

    def _pair(self, where: str, query: str, prompt: str, label: Any) -> Pair:
        text = _after_prompt(query, prompt)
        if text is None:
            raise UsageError(
                f"{where}: the query does not begin with its prompt; is the prompt longer than --data.max_len allows?"
            )
        text, finish = _without_end_tokens(text)
        return self._unpack.of_gold(label, where, Example("", prompt)), make_completion(self.task, text, finish=finish)


def rows(task: Task, split: Split) -> Iterator[dict[str, Any]]:
    """A split as OpenRLHF reads it, with ``--data.input_key prompt --data.label_key label``.

    Chat prompts need ``--data.apply_chat_template``. Raises ``UsageError`` for a task with an environment.
    """
    refuse(task, "OpenRLHF", ("episodes",))
    for example in task.examples(split):
        yield {"prompt": prompt_to_send(task, example), "label": pack(example)}


def write(task: Task, split: Split, path: str | Path) -> None:
    """Write a split as JSON lines for ``--data.prompt_dataset``."""
    lines = map(dump_record, rows(task, split))
    Path(path).write_text("".join(lines), encoding="utf-8")


def _after_prompt(query: str, prompt: str) -> str | None:
    """The query after its prompt; ``None`` if it does not begin with it.

    Encoding and decoding may compose characters (Qwen's tokenizer) and change white space (clean-up, Llama 2).
    """
    if query.startswith(prompt):
        return query[len(prompt) :]
    for text in (prompt, normalize("NFC", prompt)):
        characters = "".join(text.split())
        matches = islice(re.finditer(r"\S", query), len(characters) - 1, None)
        end = next((match.end() for match in matches), 0)
        if characters and "".join(query[:end].split()) == characters:
            return query[end:].removeprefix(text[len(text.rstrip()) :])
    return None


def _without_end_tokens(text: str) -> tuple[str, Finish]:
    """The text without the special tokens at its end, which stopped the sampler and are not part of the answer."""
    end = len(text)
    while match := _END_TOKEN.search(text, max(0, end - _MAX_END_TOKEN), end):
        end = match.start()
    return text[:end], "stop" if end < len(text) else "unknown"
