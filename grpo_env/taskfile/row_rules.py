"""What a row decides about a part of the reward: whether it counts there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

from grpo_env.core import Example, Format

from .templates import is_true


@dataclass(frozen=True)
class RowCondition:
    """Whether a template over an example's columns is true. Raises ``UsageError``; ``where`` begins its messages."""

    template: str
    format: Format
    where: str

    def __call__(self, example: Example) -> bool:
        return is_true(self.template, example.info, self.format, self.where)


def is_template(value: object) -> TypeGuard[str]:
    """Whether a value of a task file is a template of the row."""
    return isinstance(value, str) and ("{{" in value or "{%" in value)
