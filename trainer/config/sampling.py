"""The settings of a step's samples: which prompts, and how completions are sampled."""

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
