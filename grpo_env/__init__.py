"""Verifiers, tasks and a trainer for GRPO.

task = grpo_env.load_task("gsm8k")
print(task.score("...completion...", answer="18"))
grpo_env.train("arithmetic", steps=20)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from grpo_env.core import (
    BatchVerifier,
    Case,
    Completion,
    Example,
    Format,
    Group,
    GroupVerifier,
    Message,
    Score,
    StepScore,
    Verifier,
    score_groups,
)
from grpo_env.registry import verifier

if TYPE_CHECKING:
    from grpo_env.taskfile.task import Task, load_task
    from grpo_env.trainer.loop import train
    from grpo_env.verifiers.answers.extract import final_answer

__version__ = "0.2.0"

__all__ = [
    "BatchVerifier",
    "Case",
    "Completion",
    "Example",
    "Format",
    "Group",
    "GroupVerifier",
    "Message",
    "Score",
    "StepScore",
    "Task",
    "Verifier",
    "final_answer",
    "load_task",
    "score_groups",
    "train",
    "verifier",
]

# Loaded on first use, so that `import grpo_env` needs neither torch nor pydantic.
_LAZY = {
    "Task": "grpo_env.taskfile.task",
    "final_answer": "grpo_env.verifiers.answers.extract",
    "load_task": "grpo_env.taskfile.task",
    "train": "grpo_env.trainer.loop",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'grpo_env' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", *__all__]
