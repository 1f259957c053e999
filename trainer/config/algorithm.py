"""The settings of the algorithm: advantages, loss, KL penalty, and optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from .settings import Settings, load

Scale = Literal["group", "batch", "mean", "none"]
Baseline = Literal["group", "leave_one_out", "greedy", "none"]
Std = Literal["sample", "population"]
StepCredit = Literal["sum", "mean", "min", "return"]
ErrorCorrection = Literal["backward", "forward"]
Aggregation = Literal["token", "sequence", "constant"]
Surrogate = Literal["ppo", "cispo", "sapo", "reinforce"]
ImportanceLevel = Literal["token", "sequence"]
KLEstimator = Literal["k1", "k2", "k3"]

WARMUP_STEPS = 3
"""Steps of linear warmup unless ``optimizer.warmup_steps`` or ``warmup_ratio`` is set."""


class AdvantageConfig(Settings):
    """How rewards become advantages."""

    function: str | None = None
    """A function of your own that computes the advantages: ``FILE.py:function`` or ``module:function``; null: by the
    settings below."""
    reward: Literal["total", "correct"] = "total"
    """What is compared: the reward, or whether the metric is 1 (1 or 0)."""
    baseline: Baseline = "group"
    """Subtracted from a reward: the mean of its group, that of the group's other completions (RLOO), the reward of a
    greedy completion that is sampled in addition (ReMax), or nothing."""
    scale: Scale = "group"
    """Divide advantages by the standard deviation of the group, by that of the batch's raw rewards, by the mean of the
    group (MaxRL), or not at all."""
    std: Std = "sample"
    """Standard deviation over n - 1 (``sample``) or n (``population``)."""
    normalize: Literal["total", "parts"] = "total"
    """Normalize the total reward, or each part separately and then sum by weight (GDPO)."""
    step_credit: StepCredit | None = None
    """How a token combines the normalized rewards of the steps that end on or after it: sum, mean or min; or the raw
    rewards still to come, less those of the group's other completions at the same step (``return``). null: ``return``
    for episodes of an environment, whose steps are turns, and ``sum`` for steps within one text."""
    process_weight: float = Field(default=1.0, ge=0)
    """Weight of the process advantages under ``supervision: both``."""
    truncated: Literal["keep", "zero", "mask"] = "keep"
    """Truncated completions: learn from them, set their rewards to 0, or mask them in the loss only."""
    error_correction: ErrorCorrection | None = None
    """Correct the advantages for a metric that is wrong at the two rates below (Cai et al. 2025); null: off."""
    false_positive_rate: float = Field(default=0.0, ge=0, le=0.999999)
    """Fraction of wrong completions that the metric accepts, as ``grpo_env calibrate`` measures it."""
    false_negative_rate: float = Field(default=0.0, ge=0, le=0.999999)
    """Fraction of correct completions that the metric rejects."""

    @cached_property
    def own_function(self) -> Callable[..., Any] | None:
        """What ``function`` names, loaded once. Raises ``UsageError``."""
        return load(self.function, "advantage.function")

    @model_validator(mode="after")
    def _baseline_of_scale(self) -> Self:
        if self.baseline in ("none", "greedy") and self.scale in ("group", "mean"):
            raise ValueError(
                f"advantage.baseline={self.baseline} needs advantage.scale=none or batch, because completions of equal "
                f"rewards have advantages too, and advantage.scale={self.scale} compares within the group"
            )
        special = "baseline" if self.baseline in ("none", "greedy") else "scale" if self.scale == "mean" else None
        if special and self.normalize == "parts":
            raise ValueError(f"advantage.{special}={getattr(self, special)} needs advantage.normalize=total")
        if self.reward == "correct" and (self.normalize == "parts" or self.error_correction):
            other = "normalize=parts" if self.normalize == "parts" else "error_correction"
            raise ValueError(f"advantage.{other} is about the parts of the reward; it needs advantage.reward=total")
        return self

    @model_validator(mode="after")
    def _correctable(self) -> Self:
        rates = self.false_positive_rate, self.false_negative_rate
        if self.error_correction is None:
            if any(rates):
                raise ValueError("the rates of verifier errors have no effect without advantage.error_correction")
            return self
        if not any(rates):
            raise ValueError("advantage.error_correction needs a false_positive_rate or false_negative_rate above 0")
        if sum(rates) >= 1:
            raise ValueError(
                "advantage.error_correction: the two rates add up to 1 or more, so the metric says nothing"
            )
        if self.baseline in ("none", "greedy"):
            raise ValueError("advantage.error_correction needs advantage.baseline=group or leave_one_out")
        if self.scale != "none" or self.normalize != "total":
            raise ValueError(
                "advantage.error_correction needs advantage.scale=none and advantage.normalize=total, because dividing "
                "by a standard deviation undoes the correction"
            )
        if self.error_correction == "forward" and self.truncated != "keep":
            raise ValueError(
                "advantage.error_correction=forward needs advantage.truncated=keep: its advantages are negative on "
                "average, so that masked completions would seem better than others"
            )
        return self


class LossConfig(Settings):
    """The policy loss; see ``losses.py`` for the equations."""

    aggregation: Aggregation = "token"
    """Mean over all tokens, mean of each completion's mean, or sum divided by completions x ``max_new_tokens``."""
    function: str | None = None
    """A function of your own that computes the loss per token, in place of ``surrogate``: ``FILE.py:function`` or
    ``module:function``."""
    surrogate: Surrogate = "ppo"
    """``ppo`` clips the ratio, ``cispo`` clips the weight of each token's gradient, ``sapo`` weights it smoothly,
    ``reinforce`` has no ratio."""
    importance_level: ImportanceLevel = "token"
    """Importance ratio of each token, or the geometric mean over its completion (GSPO)."""
    clip_low: float = Field(default=0.2, ge=0, le=1)
    """The ratio is clipped below at 1 - ``clip_low``."""
    clip_high: float = Field(default=0.28, ge=0)
    """The ratio is clipped above at 1 + ``clip_high``."""
    dual_clip: float | None = Field(default=None, gt=1)
    """Under ``ppo``: upper bound of the ratio for negative advantages (3 is usual); null: no bound."""
    tau_pos: float = Field(default=1.0, gt=0)
    """Under ``sapo``: temperature of the gate where advantages are positive."""
    tau_neg: float = Field(default=1.05, gt=0)
    """Under ``sapo``: where they are negative; a larger one gives less weight to ratios far from 1."""
    tis_cap: float | None = Field(default=None, gt=1)
    """Truncated importance sampling: weight tokens by trainer over sampler probability, at most this; null: off.
    2 unless ``sampling.engine`` is ``own``."""
    max_row_gap: float | None = Field(default=None, gt=0)
    """Leave rows out of the policy loss where the mean log-ratio of trainer to sampler, in nats a token, is beyond
    plus or minus this; null: off."""
    entropy_coef: float = 0.0
    """Weight of an entropy bonus."""

    @cached_property
    def own_function(self) -> Callable[..., Any] | None:
        """What ``function`` names, loaded once. Raises ``UsageError``."""
        return load(self.function, "loss.function")

    @model_validator(mode="after")
    def _function_or_surrogate(self) -> Self:
        if self.function is not None and (self.surrogate != "ppo" or self.importance_level != "token"):
            other = "surrogate" if self.surrogate != "ppo" else "importance_level"
            raise ValueError(f"loss.function replaces loss.{other}={getattr(self, other)}; leave one of them out")
        return self

    @model_validator(mode="after")
    def _surrogate_options(self) -> Self:
        if self.dual_clip is not None and (self.surrogate != "ppo" or self.function is not None):
            other = "loss.function" if self.function is not None else self.surrogate
            raise ValueError(f"loss.dual_clip requires loss.surrogate=ppo, not {other}")
        if self.surrogate == "reinforce" and self.importance_level != "token":
            raise ValueError("loss.surrogate=reinforce has no ratio; leave out loss.importance_level")
        return self


class KLConfig(Settings):
    """The KL penalty to the reference model."""

    coef: float = Field(default=0.0, ge=0)
    """Weight of the penalty; at 0 no reference model is kept."""
    estimator: KLEstimator = "k3"
    """k1, k2 or k3 (see ``losses.kl_penalty``)."""
    bias_correction: bool = False
    """Multiply ``k1`` or ``k3`` by the token's importance ratio, so that its gradient is that of the divergence, in
    further updates on the samples too. ``k1`` needs it, ``k2`` excludes it."""
    reference_sync_every: int = Field(default=0, ge=0)
    """Replace the reference model with the current model every so many steps (iterative GRPO); 0: never."""

    @model_validator(mode="after")
    def _sync_needs_reference(self) -> Self:
        if self.reference_sync_every and not self.coef:
            raise ValueError("kl.reference_sync_every requires a reference model; set kl.coef above 0")
        return self

    @model_validator(mode="after")
    def _estimator_has_the_gradient(self) -> Self:
        if self.estimator == "k1" and not self.bias_correction:
            raise ValueError(
                "kl.estimator=k1 needs kl.bias_correction=true: without the ratio its gradient is 0 on average, so it "
                "adds noise and no penalty"
            )
        if self.estimator == "k2" and self.bias_correction:
            raise ValueError(
                "kl.estimator=k2 has the gradient of the divergence without kl.bias_correction, and not with it; set "
                "kl.bias_correction=false, or kl.estimator=k3"
            )
        return self


class OptimizerConfig(Settings):
    """AdamW and its learning rate schedule."""

    name: Literal["adamw", "adamw_8bit", "paged_adamw_8bit"] = "adamw"
    """``adamw_8bit``: 8-bit moments; ``paged_adamw_8bit``: these in memory that CUDA moves to the CPU when the GPU is
    full."""
    learning_rate: float = Field(default=1e-6, gt=0)
    """Peak learning rate."""
    warmup_steps: int | None = Field(default=None, ge=0)
    """Steps of linear warmup; null: 3, or ``warmup_ratio``."""
    warmup_ratio: float | None = Field(default=None, ge=0, le=1)
    """Fraction of ``steps`` of linear warmup, rounded up, in place of ``warmup_steps``."""
    lr_schedule: Literal["cosine", "constant"] = "cosine"
    """After the warmup: cosine decay to ``min_lr_ratio``, or constant."""
    min_lr_ratio: float = Field(default=0.1, ge=0, le=1)
    """Final learning rate of the cosine, as a fraction of ``learning_rate``."""
    beta1: float = Field(default=0.9, ge=0, le=0.999999)
    """Decay rate of the first moment."""
    beta2: float = Field(default=0.95, ge=0, le=0.999999)
    """Decay rate of the second moment."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Decoupled weight decay, of all trained weights: norms and biases too."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Gradients are clipped to this norm."""
    mini_batches: int = Field(default=1, ge=1)
    """Divide the groups of a step into so many mini-batches, with an update on each."""
    updates_per_step: int = Field(default=1, ge=1)
    """Updates on each of them (mu in the paper)."""

    @model_validator(mode="after")
    def _one_warmup(self) -> Self:
        if self.warmup_steps is not None and self.warmup_ratio is not None:
            raise ValueError(
                "optimizer.warmup_steps and optimizer.warmup_ratio are both set; set one of them, and the other to null"
            )
        return self

    def warmup(self, steps: int) -> int:
        """Steps of linear warmup in a run of ``steps``."""
        if self.warmup_ratio is not None:
            # 0.07 * 100 is 7.000000000000001, whose ceiling is 8.
            return math.ceil(round(self.warmup_ratio * steps, 9))
        return WARMUP_STEPS if self.warmup_steps is None else self.warmup_steps
