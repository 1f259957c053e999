"""Refuses to save weights that training has destroyed."""

from __future__ import annotations

from accelerate.utils import gather_object

from grpo_env.errors import DivergedError

from ..engine.policy import Policy
from ..engine.sharding import is_sharded

LARGEST = 1e6
"""No weight of a useful model is near it; those of one that diverges pass it in a few updates."""


def check_weights(policy: Policy) -> None:
    """Raises ``DivergedError`` if a trained weight is above ``LARGEST``, or not finite.

    Processes that store shards call it together. With whole weights none waits for another: after Ctrl-C, they are at
    different points.
    """
    weights = [weight.detach() for weight in policy.trained.values()]
    shards = [weight.to_local() if hasattr(weight, "to_local") else weight for weight in weights]
    sound = all(bool((shard.abs() <= LARGEST).all()) for shard in shards)
    if not all(gather_object([sound]) if is_sharded(policy) else [sound]):
        raise DivergedError(
            f"trained weights are not finite or above {LARGEST:g}, so they are not saved; lower "
            "optimizer.learning_rate in config.yaml"
        )
