"""The settings of a learned part of the reward: what it is compared with, and how it is trained further."""

from __future__ import annotations

from pydantic import Field

from .settings import Settings


class RewardModelConfig(Settings):
    """Watch a `reward_model` or `process_reward_model` of the reward, and train it on the run's own completions."""

    rule: str | None = None
    """The part that the model's is compared with, and learns from; a process model needs one with step scores. null:
    the task's metric under `every`, and otherwise no comparison."""
    every: int = Field(default=0, ge=0)
    """Train the model further after every so many steps, on the completions since the last time (DeepSeekMath,
    algorithm 1, line 12); 0: never. The new models are in the run's folder; the task's own is not changed."""
    replay: float = Field(default=0.1, ge=0, lt=1)
    """Fraction of the completions that come from before, at random."""
    peak_learning_rate: float = Field(default=1e-5, gt=0)
    """Learning rate of the one pass over these completions, after a warm-up of a tenth of its updates of 32
    completions; it falls to 0 each time."""

    @property
    def is_used(self) -> bool:
        """Whether a part of the reward is watched."""
        return self.rule is not None or self.every > 0
