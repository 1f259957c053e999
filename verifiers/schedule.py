"""Numbers that change during training, such as a weight that is annealed to 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from grpo_env.errors import UsageError


@dataclass(frozen=True)
class Linear:
    """A straight line from ``start`` to ``end`` over ``steps`` training steps, then constant.

    Raises ``UsageError`` when ``steps`` is less than 1.
    """

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise UsageError(f"schedule: steps must be at least 1, not {self.steps}")

    def at(self, step: int) -> float:
        """The number at a training step (0-based)."""
        return self.start + (self.end - self.start) * self._progress(step)

    def _progress(self, step: int) -> float:
        return min(max(step / self.steps, 0.0), 1.0)


@dataclass(frozen=True)
class Cosine(Linear):
    """Half a cosine wave from ``start`` to ``end`` over ``steps`` training steps, then constant."""

    def _progress(self, step: int) -> float:
        return (1 - math.cos(math.pi * super()._progress(step))) / 2


Schedule: TypeAlias = Linear | Cosine


def number_at(number: float | Schedule, step: int) -> float:
    """A constant, or the value of a schedule at a training step (0-based)."""
    return number.at(step) if isinstance(number, Linear) else number
