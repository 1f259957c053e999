"""The reference model of the KL penalty: the policy with other weights, without a gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch
from torch import Tensor

from .batch import Batch
from .engine.policy import Policy
from .oom import with_oom_retry


def add_reference_logp(
    policy: Policy, reference: Mapping[str, Tensor], batches: Sequence[Batch], temperature: float
) -> None:
    """Set ``ref_logp`` of all micro-batches. ``reference``: the reference model's values of the trained weights."""

    def compute(batch: Batch) -> None:
        for micro in batch.micro_batches:
            micro.ref_logp, _ = micro.logp(policy, temperature)

    with torch.no_grad(), policy.swapped_weights(reference):
        for batch in batches:
            with_oom_retry(policy, batch, partial(compute, batch))
