"""What a row decides about a part of the reward: whether it counts there, and its weight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeGuard

from grpo_env.core import Example, Format
from grpo_env.errors import UsageError

from .templates import is_true, render


@dataclass(frozen=True)
class RowRule:
    """A template over an example's columns. ``where`` begins messages."""

    template: str
    format: Format
    where: str


class RowCondition(RowRule):
    """Whether the template is true for an example. Raises ``UsageError``."""

    def __call__(self, example: Example) -> bool:
        return is_true(self.template, example.info, self.format, self.where)


class RowNumber(RowRule):
    """The finite number that the template gives. Raises ``UsageError``."""

    def __call__(self, example: Example) -> float:
        text = render(self.template, example.info, self.format, self.where).strip()
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise UsageError(f"{self.where}: template {self.template!r} gives {text!r:.100}; it must give a number")
        return number


def is_template(value: object) -> TypeGuard[str]:
    """Whether a value of a task file is a template of the row."""
    return isinstance(value, str) and ("{{" in value or "{%" in value)
