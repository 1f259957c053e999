"""The settings of step values: how steps are found, and how often they are continued."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .settings import Settings

Segments = Literal["line", "paragraph", "sentence", "marker"]


class StepValuesConfig(Settings):
    """Supervise steps without step scores, by continuations from the end of each step (VinePPO)."""

    rollouts: int = Field(default=0, ge=0)
    """K: continuations from the end of each step, scored by the reward; 0: off."""
    segments: Segments = "line"
    """Where a step ends."""
