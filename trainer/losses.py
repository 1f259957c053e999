"""The loss per token: clipped policy gradient, KL penalty, and the aggregation of tokens into a scalar.

Shapes are (B, T): B rows, T completion tokens. Log-probabilities are nats in float32; masks are True where a token
counts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .config import Aggregation, ImportanceLevel, KLEstimator, Surrogate


def importance_ratio(logp: Tensor, old_logp: Tensor, completion_mask: Tensor, level: ImportanceLevel) -> Tensor:
    """(B, T) ratios of the policy's probabilities to those of the policy that sampled.

    ``token``: r = exp(logp - old_logp), as in PPO and DeepSeekMath. ``sequence``: all tokens of a row have the value of
    its geometric mean, s = exp(mean over the row of logp - old_logp), and each the gradient s * grad logp: GSPO-token
    (Zheng et al. 2025, equations 7 and 14), which for equal advantages within a row is GSPO.
    """
    log_ratio = logp - old_logp
    if level == "sequence":
        masked = log_ratio.detach().where(completion_mask, 0.0)
        mean = masked.sum(1, keepdim=True) / completion_mask.sum(1, keepdim=True).clamp(min=1)
        log_ratio = mean + logp - logp.detach()
    return log_ratio.exp()


def tis_weight(old_logp: Tensor, sampler_logp: Tensor, cap: float) -> Tensor:
    """(B, T) weights min(exp(old_logp - sampler_logp), cap), without gradient: truncated importance sampling, for a
    sampler whose probabilities differ slightly from the trainer's (Yao et al. 2025).
    """
    return (old_logp - sampler_logp).detach().exp().clamp(max=cap)


def astray_rows(old_logp: Tensor, sampler_logp: Tensor, completion_mask: Tensor, limit: float) -> Tensor:
    """(B, 1) True for rows whose mean of old_logp - sampler_logp, in nats a token, is beyond +-``limit``.

    That mean is the logarithm of the row's geometric mean ratio (``sequence`` in ``importance_ratio``).
    """
    log_ratio = (old_logp - sampler_logp).where(completion_mask, 0.0)
    mean = log_ratio.sum(1, keepdim=True) / completion_mask.sum(1, keepdim=True).clamp(min=1)
    return mean.abs() > limit


def policy_loss(
    logp: Tensor,
    ratio: Tensor,
    advantages: Tensor,
    surrogate: Surrogate = "ppo",
    *,
    clip_low: float,
    clip_high: float,
    dual_clip: float | None = None,
) -> Tensor:
    """The loss to minimize, per token. At ratio 1, the gradient of each surrogate is -A times the gradient of logp.

    ``ppo``: -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A), Schulman et al. 2017, equation 7; DeepSeekMath,
    equation 3; two bounds as in DAPO (Yu et al. 2025, equation 10). With ``dual_clip`` c > 1 it is at most -c A where
    A < 0 (Ye et al. 2020, equation 5), which bounds the loss of tokens with large ratios.
    ``cispo``: -clip(r).detach() A logp, so clipped tokens keep a gradient (MiniMax-M1, Chen et al. 2025, equation 4).
    ``reinforce``: -A logp, without a ratio (Williams 1992).
    """
    if surrogate == "reinforce":
        return -advantages * logp
    bounded = ratio.clamp(1 - clip_low, 1 + clip_high)
    if surrogate == "cispo":
        return -bounded.detach() * advantages * logp
    loss = -torch.minimum(ratio * advantages, bounded * advantages)
    if dual_clip is not None:
        loss = torch.minimum(loss, -dual_clip * advantages).where(advantages < 0, loss)
    return loss


def clipped(
    ratio: Tensor,
    advantages: Tensor,
    surrogate: Surrogate = "ppo",
    *,
    clip_low: float,
    clip_high: float,
    dual_clip: float | None = None,
) -> Tensor:
    """(B, T) True for clipped tokens: under ``ppo`` they have no gradient, under ``cispo`` a bounded one."""
    if surrogate == "reinforce":
        return torch.zeros_like(ratio, dtype=torch.bool)
    above, below = ratio > 1 + clip_high, ratio < 1 - clip_low
    if surrogate == "cispo":
        return above | below
    beyond = (advantages < 0) & (ratio > dual_clip) if dual_clip is not None else torch.zeros_like(above)
    return (above & (advantages > 0)) | (below & (advantages < 0)) | beyond


def kl_penalty(logp: Tensor, ref_logp: Tensor, estimator: KLEstimator) -> Tensor:
    """Per-token estimate of KL(policy || reference) for tokens sampled from the policy (Schulman 2020).

    With d = ref_logp - logp: k1 = -d, unbiased, high variance; k2 = d^2 / 2, biased, but its gradient is that of the
    KL; k3 = exp(d) - d - 1, unbiased and never negative: DeepSeekMath, equation 4.
    """
    d = ref_logp - logp
    if estimator == "k1":
        return -d
    if estimator == "k2":
        return d.square() / 2
    return torch.expm1(d) - d


def aggregate(per_token: Tensor, completion_mask: Tensor, mode: Aggregation, denominator: float) -> Tensor:
    """Sum (B, T) token losses into a scalar and divide by ``denominator``, which is that of *all* rows of the step.

    The losses of micro-batches therefore add up to the loss of the batch. ``sequence`` first divides every row by its
    length (DeepSeekMath, equation 3); ``token`` and ``constant`` differ in the denominator only.
    """
    masked = per_token.where(completion_mask, 0.0)
    if mode == "sequence":
        masked = masked / completion_mask.sum(1, keepdim=True).clamp(min=1)
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
