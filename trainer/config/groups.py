"""The groups of settings beside those of the algorithm: sampling, engine, what other papers add, and a run's folder."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, Self

from pydantic import Field, model_validator

from .settings import Settings


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
    """Frozen linear layers in 4 bits (QLoRA); null: the model's own dtype in bf16, else float32."""


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
