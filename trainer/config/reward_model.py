"""The settings of a learned part of the reward: what it is compared with, and how it is trained further."""

from __future__ import annotations

from pydantic import Field

from .settings import Settings


class RewardModelConfig(Settings):
    """Watch a learned part of the reward, and train it on the run's completions."""

    rule: str | None = None
    """The part that it is compared with and learns from; null: the metric under ``every``, else none."""
    every: int = Field(default=0, ge=0)
    """Train it after every so many steps, into the run's folder; 0: never."""
    replay: float = Field(default=0.1, ge=0, lt=1)
    """Fraction of the completions that come from before."""
    peak_learning_rate: float = Field(default=1e-5, gt=0)
    """Learning rate after a warm-up of a tenth of the updates; it falls to 0 each time."""

    @property
    def is_used(self) -> bool:
        """Whether a part of the reward is watched."""
        return self.rule is not None or self.every > 0
