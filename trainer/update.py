"""One step's updates: forward, loss, backward, clipping, optimizer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from transformers.modeling_layers import GradientCheckpointingLayer

from grpo_env.errors import RunError

from .batch import Batch, MicroBatch
from .config import TrainConfig
from .engine.logprobs import Entropy
from .engine.policy import Policy
from .engine.sharding.weights import backward, optimizer_step
from .loss_sums import LossSums, UpdateStats
from .losses import (
    LossInputs,
    aggregate,
    astray_rows,
    clipped,
    denominators,
    importance_ratio,
    kl_penalty,
    loss_function,
    tis_weight,
)
from .oom import with_oom_retry
from .optimizer import learning_rate


def update(
    policy: Policy, optimizer: torch.optim.Optimizer, batches: Sequence[Batch], config: TrainConfig, step: int
) -> UpdateStats:
    """One update on each mini-batch, in order; all of that ``optimizer.updates_per_step`` times. The statistics are
    those of the last time.

    The gradient depends neither on the division into micro-batches nor on the number of processes: every micro-batch
    is divided by the denominator of its whole mini-batch, and the results are summed. Raises ``RunError``, before the
    weights change, if the loss or its gradient is not finite.
    """
    rate = learning_rate(config.optimizer, step, config.steps)
    for group in optimizer.param_groups:
        group["lr"] = rate
    for batch in batches[1:]:  # whose own first update comes after the weights have changed
        add_old_logp(policy, batch, config.sampling.temperature)
    for _ in range(config.optimizer.updates_per_step):
        sums, norms = LossSums(), list[float]()
        for batch in batches:
            batch_sums, norm = _update_once(policy, optimizer, batch, config, step)
            sums = sums + batch_sums
            norms.append(norm)
    return sums.stats(norms)


def add_old_logp(policy: Policy, batch: Batch, temperature: float) -> None:
    """Set ``old_logp`` of all micro-batches, under the current weights."""

    def compute() -> None:
        with torch.no_grad():
            for micro in batch.micro_batches:
                micro.old_logp, _ = micro.logp(policy, temperature)

    with_oom_retry(policy, batch, compute)


def _update_once(
    policy: Policy, optimizer: torch.optim.Optimizer, batch: Batch, config: TrainConfig, step: int
) -> tuple[LossSums, float]:
    """One update on a mini-batch; returns the sums over all processes and the gradient's norm."""
    aggregation, max_new_tokens = config.loss.aggregation, config.sampling.max_new_tokens
    denominator = max(1.0, denominators(batch.lengths, batch.completions, aggregation, max_new_tokens))
    sums = with_oom_retry(policy, batch, lambda: compute_gradient(policy, optimizer, batch, config, denominator))
    sums = sums.over_processes(policy)
    finite = math.isfinite(sums.loss)
    grad_norm = optimizer_step(policy, optimizer, config.optimizer.max_grad_norm) if finite else math.nan
    if not math.isfinite(grad_norm):
        raise RunError(
            f"step {step}: the loss ({sums.loss:g}) or its gradient (norm {grad_norm:g}) is not finite; the "
            "weights were left as they were. Try a lower optimizer.learning_rate (now "
            f"{config.optimizer.learning_rate:g}) or engine.precision=fp32"
        )
    return sums, grad_norm


def compute_gradient(
    policy: Policy, optimizer: torch.optim.Optimizer, batch: Batch, config: TrainConfig, denominator: float
) -> LossSums:
    """Set the weights' gradient to that of this process's micro-batches; returns the sums over their tokens."""
    optimizer.zero_grad()
    sums = LossSums()
    entropy_for: Entropy = "gradient" if config.loss.entropy_coef else "value"  # the metric needs the value
    with _recomputing_activations(policy, config.engine.gradient_checkpointing):
        for micro in batch.micro_batches:
            logp, entropy = micro.logp(policy, config.sampling.temperature, entropy_for)
            if micro.old_logp is None:  # in the first update the weights are those before the step
                micro.old_logp = logp.detach()
            backward(policy, micro_batch_loss(micro, logp, entropy, config, denominator, sums))
    return sums


def micro_batch_loss(
    micro: MicroBatch, logp: Tensor, entropy: Tensor, config: TrainConfig, denominator: float, sums: LossSums
) -> Tensor:
    """The micro-batch's part of the loss. Adds its statistics to ``sums``.

    Args:
        micro: with ``old_logp`` and, for a KL penalty, ``ref_logp``.
        logp: (rows, T) log-probabilities under the policy, as of ``completion_logp``; and so is ``entropy``.
        config: loss and KL settings.
        denominator: of the whole mini-batch, see ``denominators``.
        sums: statistics to add to.
    """
    assert micro.old_logp is not None
    loss_config, mask = config.loss, micro.sampled
    inputs = LossInputs(logp, micro.old_logp, micro.sampler_logp, micro.ref_logp, micro.advantages, mask, entropy)
    per_token = loss_function(loss_config)(inputs)
    if loss_config.tis_cap is not None:
        per_token = per_token * tis_weight(micro.old_logp, micro.sampler_logp, loss_config.tis_cap)
    astray = torch.zeros_like(mask[:, :1])
    if loss_config.max_row_gap is not None:
        astray = astray_rows(micro.old_logp, micro.sampler_logp, mask, loss_config.max_row_gap)
        per_token = per_token.masked_fill(astray, 0.0)
    per_token = per_token - loss_config.entropy_coef * entropy
    kl = torch.zeros_like(per_token)
    if micro.ref_logp is not None:
        kl = kl_penalty(logp, micro.ref_logp, config.kl.estimator)
        penalty = kl
        if config.kl.bias_correction:
            penalty = importance_ratio(logp, micro.old_logp, mask, "token") * kl  # whatever the policy loss has
        per_token = per_token + config.kl.coef * penalty
    loss = aggregate(per_token, mask, loss_config.aggregation, denominator, micro.lengths)
    with torch.no_grad():
        is_clipped = clipped(inputs, loss_config) & mask
        sums.add(
            loss=loss,
            entropy=entropy.sum(),
            kl=kl.where(mask, 0.0).sum(),
            clipped=is_clipped.sum(),
            logprob_gap=(micro.old_logp - micro.sampler_logp).abs().sum(),  # both are 0 where no token was sampled
            astray=(astray & mask).sum(),
            tokens=mask.sum(),
        )
    return loss


@contextmanager
def _recomputing_activations(policy: Policy, on: bool) -> Iterator[None]:
    """Gradient checkpointing works in training mode only. The modules inside the layers stay in evaluation mode, so
    that there is no dropout.
    """
    layers = [layer for layer in policy.model.modules() if isinstance(layer, GradientCheckpointingLayer)]
    try:
        for layer in layers:
            layer.training = on
        yield
    finally:
        for layer in layers:
            layer.training = False
