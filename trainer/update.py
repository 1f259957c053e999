"""One step's learning: forward, loss, backward, clip, optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import torch
from accelerate.utils import gather_object
from accelerate.utils.memory import clear_device_cache
from torch import Tensor
from transformers.modeling_layers import GradientCheckpointingLayer

from grpo_env.errors import RunError, UsageError, memory_ran_out

from .batch import Batch, MicroBatch, pad_micro_batches
from .config import TrainConfig
from .engine.bf16_adamw import StochasticRoundingAdamW
from .engine.forward import completion_states, logits_of
from .engine.policy import Policy
from .engine.sharding.weights import backward, is_sharded, optimizer_step
from .losses import aggregate, clipped, denominators, importance_ratio, kl_penalty, policy_loss, tis_weight, token_logp

T = TypeVar("T")


@dataclass(frozen=True)
class UpdateStats:
    """What an update did. Means are over the tokens that went through the model; NaN where none did.

    ``rollout_logprob_gap`` is the mean absolute difference, in nats, between the log-probabilities of the step's first
    update and those of the sampler: the effect of rounding, or of another engine, on the same weights.
    """

    loss: float
    grad_norm: float
    entropy: float
    kl: float
    clip_fraction: float
    rollout_logprob_gap: float


def make_optimizer(policy: Policy, config: TrainConfig) -> torch.optim.Optimizer:
    """AdamW over the trained weights. The learning rate is set anew at every step.

    ``adamw_8bit`` keeps moments in 8 bits (Dettmers et al. 2022). Raises ``UsageError`` where it lacks bitsandbytes.
    """
    settings: dict[str, Any] = {
        "lr": config.optimizer.learning_rate,
        "betas": (config.optimizer.beta1, config.optimizer.beta2),
        "weight_decay": config.optimizer.weight_decay,
    }
    if config.optimizer.name == "adamw_bf16":
        return StochasticRoundingAdamW(policy.trained.values(), config.seed, **settings)
    if config.optimizer.name == "adamw":
        return torch.optim.AdamW(policy.trained.values(), **settings, fused=policy.device.type in ("cpu", "cuda"))
    try:
        from bitsandbytes.optim import AdamW8bit
    except ImportError as error:
        raise UsageError("optimizer.name=adamw_8bit needs bitsandbytes: pip install 'grpo_env[8bit]'") from error
    optimizer: torch.optim.Optimizer = AdamW8bit(policy.trained.values(), **settings)
    return optimizer


def cast_to_bf16(policy: Policy) -> None:
    """Keep the trained weights in bfloat16. Raises ``UsageError`` where the policy does not compute in it."""
    if policy.autocast != torch.bfloat16:
        raise UsageError("optimizer.name=adamw_bf16 keeps weights in bfloat16 and needs engine.precision=bf16")
    for weight in policy.trained.values():
        weight.data = weight.data.bfloat16()


def learning_rate(config: TrainConfig, step: int) -> float:
    """The learning rate of a step (0-based), from the config alone, so that there is no state to save."""
    if step < config.optimizer.warmup_steps:
        return config.optimizer.learning_rate * (step + 1) / (config.optimizer.warmup_steps + 1)
    if config.optimizer.lr_schedule == "constant":
        return config.optimizer.learning_rate
    done = (step - config.optimizer.warmup_steps) / max(1, config.steps - config.optimizer.warmup_steps)
    return config.optimizer.learning_rate * (
        config.optimizer.min_lr_ratio + (1 - config.optimizer.min_lr_ratio) * (1 + math.cos(math.pi * done)) / 2
    )


def update(
    policy: Policy,
    optimizer: torch.optim.Optimizer,
    reference: Mapping[str, Tensor] | None,
    batch: Batch,
    config: TrainConfig,
    step: int,
) -> UpdateStats:
    """``updates_per_step`` optimizer updates on one batch; the statistics are of the last.

    The gradient does not depend on micro-batches, nor on how many processes share the work: every part is divided
    by the whole step's denominator, and parts are summed. ``reference`` holds the weights of the reference model.
    Raises ``RunError``, before the optimizer has moved anything, for a loss or gradient that is not finite.
    """
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(config, step)
    denominator = max(1.0, denominators(batch.lengths, config.loss.aggregation, config.sampling.max_new_tokens))
    stats = UpdateStats(*[math.nan] * 6)
    if is_sharded(policy):
        most = max(gather_object([len(batch.micro_batches)]))
        batch.micro_batches = pad_micro_batches(batch.micro_batches, most, policy.device)
    if reference is not None:
        with_oom_retry(policy, batch, lambda: add_reference(policy, reference, batch.micro_batches, config))
    for _ in range(config.optimizer.updates_per_step):
        sums = with_oom_retry(policy, batch, lambda: add_gradients(policy, optimizer, batch, config, denominator))
        sums = policy.accelerator.reduce(sums.to(policy.device, torch.float32), "sum").double()
        loss_value, *totals, tokens = sums.tolist()
        norm = (
            optimizer_step(policy, optimizer, config.optimizer.max_grad_norm) if math.isfinite(loss_value) else math.nan
        )
        if not math.isfinite(norm):
            raise RunError(
                f"step {step}: the loss ({loss_value:g}) or its gradient (norm {norm:g}) is not finite; the weights "
                "were left as they were. Try a lower optimizer.learning_rate (now "
                f"{config.optimizer.learning_rate:g}) or engine.precision=fp32"
            )
        stats = UpdateStats(loss_value, norm, *(total / tokens if tokens else math.nan for total in totals))
    return stats


def with_oom_retry(policy: Policy, batch: Batch, work: Callable[[], T]) -> T:
    """``work``, with every micro-batch of the batch cut in half as often as memory runs out.

    Raises ``RunError`` where single completions are too much.
    """
    while True:
        try:
            return work()
        except (MemoryError, RuntimeError) as error:
            if not memory_ran_out(error):
                raise
            if is_sharded(policy) or all(len(micro.prompts) == 1 for micro in batch.micro_batches):
                work_size = "these engine.micro_batch_tokens" if is_sharded(policy) else "one completion"
                raise RunError(
                    f"out of memory with {work_size} at a time; try engine.gradient_checkpointing=true, "
                    "engine.precision=bf16 or a lower sampling.max_new_tokens"
                ) from error
        # After the except block, which holds the failed attempt's tensors.
        clear_device_cache(garbage_collection=True)
        batch.micro_batches = [half for micro in batch.micro_batches for half in micro.halves()]
        batch.fits = max(micro.positions(shared=policy.shares_prompts) for micro in batch.micro_batches)


def add_gradients(
    policy: Policy, optimizer: torch.optim.Optimizer, batch: Batch, config: TrainConfig, denominator: float
) -> Tensor:
    """The batch's gradient, in the weights; returns the sums of ``micro_batch_loss``."""
    optimizer.zero_grad()
    sums = torch.zeros(6, dtype=torch.float64)
    _recompute(policy, config.engine.gradient_checkpointing)
    for micro in batch.micro_batches:
        loss, parts = micro_batch_loss(policy, micro, config, denominator)
        backward(policy, loss)
        sums += parts
    _recompute(policy, False)
    return sums


def _recompute(policy: Policy, on: bool) -> None:
    """Checkpointed layers recompute in training mode; what is in them stays out of it, where there may be dropout."""
    for layer in policy.model.modules():
        if isinstance(layer, GradientCheckpointingLayer):
            layer.training = on


def add_reference(
    policy: Policy, reference: Mapping[str, Tensor], micro_batches: Sequence[MicroBatch], config: TrainConfig
) -> None:
    """The reference's log-probabilities of all completion tokens, into the micro-batches."""
    with torch.no_grad(), policy.swapped_weights(reference):
        for micro in micro_batches:
            micro.ref_logp, _ = _row_logp(policy, micro, config)


def micro_batch_loss(
    policy: Policy, micro: MicroBatch, config: TrainConfig, denominator: float
) -> tuple[Tensor, Tensor]:
    """The micro-batch's share of the loss; loss, entropy, KL, clipped, sampler gap and tokens, summed over its tokens.

    The first update of a step sees the weights that sampled, so its own log-probabilities are the old ones.
    """
    mask = micro.completion_mask
    logp, entropy = _row_logp(policy, micro, config)
    if micro.old_logp is None:
        micro.old_logp = logp.detach()
    ratio = importance_ratio(logp, micro.old_logp, mask, config.loss.importance_level)
    bounds: dict[str, Any] = {
        "clip_low": config.loss.clip_low,
        "clip_high": config.loss.clip_high,
        "dual_clip": config.loss.dual_clip,
    }
    per_token = policy_loss(logp, ratio, micro.advantages, config.loss.surrogate, **bounds)
    if config.loss.tis_cap is not None:
        per_token = per_token * tis_weight(micro.old_logp, micro.sampler_logp, config.loss.tis_cap)
    per_token = per_token - config.loss.entropy_coef * entropy
    kl = torch.zeros_like(per_token)
    if micro.ref_logp is not None:
        kl = kl_penalty(logp, micro.ref_logp, config.kl.estimator)
        per_token = per_token + config.kl.coef * (ratio * kl if config.kl.bias_correction else kl)
    loss = aggregate(per_token, mask, config.loss.aggregation, denominator)
    with torch.no_grad():
        cut = clipped(ratio, micro.advantages, config.loss.surrogate, **bounds) & mask
        gap = (micro.old_logp - micro.sampler_logp).abs()  # both are 0 where there is no token
        sums = torch.stack([loss, entropy.sum(), kl.where(mask, 0.0).sum(), cut.sum(), gap.sum(), mask.sum()])
    return loss, sums.cpu().double()


def _row_logp(policy: Policy, micro: MicroBatch, config: TrainConfig) -> tuple[Tensor, Tensor]:
    """(rows, T) log-probabilities of the completion tokens and the entropies there, 0 where there is no token."""
    shape = micro.completion_mask.shape
    logp, entropy = (torch.zeros(shape, device=micro.ids.device) for _ in range(2))
    head = partial(logits_of, policy)
    for states, where in completion_states(policy, micro.prompts, micro.ids, micro.completion_mask):
        wanted = micro.ids[where]
        flat = token_logp(
            states, head, wanted, policy.vocab_size, config.sampling.temperature, config.loss.entropy_coef != 0
        )
        logp, entropy = logp.index_put(where, flat[0]), entropy.index_put(where, flat[1])
    return logp, entropy
