"""Log-probabilities and entropies of completion tokens, in chunks, so that the logits of all tokens never coexist."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, Protocol

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from .forward import completion_states, head_of
from .policy import Policy

# Logits in one float32 softmax: 2**23 of them take 32 MB, whatever the vocabulary. A GPU wants products of some hundred
# rows: 2**26 logits are 441 tokens of a vocabulary of 152,000.
CHUNK, CUDA_CHUNK = 2**23, 2**26
BLOCK = 2**16
"""Numbers of a step of the entropy on a CPU: they stay in its cache, and twice as fast."""

Entropy = Literal["none", "value", "gradient"]
"""Whether entropies are computed, and whether with a gradient."""


class Rows(Protocol):
    """Arguments of ``completion_states``; ``sampled`` (rows, T) is True where a token was sampled."""

    prompts: list[list[int]]
    ids: Tensor
    completion_mask: Tensor
    sampled: Tensor


def completion_logp(policy: Policy, rows: Rows, temperature: float, entropy: Entropy = "none") -> tuple[Tensor, Tensor]:
    """(rows, T) log-probabilities of the sampled tokens and entropies at their positions, in nats; 0 elsewhere.

    Without ``entropy`` all entropies are 0.
    """
    ids, sampled = rows.ids, rows.sampled
    logp, entropies = (torch.zeros(ids.shape, device=ids.device) for _ in range(2))
    head = head_of(policy)
    has_told = bool((sampled != rows.completion_mask).any())
    for states, index in completion_states(policy, rows.prompts, ids, rows.completion_mask):
        if has_told:  # tokens between turns need no logits
            chosen = sampled[index]
            positions = index[0].nonzero(as_tuple=True) if len(index) == 1 else index  # from a mask
            states, index = states[chosen], tuple(axis[chosen] for axis in positions)
        values = token_logp(states, head, ids[index], policy.vocab_size, temperature, entropy)
        logp, entropies = logp.index_put(index, values[0]), entropies.index_put(index, values[1])
    return logp, entropies


def token_logp(
    states: Tensor,
    head: Callable[[Tensor], Tensor],
    ids: Tensor,
    vocabulary: int,
    temperature: float,
    entropy: Entropy = "none",
) -> tuple[Tensor, Tensor]:
    """Log-probabilities of ``ids`` (N,) given ``states`` (N, D) at a temperature, and entropies, both (N,).

    ``head`` maps states (n, D) to logits (n, V). Logits and their float32 softmax are computed in chunks, and again in
    the backward pass, so that only the states stay in memory.
    """
    rows = max(1, (CUDA_CHUNK if states.device.type == "cuda" else CHUNK) // vocabulary)
    if len(ids) <= rows:
        return _softmax_chunk(states, head, ids, temperature, entropy)
    chunk = partial(checkpoint, _softmax_chunk, use_reentrant=False, preserve_rng_state=False)  # nothing is random
    chunks = [
        chunk(part, head, targets, temperature, entropy)
        for part, targets in zip(torch.split(states, rows), torch.split(ids, rows), strict=True)
    ]
    return torch.cat([logp for logp, _ in chunks]), torch.cat([entropies for _, entropies in chunks])


def _softmax_chunk(
    states: Tensor, head: Callable[[Tensor], Tensor], ids: Tensor, temperature: float, entropy: Entropy
) -> tuple[Tensor, Tensor]:
    logits = head(states).float()
    log_probs = torch.log_softmax(logits if temperature == 1 else logits / temperature, dim=-1)
    logp = log_probs.gather(-1, ids[..., None]).squeeze(-1)
    if entropy == "none":
        return logp, torch.zeros_like(logp)
    return logp, entropies_of(log_probs, entropy == "gradient")  # last: without a gradient it is not computed again


def entropies_of(log_probs: Tensor, gradient: bool) -> Tensor:
    """(n,) entropies -sum p log p of (n, V) log-probabilities, of which -inf counts 0 in value and gradient."""
    if gradient:
        finite = log_probs.clamp(min=torch.finfo(log_probs.dtype).min)
        return -(finite.exp() * finite).sum(-1)
    with torch.no_grad():
        rows = len(log_probs) if log_probs.device.type == "cuda" else BLOCK // log_probs.shape[-1]
        blocks = torch.split(log_probs, max(1, rows))
        return torch.cat([-block.exp().mul_(block).nan_to_num_(0.0).sum(-1) for block in blocks])
