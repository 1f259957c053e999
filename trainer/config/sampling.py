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
    """How completions are sampled. There is no top-p or top-k: samples come from the policy itself."""

    max_new_tokens: int = Field(default=256, ge=1)
    """Maximum completion length in tokens; longer completions are truncated. In an episode of several turns it bounds
    the sampled tokens of all turns together."""
    max_prompt_tokens: int | None = Field(default=None, ge=1)
    """Maximum prompt length in tokens; null: what the model's positions leave beside ``max_new_tokens``."""
    overlong_prompts: Literal["error", "drop"] = "error"
    """Longer prompts: stop before the run begins, or leave them out and report their number."""
    temperature: float = Field(default=1.0, gt=0)
    """Temperature of sampling and of the log-probabilities in the loss."""
    engine: Literal["auto", "own", "vllm"] = "auto"
    """The library's own loop, or vLLM in this process or on servers (``url``). ``auto``: vLLM with ``url``, or on CUDA
    where it is installed, else the library's own."""
    url: str | None = None
    """Under ``vllm``: addresses of vLLM servers, separated by commas, which sample in place of this process."""
    weight_transfer: Literal["nccl", "ipc", "path"] | None = None
    """How servers get new weights: NCCL, CUDA IPC, or a folder that both see; null: ``nccl`` on CUDA, else ``path``."""
    environments: int = Field(default=64, ge=1)
    """Tasks with an environment: the most episodes at once, each of which has a process for its environment."""
    off_policy_steps: int = Field(default=0, ge=0, le=1)
    """1: sample each step while the one before is learned from, so from weights one step older; needs ``url``."""
    gpu_memory_fraction: float = Field(default=0.3, gt=0, le=1)
    """Under ``vllm`` without ``url``: fraction of the GPU's memory for its weights and cache while it samples."""

    @model_validator(mode="after")
    def _servers_are_of_vllm(self) -> Self:
        if self.url is not None and self.engine == "own":
            raise ValueError("sampling.url requires sampling.engine=vllm, not own")
        if self.weight_transfer is not None and self.url is None:
            raise ValueError("sampling.weight_transfer requires sampling.url")
        if self.off_policy_steps and self.url is None:
            raise ValueError(
                "sampling.off_policy_steps=1 samples while the policy is updated, which needs vLLM servers "
                f"(sampling.engine=vllm with sampling.url); sampling.engine={self.engine} samples in this process"
            )
        return self

    @property
    def urls(self) -> list[str]:
        """The servers, without slashes or ``/v1`` at the end."""
        urls = [url.strip().rstrip("/").removesuffix("/v1") for url in (self.url or "").split(",")]
        return [url.rstrip("/") for url in urls if url]


class DynamicSamplingConfig(Settings):
    """Replace groups without a gradient (Yu et al. 2025, DAPO)."""

    part: str | None = None
    """Replace groups whose completions all have the same value of this part of the reward; null: off."""


class CurriculumConfig(Settings):
    """Easy training examples first."""

    steps: int = Field(default=0, ge=0)
    """Steps until all examples are available; at the first step, the easiest fifth is. 0: all are, from the start."""
    difficulty: str | None = None
    """Column, path or template of a number, larger for harder; null: the data are in order."""

    @model_validator(mode="after")
    def _difficulty_needs_steps(self) -> Self:
        if self.difficulty is not None and not self.steps:
            raise ValueError("curriculum.difficulty requires curriculum.steps above 0")
        return self
