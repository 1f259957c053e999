"""Statistics of updates: sums over tokens while they run, over all processes, and the means that are recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from .engine.policy import Policy


@dataclass(frozen=True)
class UpdateStats:
    """Statistics of the updates on a step's mini-batches: the means of their losses and gradient norms, and means over
    the tokens that went through the model, NaN if there were none.

    ``rollout_logprob_gap`` is the mean absolute difference, in nats, between the log-probabilities under the weights
    before the step and those of the sampler: the effect of rounding, or of another engine, on the same weights.
    ``astray`` is the fraction of tokens in rows that ``loss.max_row_gap`` left out.
    """

    loss: float
    grad_norm: float
    entropy: float
    kl: float
    clip_fraction: float
    rollout_logprob_gap: float
    astray: float


@dataclass
class LossSums:
    """Sums over the tokens of micro-batches; ``loss`` is already divided by the mini-batch's denominator."""

    loss: float = 0.0
    entropy: float = 0.0
    kl: float = 0.0
    clipped: float = 0.0
    logprob_gap: float = 0.0
    astray: float = 0.0
    tokens: float = 0.0

    def add(self, **sums: Tensor) -> None:
        """Add the sums of a micro-batch, by name. They are moved to the CPU together."""
        for name, value in zip(sums, torch.stack(list(sums.values())).tolist(), strict=True):
            setattr(self, name, getattr(self, name) + value)

    def __add__(self, other: LossSums) -> LossSums:
        values = asdict(other)
        return LossSums(**{name: value + values[name] for name, value in asdict(self).items()})

    def over_processes(self, policy: Policy) -> LossSums:
        """The sums over all processes, in float32."""
        names, values = zip(*asdict(self).items(), strict=True)
        total = policy.accelerator.reduce(torch.tensor(values, dtype=torch.float32, device=policy.device), "sum")
        return LossSums(**dict(zip(names, total.tolist(), strict=True)))

    def stats(self, grad_norms: Sequence[float]) -> UpdateStats:
        """Means per token, and of the loss per update."""
        tokens = self.tokens or math.nan
        return UpdateStats(
            loss=self.loss / len(grad_norms),
            grad_norm=sum(grad_norms) / len(grad_norms),
            entropy=self.entropy / tokens,
            kl=self.kl / tokens,
            clip_fraction=self.clipped / tokens,
            rollout_logprob_gap=self.logprob_gap / tokens,
            astray=self.astray / tokens,
        )
