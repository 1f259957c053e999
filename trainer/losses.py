"""The loss per token: clipped policy gradient, KL penalty, and the aggregation of tokens into a scalar.

Shapes are (B, T): B rows, T completion tokens. Log-probabilities are nats in float32; masks are True where a token
counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from grpo_env.errors import RunError

from .config import Aggregation, ImportanceLevel, LossConfig
from .custom import check_finite, tensor_of

MAX_LOG_RATIO = 20.0
"""Nats between two probabilities of a token above which ratios and k3 grow no further, as in verl; see TRL#3015."""


@dataclass(frozen=True)
class LossInputs:
    """What a policy loss is computed from: R completions, padded on the right to T tokens.

    All tensors have the shape (R, T) and, except ``mask``, are float32 and 0 where there is no token.
    Log-probabilities are natural logarithms, at the temperature of sampling.

    Attributes:
        logp: log-probabilities of the sampled tokens under the weights being trained. Has a gradient.
        old_logp: the same under the weights before the step's updates; equal to ``logp`` in the first update of a step.
        sampler_logp: what the rollout engine reported when it sampled. Differs from ``old_logp`` by rounding.
        ref_logp: under the reference model; ``None`` without one (``kl.coef`` is 0).
        advantages: one per token, see ``advantages.py``.
        mask: bool, True where a token was sampled.
        entropy: of the distribution that each token was drawn from, in nats. Has a gradient under ``loss.function``.
    """

    logp: Tensor
    old_logp: Tensor
    sampler_logp: Tensor
    ref_logp: Tensor | None
    advantages: Tensor
    mask: Tensor
    entropy: Tensor


def policy_loss(inputs: LossInputs, settings: LossConfig) -> Tensor:
    """The loss of each token, (R, T), to be minimized; aggregation and KL penalty are added to it.

    It is that of ``ppo`` or of the function that ``loss.function`` names. Raises ``RunError``, which names the setting,
    if that fails, or returns something other than one finite number with a gradient for each token.
    """
    if settings.own_function is None:
        return ppo(inputs, settings)
    setting = f"loss.function={settings.function}"
    loss = tensor_of(settings.own_function, inputs, setting, "one loss per token", [tuple(inputs.mask.shape)])
    if not loss.requires_grad:
        raise RunError(
            f"{setting} returned a loss without a gradient, so nothing would be learned; compute it from inputs.logp, "
            "without detach()"
        )
    check_finite(loss[inputs.mask], setting, "tokens")
    return loss.float()


def ppo(inputs: LossInputs, settings: LossConfig) -> Tensor:
    """-min(r A, clip(r, 1 - clip_low, 1 + clip_high) A): Schulman et al. 2017, equation 7; DeepSeekMath, equation 3.

    Two bounds as in DAPO (Yu et al. 2025, equation 10).
    """
    ratio = importance_ratio(inputs, settings.importance_level)
    bounded = ratio.clamp(1 - settings.clip_low, 1 + settings.clip_high)
    return -torch.minimum(ratio * inputs.advantages, bounded * inputs.advantages)


def importance_ratio(inputs: LossInputs, level: ImportanceLevel) -> Tensor:
    """(B, T) ratios of the policy's probabilities to those of the policy that sampled.

    ``token``: r = exp(logp - old_logp), as in PPO and DeepSeekMath. ``sequence``: all tokens of a row have the value of
    its geometric mean, s = exp(mean over the row of logp - old_logp), and each the gradient s * grad logp: GSPO-token
    (Zheng et al. 2025, equations 7 and 14), which for equal advantages within a row is GSPO.
    """
    log_ratio = inputs.logp - inputs.old_logp
    if level == "sequence":
        masked = log_ratio.detach().where(inputs.mask, 0.0)
        mean = masked.sum(1, keepdim=True) / inputs.mask.sum(1, keepdim=True).clamp(min=1)
        log_ratio = mean + inputs.logp - inputs.logp.detach()
    return log_ratio.clamp(max=MAX_LOG_RATIO).exp()


def tis_weight(old_logp: Tensor, sampler_logp: Tensor, cap: float) -> Tensor:
    """(B, T) weights min(exp(old_logp - sampler_logp), cap), without gradient: truncated importance sampling, for a
    sampler whose probabilities differ slightly from the trainer's (Yao et al. 2025).
    """
    return (old_logp - sampler_logp).detach().exp().clamp(max=cap)


def clipped(inputs: LossInputs, settings: LossConfig) -> Tensor:
    """(B, T) True for clipped tokens, which have no gradient; False under ``loss.function``."""
    if settings.function is not None:
        return torch.zeros_like(inputs.mask)
    ratio, advantages = importance_ratio(inputs, settings.importance_level), inputs.advantages
    above, below = ratio > 1 + settings.clip_high, ratio < 1 - settings.clip_low
    return (above & (advantages > 0)) | (below & (advantages < 0))


def kl_penalty(logp: Tensor, ref_logp: Tensor) -> Tensor:
    """Per-token estimate of KL(policy || reference) for tokens sampled from the policy (k3 of Schulman 2020).

    With d = ref_logp - logp: exp(d) - d - 1, unbiased and never negative: DeepSeekMath, equation 4. As a loss (Tang and
    Munos 2025), it has the gradient of KL(reference || policy) on average.

    d is at most ``MAX_LOG_RATIO`` in value, since exp(d) is infinite in float32 from 89 nats on; the gradient there
    stays that of the bound, so the penalty still pulls back.
    """
    d = ref_logp - logp
    excess = (d.detach() - MAX_LOG_RATIO).clamp(min=0.0)
    return torch.expm1(d - excess) - d


def aggregate(per_token: Tensor, mask: Tensor, mode: Aggregation, denominator: float) -> Tensor:
    """Sum (B, T) token losses into a scalar and divide by ``denominator``, which is that of *all* rows of the step.

    The losses of micro-batches therefore add up to the loss of the batch. ``sequence`` first divides every row by its
    length (DeepSeekMath, equation 3); ``token`` and ``constant`` differ in the denominator only.
    """
    masked = per_token.where(mask, 0.0)
    if mode == "sequence":
        masked = masked / mask.sum(1, keepdim=True).clamp(min=1)
    return masked.sum() / denominator


def denominators(lengths: Tensor, completions: int, mode: Aggregation, max_new_tokens: int) -> float:
    """The denominator of ``aggregate``.

    ``token``: the number of tokens (DAPO, equation 12); ``sequence``: the number of rows (DeepSeekMath, equation
    3); ``constant``: ``completions`` x ``max_new_tokens``, the constant of Dr. GRPO (Liu et al. 2025,
    arXiv:2503.20783). It must not depend on lengths, so truncated completions that are masked count as well.

    Args:
        lengths: completion lengths of all rows of the step that are part of the loss.
        completions: number of scored completions of the step, whether part of the loss or masked.
        mode: as in ``aggregate``.
        max_new_tokens: the generation budget.
    """
    if mode == "token":
        return float(lengths.sum())
    return float(completions * max_new_tokens if mode == "constant" else len(lengths))
