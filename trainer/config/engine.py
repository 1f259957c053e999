"""The settings of the engine and the adapter."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .settings import Settings


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
