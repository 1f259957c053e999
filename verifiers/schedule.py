"""Numbers that change during training, such as a weight that is annealed to 0."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Linear:
    """A straight line from ``start`` to ``end`` over ``steps`` training steps (1 or more), then constant."""

    start: float
    end: float
    steps: int

    def at(self, step: int) -> float:
        """The number at a training step (0-based)."""
        return self.start + (self.end - self.start) * min(max(step / self.steps, 0.0), 1.0)


def number_at(number: float | Linear, step: int) -> float:
    """A constant, or the value of a schedule at a training step (0-based)."""
    return number.at(step) if isinstance(number, Linear) else number
