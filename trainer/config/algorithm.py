"""The settings of the algorithm: advantages, loss, KL penalty, and optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from grpo_env.registry import load_named

from .settings import Settings

Aggregation = Literal["token", "sequence", "constant"]
ImportanceLevel = Literal["token", "sequence"]

BETA1 = 0.9
"""Decay rate of the first moment."""
MIN_LR_RATIO = 0.1
"""Where the cosine ends, as a fraction of the learning rate (OpenRLHF's default)."""


class AdvantageConfig(Settings):
    """How rewards become advantages."""

    function: str | None = None
    """A function of your own for the advantages, ``FILE.py:function``; null: by the settings below."""
    scale: Literal["group", "none"] = "group"
    """Divide by the standard deviation of the group, or not (Dr. GRPO)."""
    std: Literal["sample", "population"] = "sample"
    """Over n - 1 (``sample``) or n (``population``)."""
    step_credit: Literal["sum", "mean", "return"] | None = None
    """What a token gets of the steps that end on or after it: ``sum`` or ``mean`` of normalized rewards, or the raw
    ``return``; null: ``return`` for turns, else ``sum``."""
    truncated: Literal["keep", "mask"] = "keep"
    """Learn from truncated completions, or mask them in the loss."""

    @cached_property
    def own_function(self) -> Callable[..., Any] | None:
        """What ``function`` names, loaded once. Raises ``UsageError``."""
        return None if self.function is None else load_named(self.function, None, "advantage.function")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.function is not None and (self.scale, self.std, self.step_credit) != ("group", "sample", None):
            raise ValueError("advantage.function replaces advantage.scale, std and step_credit; leave them out")
        return self


class LossConfig(Settings):
    """The policy loss."""

    aggregation: Aggregation = "token"
    """Mean over all tokens, over completions' means, or the sum over completions x ``max_new_tokens``."""
    function: str | None = None
    """A function of your own for the loss per token, ``FILE.py:function``; null: the clipped ratio."""
    importance_level: ImportanceLevel = "token"
    """Ratio of each token, or the geometric mean over its completion (GSPO)."""
    clip_low: float = Field(default=0.2, ge=0, le=1)
    """The ratio is at least 1 - ``clip_low``."""
    clip_high: float = Field(default=0.28, ge=0)
    """The ratio is at most 1 + ``clip_high``."""
    tis_cap: float | None = Field(default=None, gt=1)
    """Truncated importance sampling: most weight of a token; null: off. 2 under vLLM."""

    @cached_property
    def own_function(self) -> Callable[..., Any] | None:
        """What ``function`` names, loaded once. Raises ``UsageError``."""
        return None if self.function is None else load_named(self.function, None, "loss.function")

    @model_validator(mode="after")
    def _one_loss(self) -> Self:
        if self.function is not None and self.importance_level != "token":
            raise ValueError(f"loss.function replaces loss.importance_level={self.importance_level}; leave one out")
        return self


class KLConfig(Settings):
    """The KL penalty to the reference model."""

    coef: float = Field(default=0.0, ge=0)
    """Weight; at 0 no reference model is kept."""
    reference_sync_every: int = Field(default=0, ge=0)
    """Update the reference every so many steps; 0: never."""


class OptimizerConfig(Settings):
    """AdamW and its learning rate schedule."""

    name: Literal["adamw", "adamw_8bit", "paged_adamw_8bit"] = "adamw"
    """With moments of 32 bits, of 8, or of 8 that CUDA moves to the CPU when the GPU is full."""
    learning_rate: float = Field(default=1e-6, gt=0)
    """Its peak."""
    warmup_steps: float = Field(default=3.0, ge=0)
    """Steps of linear warmup; below 1, a fraction of ``steps``, rounded up."""
    lr_schedule: Literal["cosine", "constant"] = "cosine"
    """After the warmup: cosine to a tenth, or constant."""
    beta2: float = Field(default=0.95, ge=0, le=0.999999)
    """Decay of the second moment; that of the first is 0.9."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Decoupled, of all trained weights."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Gradients are clipped to this norm."""
    mini_batches: int = Field(default=1, ge=1)
    """Parts of a step's groups, with an update on each."""
    updates_per_step: int = Field(default=1, ge=1)
    """Updates on each of them (mu)."""

    @model_validator(mode="after")
    def _whole_steps(self) -> Self:
        if self.warmup_steps > 1 and self.warmup_steps % 1:
            raise ValueError(
                f"optimizer.warmup_steps is {self.warmup_steps}; it must be a whole number, or a fraction below 1"
            )
        return self

    def warmup(self, steps: int) -> int:
        """Steps of linear warmup in a run of ``steps``."""
        if self.warmup_steps < 1:  # 0.07 * 100 is 7.000000000000001, whose ceiling is 8
            return math.ceil(round(self.warmup_steps * steps, 9))
        return int(self.warmup_steps)
