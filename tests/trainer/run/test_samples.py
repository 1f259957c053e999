"""The files of a run's samples."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import torch

from grpo_env.core import Score
from grpo_env.taskfile.task import Task, load_task
from grpo_env.trainer import loop
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.run.folder import RunFiles
from grpo_env.trainer.run.samples import SampleFiles
from grpo_env.trainer.shared_types import ScoredRollout

from ..shortcuts import read_samples

CHAT = {"dataset.limit": {"train": 2, "eval": 2}}


def decode(ids: Sequence[int]) -> str:
    return "x" * len(ids)


def scored(task: Task) -> list[ScoredRollout]:
    example = task.examples("train")[0]
    score = Score(1.0, name="total", parts=(Score(1.0, name="accuracy"),))
    return [ScoredRollout(example, Rollout([1], [2, 3], "x", "stop", [0.0, 0.0]), score, 1.0, task.name)] * 2


def test_steps_of_a_mixture_have_the_same_columns_whatever_tasks_they_sample(tmp_path: Path) -> None:
    """So the viewer can join them: one task has chats, the other prompts that are text."""
    chat = load_task("arithmetic", CHAT)
    plain = load_task("letter_counting", {**CHAT, "prompt": {"text": "{{ word }}?"}})
    files = SampleFiles(RunFiles(tmp_path), [chat, plain], 2, decode)
    for step, task in enumerate((chat, plain)):
        files.write(step, scored(task), torch.zeros(2, 2))
    first, second = (pyarrow.parquet.read_table(path) for path in RunFiles(tmp_path).sample_files().values())
    assert first.schema == second.schema
    assert first.to_pylist()[0]["prompt"].startswith('[{"role": ')
    assert first.to_pylist()[0]["prompt_recorded"] is True
    assert second.to_pylist()[0]["prompt"] == plain.examples("train")[0].prompt


@pytest.mark.parametrize("supervision", ["outcome", "process"])
def test_a_file_says_which_token_got_which_advantage(
    make_task, policy: Policy, tmp_path: Path, supervision: str
) -> None:
    """The advantages, computed again from nothing but a file's rewards, steps and ends of tokens."""
    loop.train(make_task(supervision=supervision, steps=2), run_dir=tmp_path / "run")
    rows = read_samples(tmp_path / "run")
    for start in range(0, len(rows), 4):
        group = rows[start : start + 4]
        steps = [steps_of(row, supervision) for row in group]
        rewards = [reward for of_row in steps for _, reward in of_row]
        mean, spread = statistics.mean(rewards), statistics.stdev(rewards)
        for row, of_row in zip(group, steps, strict=True):
            expected = [
                sum((reward - mean) / spread for last, reward in of_row if last >= token) if spread else 0.0
                for token in range(row["num_tokens"])
            ]
            assert by_token(row) == pytest.approx(expected, abs=1e-5)
            assert policy.decode(row["token_ids"]) == row["text"]
            pieces = [row["text"][first:last] for first, last in pairwise([0, *row["token_ends"]])]
            assert "".join(pieces) == row["text"]
            assert len(pieces) == len(row["token_ids"]) == row["num_tokens"]
    assert any(row["token_advantages"] for row in rows) == (supervision == "process")


def steps_of(row: dict[str, Any], supervision: str) -> list[tuple[int, float]]:
    """The steps of a row: the index of the token that ends it, and the reward."""
    last, ends = row["num_tokens"] - 1, row["token_ends"]
    if supervision == "outcome":
        return [(last, row["total"])]
    steps = row["steps"] or [{"end": ends[-1], "value": row["total"]}]
    return [
        (last if step["end"] >= ends[-1] else sum(end < step["end"] for end in ends), step["value"]) for step in steps
    ]


def by_token(row: dict[str, Any]) -> list[float]:
    return row["token_advantages"] or [row["advantage"]] * row["num_tokens"]
