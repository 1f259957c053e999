"""The loss, token by token: clipped policy gradient, KL penalty, and how tokens become one number.

Shapes are (B, T): B rows, T completion tokens. Log-probabilities are nats in float32; masks are True where a token
counts.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

Aggregate = Literal["token", "sequence", "constant"]
Estimator = Literal["k1", "k2", "k3"]

# Logits in one float32 softmax: 2**24 of them take 64 MB, whatever the vocabulary.
CHUNK = 2**24


def token_logp(logits: Tensor, ids: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """Log-probability of ``ids`` (N,) under ``logits`` (N, V) at a temperature, and the entropy there, both (N,).

    The softmax is float32, taken in chunks that are recomputed in the backward pass, so that only the logits
    themselves stay in memory. The entropy has no gradient.
    """
    rows = max(1, CHUNK // logits.shape[-1])
    if len(ids) <= rows:
        return _softmax_chunk(logits, ids, temperature)
    chunks = zip(torch.split(logits, rows), torch.split(ids, rows), strict=True)
    done = [checkpoint(_softmax_chunk, part, wanted, temperature, use_reentrant=False) for part, wanted in chunks]
    return torch.cat([logp for logp, _ in done]), torch.cat([entropy for _, entropy in done])


def _softmax_chunk(logits: Tensor, ids: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    everything = torch.log_softmax(logits.float() / temperature, dim=-1)
    logp = everything.gather(-1, ids[..., None]).squeeze(-1)
    with torch.no_grad():
        entropy = -(everything.exp() * everything).nan_to_num(0.0).sum(-1)
    return logp, entropy


def policy_loss(logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_low: float, clip_high: float) -> Tensor:
    """PPO's clipped surrogate per token, negated: -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A).

    r = exp(logp - old_logp). Schulman et al. 2017, equation 7; DeepSeekMath, equation 3; two bounds as in DAPO (Yu
    et al. 2025, equation 10). At r = 1 its gradient is REINFORCE's, -A times the gradient of logp.
    """
    ratio = torch.exp(logp - old_logp)
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip_low, 1 + clip_high) * advantages)


def clipped(logp: Tensor, old_logp: Tensor, advantages: Tensor, *, clip_low: float, clip_high: float) -> Tensor:
    """True for tokens that the clip cuts, so that they get no gradient from ``policy_loss``."""
    ratio = torch.exp(logp - old_logp)
    return ((ratio > 1 + clip_high) & (advantages > 0)) | ((ratio < 1 - clip_low) & (advantages < 0))


def kl_penalty(logp: Tensor, ref_logp: Tensor, estimator: Estimator) -> Tensor:
    """Per-token estimate of KL(policy || reference) for tokens sampled from the policy (Schulman 2020).

    With d = ref_logp - logp: k1 = -d, unbiased and noisy; k2 = d^2 / 2, biased, but its gradient is the KL's own;
    k3 = exp(d) - d - 1, unbiased and never negative: DeepSeekMath, equation 4.
    """
    d = ref_logp - logp
    if estimator == "k1":
        return -d
    if estimator == "k2":
        return d.square() / 2
    return torch.expm1(d) - d


def aggregate(per_token: Tensor, completion_mask: Tensor, mode: Aggregate, denominator: float) -> Tensor:
    """Sum (B, T) token losses into a scalar; ``denominator`` comes from ``denominators`` over *all* rows.

    So parts of a batch, each aggregated with the whole batch's denominator, add up to the whole batch's loss.
    ``sequence`` divides every row by its own length first (DeepSeekMath, equation 3); ``token`` and ``constant``
    only differ in the denominator.
    """
    kept = per_token.where(completion_mask, 0.0)
    if mode == "sequence":
        kept = kept / completion_mask.sum(1, keepdim=True).clamp(min=1)
    return kept.sum() / denominator


def denominators(lengths: Tensor, mode: Aggregate, max_new_tokens: int) -> float:
    """What ``aggregate`` divides by, for rows of these completion lengths (all rows of the step that count).

    ``token``: the number of tokens (DAPO, equation 12); ``sequence``: the number of rows (DeepSeekMath, equation
    3); ``constant``: rows x ``max_new_tokens``, so that no length enters at all (Dr. GRPO, Liu et al. 2025).
    """
    if mode == "token":
        return float(lengths.sum())
    return float(len(lengths) * (max_new_tokens if mode == "constant" else 1))
