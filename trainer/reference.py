"""The reference model of the KL penalty: the weights before training, or those of the last sync."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from .batch import Batch
from .config import KLConfig
from .engine.policy import Policy
from .update import add_logp


def sync_if_due(reference: dict[str, Tensor] | None, policy: Policy, config: KLConfig, steps: int) -> None:
    """Iterative GRPO (DeepSeekMath, algorithm 1, line 3): the current model becomes the reference."""
    every = config.reference_sync_every
    if reference is not None and every and steps % every == 0:
        reference.update(policy.snapshot())


def add_reference_logp(
    policy: Policy, reference: Mapping[str, Tensor], batches: Sequence[Batch], temperature: float
) -> None:
    """Set ``ref_logp`` of all micro-batches, under the weights of the reference model."""
    with policy.swapped_weights(reference):
        for batch in batches:
            add_logp(policy, batch, temperature, "ref_logp")
