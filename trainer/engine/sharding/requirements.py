"""What sharding of either kind needs of the other settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grpo_env.errors import UsageError

if TYPE_CHECKING:
    from ...config import TrainConfig
    from ..policy import Policy


def check_requirements(kind: str, requirements: dict[str, bool], policy: Policy, config: TrainConfig) -> None:
    """Raises ``UsageError`` that lists the requirements, those of ``kind`` and the common ones, that are not met."""
    requirements = {
        **requirements,
        "optimizer.name=adamw": config.optimizer.name == "adamw",
        "sampling.engine=own, or vllm with sampling.url": config.sampling.engine == "own" or bool(config.sampling.urls),
        "training of all weights, not of an adapter": all(part.requires_grad for part in policy.model.parameters()),
    }
    if missing := [name for name, met in requirements.items() if not met]:
        raise UsageError(f"accelerate is set up for {kind}, which needs {', '.join(missing)}; see docs/scaling.md")
