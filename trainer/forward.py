"""Logits of completion tokens: with each prompt computed once for all its completions, or plainly.

A group's rows begin with the same prompt. Its keys and values are computed once, and the completions go through the
model on top of them; autograd flows through the cached keys and values, and adds up what all completions ask of the
prompt. The gradient is that of the plain path, where every row carries its own copy of the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from .policy import Policy

Piece = tuple[Tensor, Tensor]  # logits (n, V), and a mask (rows, T) that is True at the n tokens they predict


def completion_logits(
    policy: Policy, model: Any, prompts: Sequence[list[int]], ids: Tensor, completion_mask: Tensor
) -> list[Piece]:
    """Logits of every completion token, in pieces that together cover ``completion_mask``.

    Args:
        policy: whose settings count: precision, and whether prompts are shared.
        model: the policy's model or the reference.
        prompts: each row's prompt.
        ids: (rows, T) completion tokens, padded on the right.
        completion_mask: (rows, T) True where there is a token.
    """
    with policy.computing():
        if policy.shares_prompts and not model.is_activation_checkpointing:  # it drops the cache without an error
            return shared_prompts(policy, model, prompts, ids, completion_mask)
        return own_prompts(model, prompts, ids, completion_mask)


def own_prompts(model: Any, prompts: Sequence[list[int]], ids: Tensor, completion_mask: Tensor) -> list[Piece]:
    """The plain path: every row is its prompt and completion, padded on the right.

    Causal attention never looks there, so there is no attention mask and SDPA can take its causal kernel.
    """
    width = max(map(len, prompts)) + ids.shape[1]
    whole = ids.new_zeros(len(prompts), width)
    predicts = torch.zeros(len(prompts), width, dtype=torch.bool, device=ids.device)
    for row, (prompt, length) in enumerate(zip(prompts, completion_mask.sum(1).tolist(), strict=True)):
        start = len(prompt)
        whole[row, :start] = torch.tensor(prompt)
        whole[row, start : start + length] = ids[row, :length]
        predicts[row, start - 1 : start + length - 1] = True
    return [(model(input_ids=whole, use_cache=False, logits_to_keep=predicts).logits, completion_mask)]


def shared_prompts(
    policy: Policy, model: Any, prompts: Sequence[list[int]], ids: Tensor, completion_mask: Tensor
) -> list[Piece]:
    """The fast path: distinct prompts first, then all completions on top of their prompt's keys and values."""
    distinct = {tuple(prompt): None for prompt in prompts}
    place = {prompt: index for index, prompt in enumerate(distinct)}
    own = torch.tensor([place[tuple(prompt)] for prompt in prompts], device=ids.device)
    prompt_ids, seen = left_pad([list(prompt) for prompt in distinct], ids.device)
    cache = DynamicCache(config=model.config)
    positions = (seen.cumsum(1) - 1).clamp(min=0)
    first = forward(policy, model, prompt_ids, seen, positions, cache, logits_to_keep=1)[:, 0]
    pieces = [(first[own], _only(completion_mask, slice(0, 1)))]
    if ids.shape[1] > 1:
        cache.batch_select_indices(own)
        lengths = seen.sum(1)[own]
        seen = torch.cat([seen[own], seen.new_ones(len(prompts), ids.shape[1] - 1)], 1)
        positions = lengths[:, None] + torch.arange(ids.shape[1] - 1, device=ids.device)
        rest = completion_mask[:, 1:]
        logits = forward(policy, model, ids[:, :-1], seen, positions, cache, logits_to_keep=rest)
        pieces.append((logits, _only(completion_mask, slice(1, None))))
    return pieces


def shares_prompts(policy: Policy) -> bool:
    """Whether the fast path gives the plain one's logits for this model: both are tried on three short rows."""
    prompts = [[1, 2, 3], [1, 2, 3], [2, 1]]
    ids = torch.tensor([[1, 3, 2], [2, 0, 0], [3, 1, 0]], device=policy.device)
    mask = torch.tensor([[True] * 3, [True, False, False], [True, True, False]], device=policy.device)
    try:
        with torch.inference_mode():
            (plain,) = own_prompts(policy.model, prompts, ids, mask)
            pieces = shared_prompts(policy, policy.model, prompts, ids, mask)
    except Exception:  # a family without such a cache says so in a way of its own
        return False
    found = torch.zeros(*mask.shape, plain[0].shape[-1], device=policy.device, dtype=plain[0].dtype)
    for logits, where in pieces:
        found[where] = logits
    return torch.allclose(found[mask], plain[0], rtol=1e-3, atol=1e-3 * float(plain[0].abs().max()))


def _only(mask: Tensor, columns: slice) -> Tensor:
    kept = torch.zeros_like(mask)
    kept[:, columns] = mask[:, columns]
    return kept


def forward(
    policy: Policy, model: Any, ids: Tensor, seen: Tensor, positions: Tensor, cache: Any, *, logits_to_keep: Any
) -> Tensor:
    """Logits of ``ids`` (rows, L) on top of a cache, which grows by them. ``seen`` (rows, cached + L) masks padding."""
    where = {"position_ids": positions} if policy.takes_positions else {}
    logits: Tensor = model(
        input_ids=ids,
        attention_mask=seen,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=logits_to_keep,
        **where,
    ).logits
    return logits


def left_pad(prompts: Sequence[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """(P, L) ids and mask, padded on the left so that all prompts end in the same column. Padding ids mean nothing."""
    width = max(map(len, prompts))
    ids = torch.zeros(len(prompts), width, dtype=torch.long)
    seen = torch.zeros(len(prompts), width, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = torch.tensor(prompt)
        seen[row, width - len(prompt) :] = 1
    return ids.to(device), seen.to(device)
