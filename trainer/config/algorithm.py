"""The settings of the algorithm: advantages, loss, KL penalty, and optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from .settings import Settings, load

Scale = Literal["group", "none"]
Std = Literal["sample", "population"]
StepCredit = Literal["sum", "mean", "return"]
Aggregation = Literal["token", "sequence", "constant"]
ImportanceLevel = Literal["token", "sequence"]

BETA1 = 0.9
"""Decay rate of the first moment."""
MIN_LR_RATIO = 0.1
"""Where the cosine ends, as a fraction of the learning rate (OpenRLHF's default)."""


class AdvantageConfig(Settings):
    """How rewards become advantages."""

    function: str | None = None
    """A function of your own that computes the advantages: ``FILE.py:function`` or ``module:function``; null: by the
    settings below."""
    scale: Scale = "group"
    """Divide advantages by the standard deviation of the group, or not at all (Dr. GRPO)."""
    std: Std = "sample"
    """Standard deviation over n - 1 (``sample``) or n (``population``)."""
    step_credit: StepCredit | None = None
    """How a token combines the normalized rewards of the steps that end on or after it: sum or mean; or the raw
    rewards still to come, less those of the group's other completions at the same step (``return``). null: ``return``
    for episodes of an environment, whose steps are turns, and ``sum`` for steps within one text."""
    truncated: Literal["keep", "mask"] = "keep"
    """Truncated completions: learn from them, or mask them in the loss only."""

    @cached_property
    def own_function(self) -> Callable[..., Any] | None:
        """What ``function`` names, loaded once. Raises ``UsageError``."""
        return load(self.function, "advantage.function")


class LossConfig(Settings):
    """The policy loss; see ``losses.py`` for the equations."""

    aggregation: Aggregation = "token"
    """Mean over all tokens, mean of each completion's mean, or sum divided by completions x ``max_new_tokens``."""
    function: str | None = None
    """A function of your own that computes the loss per token, in place of the clipped ratio: ``FILE.py:function`` or
    ``module:function``."""
    importance_level: ImportanceLevel = "token"
    """Importance ratio of each token, or the geometric mean over its completion (GSPO)."""
    clip_low: float = Field(default=0.2, ge=0, le=1)
    """The ratio is clipped below at 1 - ``clip_low``."""
    clip_high: float = Field(default=0.28, ge=0)
    """The ratio is clipped above at 1 + ``clip_high``."""
    tis_cap: float | None = Field(default=None, gt=1)
    """Truncated importance sampling: weight tokens by trainer over sampler probability, at most this; null: off.
    2 unless ``sampling.engine`` is ``own``."""
    entropy_coef: float = 0.0
    """Weight of an entropy bonus."""

    @cached_property
    def own_function(self) -> Callable[..., Any] | None:
        """What ``function`` names, loaded once. Raises ``UsageError``."""
        return load(self.function, "loss.function")

    @model_validator(mode="after")
    def _one_loss(self) -> Self:
        if self.function is not None and self.importance_level != "token":
            raise ValueError(f"loss.function replaces loss.importance_level={self.importance_level}; leave one out")
        return self


class KLConfig(Settings):
    """The KL penalty to the reference model."""

    coef: float = Field(default=0.0, ge=0)
    """Weight of the penalty; at 0 no reference model is kept."""
    bias_correction: bool = False
    """Multiply the penalty by the token's importance ratio, so that its gradient is that of the divergence, in further
    updates on the samples too."""
    reference_sync_every: int = Field(default=0, ge=0)
    """Replace the reference model with the current model every so many steps (iterative GRPO); 0: never."""

    @model_validator(mode="after")
    def _sync_needs_reference(self) -> Self:
        if self.reference_sync_every and not self.coef:
            raise ValueError("kl.reference_sync_every requires a reference model; set kl.coef above 0")
        return self


class OptimizerConfig(Settings):
    """AdamW and its learning rate schedule."""

    name: Literal["adamw", "adamw_8bit", "paged_adamw_8bit"] = "adamw"
    """``adamw_8bit``: 8-bit moments; ``paged_adamw_8bit``: these in memory that CUDA moves to the CPU when the GPU is
    full."""
    learning_rate: float = Field(default=1e-6, gt=0)
    """Peak learning rate."""
    warmup_steps: float = Field(default=3.0, ge=0)
    """Steps of linear warmup; below 1, the fraction of ``steps``, rounded up (as in transformers 5)."""
    lr_schedule: Literal["cosine", "constant"] = "cosine"
    """After the warmup: cosine decay to a tenth of ``learning_rate``, or constant."""
    beta2: float = Field(default=0.95, ge=0, le=0.999999)
    """Decay rate of the second moment; that of the first is ``BETA1``, 0.9."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Decoupled weight decay, of all trained weights: norms and biases too."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Gradients are clipped to this norm."""
    mini_batches: int = Field(default=1, ge=1)
    """Divide the groups of a step into so many mini-batches, with an update on each."""
    updates_per_step: int = Field(default=1, ge=1)
    """Updates on each of them (mu in the paper)."""

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
