"""The settings of the engine and the adapter."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .settings import Settings


class EngineConfig(Settings):
    """Device, precision and memory. Gradients are the same for every value of these, up to rounding."""

    micro_batch_tokens: int | None = Field(default=None, ge=1)
    """Token positions, padding included, per forward and backward pass: trades memory for speed. null: as many as
    are estimated to fit into the free memory on CUDA, 4,096 elsewhere."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, a third more time."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """``bf16`` computes in bfloat16 with float32 weights; ``auto`` does so on GPUs that support it."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """``auto`` prefers CUDA, then MPS, then the CPU."""


class LoraConfig(Settings):
    """Train a low-rank adapter instead of all weights (Hu et al. 2021)."""

    rank: int = Field(default=0, ge=0)
    """Rank of the adapter; 0: train all weights."""
    alpha: float = Field(default=32.0, ge=0)
    """The adapter's output is scaled by ``alpha`` / ``rank``."""
    quantize: Literal["nf4"] | None = None
    """Keep the frozen linear layers in 4 bits (QLoRA, Dettmers et al. 2023), by bitsandbytes; null: in the model's own
    dtype where the policy computes in bfloat16, else in float32."""
    target_modules: str = "all-linear"
    """Layers to adapt: ``all-linear`` (all linear layers but the head) or names (``q_proj,v_proj``)."""
