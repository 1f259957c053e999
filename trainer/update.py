"""One step's updates: forward, loss, backward, clipping, optimizer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from grpo_env.errors import RunError

from .batch import Batch, MicroBatch
from .config import TrainConfig
from .engine.logprobs import Entropy, completion_logp
from .engine.policy import Policy
from .engine.sharding import optimizer_step
from .losses import LossInputs, aggregate, clipped, kl_penalty, policy_loss, tis_weight
from .optimizer import learning_rate
from .out_of_memory import with_oom_retry

MAX_GAP = 1.0
"""Limit on ``rollout_logprob_gap``, nats, where another engine than the policy samples: ten times the alert's. Rounding
to bfloat16 makes 0.04, tokens that another model sampled several."""


def update(
    policy: Policy, optimizer: torch.optim.Optimizer, batches: Sequence[Batch], config: TrainConfig, step: int
) -> dict[str, float]:
    """One update on each mini-batch, in order; all of that ``optimizer.updates_per_step`` times.

    Returns metrics of the last time: the means over mini-batches of their losses and gradient norms, and those of
    ``SUMS`` over the tokens that went through the model, NaN if there were none. ``rollout_logprob_gap`` is the mean
    absolute difference, in nats, between the log-probabilities under the weights before the step and those of the
    sampler: the effect of rounding, or of another engine, on the same weights.

    The gradient depends neither on the division into micro-batches nor on the number of processes: every micro-batch
    is divided by the denominator of its whole mini-batch, and the results are summed. Raises ``RunError``, before the
    weights change, if the loss or its gradient is not finite.
    """
    rate = learning_rate(config.optimizer, step, config.steps)
    for group in optimizer.param_groups:
        group["lr"] = rate
    for batch in batches[1:]:  # whose own first update comes after the weights have changed
        add_logp(policy, batch, config.sampling.temperature, "old_logp")
    for _ in range(config.optimizer.updates_per_step):
        sums, norms = torch.zeros(len(SUMS), dtype=torch.float64), list[float]()
        for batch in batches:
            batch_sums, norm = _update_once(policy, optimizer, batch, config, step)
            sums += batch_sums
            norms.append(norm)
    loss, *per_token, tokens = sums.tolist()
    means = {name: value / (tokens or math.nan) for name, value in zip(SUMS[1:-1], per_token, strict=True)}
    return {"loss": loss / len(norms), "grad_norm": sum(norms) / len(norms), **means}


def add_logp(policy: Policy, batch: Batch, temperature: float, name: Literal["old_logp", "ref_logp"]) -> None:
    """Set these log-probabilities of all micro-batches, under the current weights."""

    def compute() -> None:
        for micro in batch.micro_batches:
            setattr(micro, name, completion_logp(policy, micro, temperature)[0])

    with torch.no_grad():
        with_oom_retry(policy, batch, compute)


def _update_once(
    policy: Policy, optimizer: torch.optim.Optimizer, batch: Batch, config: TrainConfig, step: int
) -> tuple[Tensor, float]:
    """One update on a mini-batch; returns the ``SUMS`` over all processes and the gradient's norm."""
    sums = with_oom_retry(policy, batch, lambda: compute_gradient(policy, optimizer, batch, config))
    sums = policy.accelerator.reduce(sums.float().to(policy.device), "sum").cpu().double()
    loss = float(sums[0])
    gap = float(sums[SUMS.index("rollout_logprob_gap")]) / (float(sums[-1]) or 1.0)
    engine = policy.rollout_engine
    if gap > MAX_GAP and engine is not None and not engine.uses_policy_model:
        raise RunError(
            f"step {step}: log-probabilities in the loss differ by {gap:.3g} nats a token from those of sampling, more "
            f"than {MAX_GAP:g}: the rollout engine reports wrong ones, or has other weights; the weights were left as "
            "they were"
        )
    grad_norm = optimizer_step(policy, optimizer, config.optimizer.max_grad_norm) if math.isfinite(loss) else math.nan
    if not math.isfinite(grad_norm):
        raise RunError(
            f"step {step}: the loss ({loss:g}) or its gradient (norm {grad_norm:g}) is not finite; the "
            "weights were left as they were. Try a lower optimizer.learning_rate (now "
            f"{config.optimizer.learning_rate:g}) or engine.precision=fp32"
        )
    return sums, grad_norm


def compute_gradient(policy: Policy, optimizer: torch.optim.Optimizer, batch: Batch, config: TrainConfig) -> Tensor:
    """Set the weights' gradient to that of this process's micro-batches; returns the ``SUMS`` over their tokens."""
    optimizer.zero_grad()
    sums = torch.zeros(len(SUMS), dtype=torch.float64)
    entropy_for: Entropy = "value" if config.loss.function is None else "gradient"  # the metric needs the value
    for micro in batch.micro_batches:
        logp, entropy = completion_logp(policy, micro, config.sampling.temperature, entropy_for)
        if micro.old_logp is None:  # in the first update the weights are those before the step
            micro.old_logp = logp.detach()
        loss, micro_sums = micro_batch_loss(micro, logp, entropy, config, batch.denominator)
        policy.accelerator.backward(loss)
        sums += micro_sums
    return sums


SUMS = ("loss", "entropy", "kl", "clip_fraction", "rollout_logprob_gap", "tokens")
"""What is summed over tokens; the loss is divided by the mini-batch's denominator already."""


def micro_batch_loss(
    micro: MicroBatch, logp: Tensor, entropy: Tensor, config: TrainConfig, denominator: float
) -> tuple[Tensor, Tensor]:
    """The micro-batch's part of the loss, and its ``SUMS``, in float64 on the CPU.

    Args:
        micro: with ``old_logp`` and, for a KL penalty, ``ref_logp``.
        logp: (rows, T) log-probabilities under the policy, as of ``completion_logp``; and so is ``entropy``.
        config: loss and KL settings.
        denominator: of the whole mini-batch, see ``denominators``.
    """
    assert micro.old_logp is not None
    settings, mask = config.loss, micro.sampled
    inputs = LossInputs(logp, micro.old_logp, micro.sampler_logp, micro.ref_logp, micro.advantages, mask, entropy)
    per_token = policy_loss(inputs, settings)
    if settings.tis_cap is not None:
        per_token = per_token * tis_weight(micro.old_logp, micro.sampler_logp, settings.tis_cap)
    kl = torch.zeros_like(per_token)
    if micro.ref_logp is not None:
        kl = kl_penalty(logp, micro.ref_logp)
        per_token = per_token + config.kl.coef * kl
    loss = aggregate(per_token, mask, settings.aggregation, denominator)
    with torch.no_grad():
        gap = (micro.old_logp - micro.sampler_logp).abs().sum()  # both are 0 where no token was sampled
        is_clipped = clipped(inputs, settings) & mask
        sums = loss, entropy.sum(), kl.where(mask, 0.0).sum(), is_clipped.sum(), gap, mask.sum()
        return loss, torch.stack([value.float() for value in sums]).cpu().double()
