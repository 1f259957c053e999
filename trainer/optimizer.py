"""The optimizer, and the learning rate of every step."""

from __future__ import annotations

import math
from typing import Any

import torch

from grpo_env.errors import UsageError, install

from .config.groups import BETA1, MIN_LR_RATIO, OptimizerConfig
from .engine.policy import Policy


def make_optimizer(policy: Policy, config: OptimizerConfig) -> torch.optim.Optimizer:
    """AdamW over the trained weights; ``update`` sets its learning rate at every step.

    ``adamw_8bit`` keeps moments in 8 bits (Dettmers et al. 2022), and ``paged_adamw_8bit`` in unified memory (Dettmers
    et al. 2023, QLoRA). Raises ``UsageError`` if bitsandbytes is missing, or for pages without CUDA.
    """
    options: dict[str, Any] = {
        "lr": config.learning_rate,
        "betas": (BETA1, config.beta2),
        "weight_decay": config.weight_decay,
    }
    if config.name == "adamw":
        return torch.optim.AdamW(policy.trained.values(), **options, fused=policy.device.type in ("cpu", "cuda"))
    try:
        from bitsandbytes.optim import AdamW8bit, PagedAdamW8bit
    except ImportError as error:
        raise UsageError(f"optimizer.name={config.name} needs bitsandbytes: {install('8bit')}") from error
    if config.name == "paged_adamw_8bit" and policy.device.type != "cuda":
        raise UsageError(
            f"optimizer.name=paged_adamw_8bit needs CUDA, and the model is on {policy.device.type}; use adamw_8bit"
        )
    kind = PagedAdamW8bit if config.name == "paged_adamw_8bit" else AdamW8bit
    optimizer: torch.optim.Optimizer = kind(policy.trained.values(), **options)
    return optimizer


def learning_rate(config: OptimizerConfig, step: int, steps: int) -> float:
    """The learning rate of a step (0-based) of ``steps``: a function of its arguments, so there is no state to save."""
    warmup = config.warmup(steps)
    if step < warmup:
        return config.learning_rate * (step + 1) / (warmup + 1)
    if config.lr_schedule == "constant":
        return config.learning_rate
    progress = (step - warmup) / max(1, steps - warmup)
    cosine = (1 + math.cos(math.pi * progress)) / 2
    return config.learning_rate * (MIN_LR_RATIO + (1 - MIN_LR_RATIO) * cosine)
