"""The groups of settings: sampling, the algorithm, what other papers add, the engine, and a run's folder."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from grpo_env.registry import load_named

Aggregation = Literal["token", "sequence", "constant"]
ImportanceLevel = Literal["token", "sequence"]

BETA1 = 0.9
"""Decay rate of the first moment."""
MIN_LR_RATIO = 0.1
"""Where the cosine ends, as a fraction of the learning rate (OpenRLHF's default)."""


class Settings(BaseModel):
    """What all groups share: immutable, without unknown names, strict about types."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _number_from_text(cls, value: Any, info: ValidationInfo) -> Any:
        """YAML reads ``1e-4``, which has no dot, as text."""
        if isinstance(value, str) and cls.model_fields[str(info.field_name)].annotation in (float, float | None):
            try:
                return float(value)
            except ValueError:
                pass
        return value


def engine_here(device: str) -> str:
    """The engine that ``sampling.engine=auto`` means on a device (``engine.device``), without servers."""
    if device not in ("auto", "cuda") or find_spec("vllm") is None:
        return "own"
    import torch  # heavy, and not needed without vLLM

    return "vllm" if torch.cuda.is_available() else "own"


class SamplingConfig(Settings):
    """How completions are sampled: from the policy itself, without top-p and top-k."""

    max_new_tokens: int = Field(default=256, ge=1)
    """Most tokens of a completion, in an episode of all turns together."""
    max_prompt_tokens: int | None = Field(default=None, ge=1)
    """Most tokens of a prompt; null: what the model's positions leave beside ``max_new_tokens``."""
    overlong_prompts: Literal["error", "drop"] = "error"
    """Longer prompts stop the run before it begins, or are left out and counted."""
    temperature: float = Field(default=1.0, gt=0)
    """Of sampling, and of the log-probabilities in the loss."""
    engine: Literal["auto", "own", "vllm"] = "auto"
    """The library's own loop, or vLLM. ``auto``: vLLM with ``url``, or on CUDA where it is installed."""
    url: str | None = None
    """vLLM servers, separated by commas; null: vLLM in each process of the trainer."""
    gpu_memory_fraction: float = Field(default=0.3, gt=0, le=1)
    """Fraction of its GPU for vLLM in a process while it samples."""

    @model_validator(mode="after")
    def _servers_are_of_vllm(self) -> Self:
        if self.url is not None and self.engine == "own":
            raise ValueError("sampling.url requires sampling.engine=vllm, not own")
        return self

    @property
    def urls(self) -> list[str]:
        """The servers, without slashes or ``/v1`` at the end."""
        urls = [url.strip().rstrip("/").removesuffix("/v1") for url in (self.url or "").split(",")]
        return [url.rstrip("/") for url in urls if url]


class DynamicSamplingConfig(Settings):
    """Replace groups without a gradient (DAPO)."""

    part: str | None = None
    """Replace groups whose completions all have the same value of this part; null: off."""


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


class EngineConfig(Settings):
    """Device, precision and memory. Gradients do not depend on these, up to rounding."""

    micro_batch_tokens: int | None = Field(default=None, ge=1)
    """Token positions at once, with padding; null: what fits into the free memory on CUDA, else 4,096."""
    gradient_checkpointing: bool = False
    """Recompute activations: less memory, a third more time."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """``bf16`` computes in bfloat16 on float32 weights; ``auto``: where a GPU supports it."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """``auto`` prefers CUDA, then MPS."""


class LoraConfig(Settings):
    """Train a low-rank adapter of all linear layers but the head."""

    rank: int = Field(default=0, ge=0)
    """Of the adapter; 0: train all weights."""
    alpha: float = Field(default=32.0, ge=0)
    """Its output is scaled by ``alpha`` / ``rank``."""
    quantize: Literal["nf4"] | None = None
    """Frozen linear layers in 4 bits (QLoRA); null: bfloat16 if that is computed in, else float32."""


class StepValuesConfig(Settings):
    """Supervise steps without step scores, by continuations from the end of each step (VinePPO)."""

    rollouts: int = Field(default=0, ge=0)
    """K: continuations from the end of each step, which is a line, scored by the reward; 0: off."""


class RewardModelConfig(Settings):
    """Train the learned part of the reward on the run's completions."""

    rule: str | None = None
    """The part that it learns from; null: the metric."""
    every: int = Field(default=0, ge=0)
    """Train it after every so many steps, into the run's folder; 0: never."""
    replay: float = Field(default=0.1, ge=0, lt=1)
    """Fraction of the completions that come from before."""
    peak_learning_rate: float = Field(default=1e-5, gt=0)
    """Learning rate after a warm-up of a tenth of the updates; it falls to 0 each time."""


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
    stop_at: float | None = Field(default=None, gt=0, le=1)
    """End the run at an evaluation with at least this greedy accuracy; null: after ``steps``."""
    patience: int | None = Field(default=None, ge=1)
    """End it after so many evaluations in a row without a new best greedy accuracy; null: after ``steps``."""


class CheckpointConfig(Settings):
    """The last step is always saved."""

    every: int = Field(default=50, ge=0)
    """Every so many steps; 0: only at the end."""
    best: bool = False
    """Also keep the model with the best greedy accuracy after step 0, in ``best-step-N``."""
