"""The settings of step values: how steps are found, how often they are continued, and what becomes of the values."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from .settings import Settings

Segments = Literal["line", "paragraph", "sentence", "marker"]


class StepValuesConfig(Settings):
    """Supervise steps without step scores, by continuations from the end of each step."""

    rollouts: int = Field(default=0, ge=0)
    """K: continuations from the end of each step, scored by the reward; 0: off."""
    segments: Segments = "line"
    """Where a step ends."""
    use: Literal["advantages", "rewards"] = "advantages"
    """``advantages``: the value after a step less that before it (VinePPO); ``rewards``: the value after a step is its
    reward."""

    @model_validator(mode="after")
    def _used_with_rollouts(self) -> Self:
        if not self.rollouts and self.use != "advantages":
            raise ValueError(f"step_values.use={self.use} needs step_values.rollouts, which is 0")
        return self
