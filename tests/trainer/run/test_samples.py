"""The files of a run's samples."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet
import torch

from grpo_env.core import Score
from grpo_env.taskfile.task import Task, load_task
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.run.folder import RunFiles
from grpo_env.trainer.run.samples import SampleFiles
from grpo_env.trainer.shared_types import ScoredRollout

CHAT = {"dataset.limit": {"train": 2, "eval": 2}}


def scored(task: Task) -> list[ScoredRollout]:
    example = task.examples("train")[0]
    score = Score(1.0, name="total", parts=(Score(1.0, name="accuracy"),))
    return [
        ScoredRollout(example, Rollout([1], [2, 3], "x", "stop", [0.0, 0.0]), score, 1.0, task.name, "accuracy")
    ] * 2


def test_steps_of_a_mixture_have_the_same_columns_whatever_tasks_they_sample(tmp_path: Path) -> None:
    """So the viewer can join them: one task has chats, the other prompts that are text."""
    chat = load_task("arithmetic", CHAT)
    plain = load_task("letter_counting", {**CHAT, "prompt": {"text": "{{ word }}?"}})
    files = SampleFiles(RunFiles(tmp_path), [chat, plain], 2)
    for step, task in enumerate((chat, plain)):
        files.write(step, scored(task), torch.zeros(2, 2))
    first, second = (pyarrow.parquet.read_table(path) for path in RunFiles(tmp_path).sample_files())
    assert first.schema == second.schema
    assert first.to_pylist()[0]["prompt"].startswith('[{"role": ')
    assert first.to_pylist()[0]["prompt_recorded"] is True
    assert second.to_pylist()[0]["prompt"] == plain.examples("train")[0].prompt
