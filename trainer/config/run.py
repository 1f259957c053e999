"""The settings of evaluation, and of what a run's folder keeps."""

from __future__ import annotations

from pydantic import Field

from .settings import Settings


class EvalConfig(Settings):
    """Evaluation on held-out examples. The last model is always evaluated."""

    every: int = Field(default=25, ge=0)
    """Every so many steps; 0: only before and after."""
    at_start: bool = True
    """Also before training."""
    examples: int = Field(default=200, ge=1)
    """Held-out examples."""
    samples: int = Field(default=1, ge=0)
    """Sampled completions of each, beside the greedy one."""


class CheckpointConfig(Settings):
    """The last step is always saved."""

    every: int = Field(default=50, ge=0)
    """Every so many steps; 0: only at the end."""
    best: bool = False
    """Also keep the model with the best greedy accuracy after step 0, in ``best-step-N``."""
