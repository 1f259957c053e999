"""The settings of evaluation, and of what a run's folder keeps."""

from __future__ import annotations

from pydantic import Field

from .settings import Settings


class EvalConfig(Settings):
    """Evaluation on held-out examples during training. The last model is always evaluated."""

    every: int = Field(default=25, ge=0)
    """Evaluate every so many steps; 0: only before and after training."""
    at_start: bool = True
    """Evaluate before training too, to see what it changes."""
    examples: int = Field(default=200, ge=1)
    """Held-out examples per evaluation."""
    samples: int = Field(default=1, ge=0)
    """Sampled completions per held-out example, in addition to the greedy one; 0: none."""


class CheckpointConfig(Settings):
    """What the run folder keeps. The last step is always saved."""

    every: int = Field(default=50, ge=0)
    """Save every so many steps; 0: only at the end."""
    keep: int = Field(default=2, ge=1)
    """Number of checkpoints to keep."""
    best: bool = False
    """Also keep the model with the best greedy accuracy of the evaluations after step 0, in ``best-step-N``."""
