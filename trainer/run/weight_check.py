"""Refuses to save weights that training has destroyed: not finite, or grown far beyond those of any useful model."""

from __future__ import annotations

import math

import torch
from accelerate.utils import gather_object

from grpo_env.errors import DivergedError

from ..engine.policy import Policy
from ..engine.sharding import is_sharded

MAX_RMS = 100.0
"""Limit on the root mean square of the trained weights, and on its growth.

Those of language models are below 1 (.02 to .1 is usual). An update of AdamW moves a weight by about the learning rate,
so reaching 100 takes ``learning_rate * updates`` of about 100: at 1e-3, a hundred thousand updates in one direction.
"""


def root_mean_square(policy: Policy) -> float:
    """That of all trained weights, whole or sharded; NaN or infinite if one of them is.

    Processes that store shards call it together. With whole weights none waits for another: after Ctrl-C, they are at
    different points.
    """
    squares, count = 0.0, 0
    for weight in policy.trained.values():
        shard = weight.detach()
        shard = shard.to_local() if hasattr(shard, "to_local") else shard
        if shard.numel():
            norm = float(torch.linalg.vector_norm(shard, dtype=torch.float32))
            if norm == math.inf:  # also where squares of finite weights overflow
                largest = float(shard.abs().max())
                norm = float(torch.linalg.vector_norm(shard / largest, dtype=torch.float32)) * largest
            squares += norm**2
            count += shard.numel()
    parts = gather_object([(squares, count)]) if is_sharded(policy) else [(squares, count)]
    return math.sqrt(sum(part[0] for part in parts) / max(1, sum(part[1] for part in parts)))


def check_weights(policy: Policy, before: float) -> None:
    """Raises ``DivergedError`` if training has destroyed the weights, whose root mean square was ``before``."""
    now = root_mean_square(policy)
    if now <= MAX_RMS * max(1.0, before):
        return
    problem = (
        f"have grown from {before:.2g} to {now:.2g} (root mean square)" if math.isfinite(now) else "are not finite"
    )
    raise DivergedError(
        f"the trained weights {problem}, so they are not saved; lower optimizer.learning_rate in config.yaml"
    )
