"""The same two hundred completions for every door, with the scores that ``Task.score`` gives them."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from grpo_env import Completion, Example, Score, load_task
from grpo_env.core import judge
from grpo_env.task import Task

GROUP = 8


class Asked(NamedTuple):
    """A completion of an example, and what it is worth."""

    example: Example
    text: str
    score: Score


def texts(example: Example) -> list[str]:
    """Right and wrong, formatted and not, padded with idle steps, cut off, empty and hostile."""
    gold = example.answer
    assert gold is not None
    solution = "<think>\n" + "\n".join(example.info["equations"]) + f"\n</think>\n<answer>\n{gold}\n</answer>"
    return [
        solution,
        solution.replace(f"<answer>\n{gold}", f"<answer>\n{int(gold) + 1}"),
        gold,
        solution.replace("</think>", ""),
        solution[: len(solution) // 2],
        "",
        f"<think>\n1+1=2\n1+1=2\n1+1=3\n</think>\n<answer>\n{gold}.0\n</answer>",
        "<answer>" * 40 + "9" * 5000 + "\x00\u202e\u0660",
    ]


@pytest.fixture(scope="session")
def task() -> Task:
    return load_task("arithmetic", {"dataset.limit": {"train": 25, "eval": 5}, "verifiers.tag_count.weight": 0.05})


@pytest.fixture(scope="session")
def asked(task: Task) -> list[Asked]:
    """Twenty-five groups of eight."""
    rows = [
        Asked(example, text, judge(task.verifier, example, Completion(text, prefill=task.format.prefill)))
        for example in task.examples("train")
        for text in texts(example)
    ]
    assert len(rows) == 200
    assert len({row.score.value for row in rows}) > 4
    return rows
