"""What the model says of completion tokens: with each prompt computed once for all its completions, or plainly.

A group's rows begin with the same prompt. It goes through the model once, in one row with all completions, and they see
its keys and values; autograd adds up what all of them ask of it. The gradient is that of the plain path, where every
completion is a row, with its own copy of the prompt, and with padding.

What comes out are the states below the LM head, where a model's head can be applied apart, so that nobody needs the
logits of all tokens at once; they are many times larger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from .attention import Layout, attend_packed
from .layers import hidden_states, is_supported
from .policy import Policy

Piece = tuple[Tensor, tuple[Tensor, ...]]  # states (n, D), and an index of the n tokens of (rows, T) they predict


def completion_states(
    policy: Policy, prompts: Sequence[list[int]], ids: Tensor, completion_mask: Tensor
) -> list[Piece]:
    """States that predict every completion token, in pieces that together cover ``completion_mask``.

    Args:
        policy: with the weights, its precision and the fast paths it has.
        prompts: each row's prompt.
        ids: (rows, T) completion tokens, padded on the right.
        completion_mask: (rows, T) True where there is a token.
    """
    with policy.computing():
        way = packed if policy.shares_prompts else own_prompts
        return way(policy, prompts, ids, completion_mask)


def logits_of(policy: Policy, states: Tensor) -> Tensor:
    """(n, V) logits of states (n, D)."""
    if not policy.has_head_apart:
        return states
    with policy.computing():
        logits: Tensor = policy.model.get_output_embeddings()(states)
        cap = getattr(policy.model.config.get_text_config(decoder=True), "final_logit_softcapping", None)  # Gemma 2
        return logits if cap is None else cap * torch.tanh(logits / cap)


def _states(policy: Policy, keep: Tensor, **inputs: Any) -> Tensor:
    """(n, D) states where ``keep`` (rows, L) is True, or the logits there of a model whose head is not apart."""
    if policy.has_head_apart:
        states: Tensor = policy.model.get_decoder()(**inputs).last_hidden_state[keep]
        return states
    logits: Tensor = policy.model(logits_to_keep=keep, **inputs).logits
    return logits


def own_prompts(policy: Policy, prompts: Sequence[list[int]], ids: Tensor, completion_mask: Tensor) -> list[Piece]:
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
    return [(_states(policy, predicts, input_ids=whole, use_cache=False), (completion_mask,))]


def packed(policy: Policy, prompts: Sequence[list[int]], ids: Tensor, completion_mask: Tensor) -> list[Piece]:
    """The fast path: each distinct prompt and all completions in one row, without padding; see ``attention``."""
    distinct = list(dict.fromkeys(map(tuple, prompts)))
    place = {prompt: index for index, prompt in enumerate(distinct)}
    own = torch.tensor([place[tuple(prompt)] for prompt in prompts], device=ids.device)
    given = completion_mask[:, 1:]  # a last token predicts nothing
    order = given.sum(1).argsort(stable=True)
    given = given[order]
    lengths = torch.tensor([len(prompt) for prompt in distinct], device=ids.device)
    layout = Layout(own[order], torch.arange(int(lengths.max()), device=ids.device) < lengths[:, None], given)
    tokens = torch.cat([torch.tensor(list(chain.from_iterable(distinct)), device=ids.device), ids[order, :-1][given]])
    predicts = torch.ones_like(tokens, dtype=torch.bool)
    predicts[: int(lengths.sum())] = False
    predicts[lengths.cumsum(0) - 1] = True
    if policy.has_head_apart and is_supported(policy.model) and not policy.model.is_activation_checkpointing:

        def mix(attention: Any, query: Tensor, key: Tensor, value: Tensor, window: int | None) -> Tensor:
            heads = [states.transpose(0, 1)[None] for states in (query, key, value)]
            how = {"dropout": 0.0, "scaling": attention.scaling, "softcap": None}
            return attend_packed(attention, heads, layout, window, how)[0]

        states = hidden_states(policy.model, tokens, layout.positions, mix)[predicts]
    else:
        states = _states(
            policy,
            predicts[None],
            input_ids=tokens[None],
            position_ids=layout.positions[None],
            attention_mask=predicts.new_ones(1, 1, 1, 1),  # with four dimensions it is left as it is
            use_cache=False,
            layout=layout,
        )
    first, rest = states[: len(distinct)][own[completion_mask[:, 0]]], states[len(distinct) :]
    begins, (row, behind) = completion_mask[:, 0].nonzero()[:, 0], given.nonzero(as_tuple=True)
    return [(first, (begins, torch.zeros_like(begins))), (rest, (order[row], behind + 1))]


def with_fast_paths(policy: Policy, *, share_prompts: bool) -> Policy:
    """The policy with each fast path that gives the plain path's logits for its model, tried on three short rows."""
    exact = replace(policy, autocast=None)  # whether it is the same computation, not how it is rounded
    apart = agree(partial(_trial, exact), partial(_trial, replace(exact, has_head_apart=True)))
    exact = replace(exact, has_head_apart=apart)
    shares = share_prompts and agree(partial(_trial, exact), partial(_trial, replace(exact, shares_prompts=True)))
    return replace(policy, has_head_apart=apart, shares_prompts=shares)


def agree(plain: Callable[[], Tensor], fast: Callable[[], Tensor], apart: float = 1e-3) -> bool:
    """Whether both give the same, up to a share of its largest number; not where the fast one fails."""
    expected = plain()
    try:
        return torch.allclose(fast(), expected, rtol=apart, atol=apart * float(expected.abs().max()))
    except Exception:  # what a family lacks it says in a way of its own, and so does CUDA
        return False


def _trial(policy: Policy) -> Tensor:
    """(rows, T, V) logits of three short rows, two of them with the same prompt; 0 where there is no token."""
    prompts = [[1, 2, 3], [1, 2, 3], [2, 1]]
    ids = torch.tensor([[1, 3, 2], [2, 0, 0], [3, 1, 0]], device=policy.device)
    mask = torch.tensor([[True] * 3, [True, False, False], [True, True, False]], device=policy.device)
    with torch.inference_mode():
        pieces = completion_states(policy, prompts, ids, mask)
        found = [(logits_of(policy, states).float(), where) for states, where in pieces]
    whole = torch.zeros(*mask.shape, found[0][0].shape[-1], device=policy.device)
    for logits, where in found:
        whole[where] = logits
    return whole
