"""The model's states for completion tokens, with each prompt computed once for all its completions where possible.

The rows of a group begin with the same prompt. On the fast path it goes through the model once, in one row with all
completions, which attend to its keys and values; autograd sums their gradients. On the plain path every completion is a
padded row with its own copy of the prompt. Both give the same gradient.

The result is states below the LM head, where a model allows applying its head separately, so that the logits of all
tokens, which are many times larger, never exist at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from .cache import only_attends
from .fast.packed import Layout
from .policy import Policy
from .sharding import is_sharded

Piece = tuple[Tensor, tuple[Tensor, ...]]  # states (n, D), and an index into (rows, T) of the n tokens they predict


def completion_states(
    policy: Policy, prompts: Sequence[list[int]], ids: Tensor, completion_mask: Tensor
) -> list[Piece]:
    """States that predict every completion token, in pieces that together cover ``completion_mask``.

    Args:
        policy: the policy, with the fast paths that it supports.
        prompts: each row's prompt.
        ids: (rows, T) completion tokens, padded on the right.
        completion_mask: (rows, T) True where there is a token.
    """
    with policy.autocast_context():
        compute = packed_states if policy.shares_prompts else padded_states
        return compute(policy, prompts, ids, completion_mask)


def head_of(policy: Policy) -> Callable[[Tensor], Tensor]:
    """The map from states (n, D) to logits (n, V).

    Autocast would cast the head's weight anew for every call; here all calls share one cast, through which their
    gradients flow.
    """
    if not policy.has_separate_head:
        return lambda states: states
    head = policy.model.get_output_embeddings()
    text = policy.model.config.get_text_config(decoder=True)
    cap = getattr(text, "final_logit_softcapping", None)  # Gemma 2
    scale = getattr(text, "lm_head_multiplier", 1.0) / getattr(text, "logits_scaling", 1.0)  # Falcon-H1, Granite
    cast: dict[str, Tensor] = {}
    if policy.autocast is not None and type(head) is torch.nn.Linear:
        cast = {name: weight.to(policy.autocast) for name, weight in head.named_parameters()}

    def logits_of(states: Tensor) -> Tensor:
        with policy.autocast_context():
            logits: Tensor = torch.func.functional_call(head, cast, states) if cast else head(states)
            logits = logits if scale == 1 else logits * scale
            return logits if cap is None else cap * torch.tanh(logits / cap)

    return logits_of


def _model_states(policy: Policy, keep: Tensor, **inputs: Any) -> Tensor:
    """(n, D) states where ``keep`` (rows, L) is True; for a model without a separate head the logits (n, V)."""
    if policy.has_separate_head:
        states: Tensor = policy.model.get_decoder()(**inputs).last_hidden_state[keep]
        return states
    columns = keep.any(0).nonzero()[:, 0]
    logits: Tensor = policy.model(logits_to_keep=columns, **inputs).logits
    return logits[keep[:, columns]]


def padded_states(policy: Policy, prompts: Sequence[list[int]], ids: Tensor, completion_mask: Tensor) -> list[Piece]:
    """The plain path: every row is its prompt and completion, padded on the right.

    Causal attention never sees that padding, so there is no attention mask and SDPA can use its causal kernel.
    """
    width = max(map(len, prompts)) + ids.shape[1]
    rows = ids.new_zeros(len(prompts), width)
    predicts = torch.zeros(len(prompts), width, dtype=torch.bool, device=ids.device)
    for row, (prompt, length) in enumerate(zip(prompts, completion_mask.sum(1).tolist(), strict=True)):
        start = len(prompt)
        rows[row, :start] = torch.tensor(prompt)
        rows[row, start : start + length] = ids[row, :length]
        predicts[row, start - 1 : start + length - 1] = True
    return [(_model_states(policy, predicts, input_ids=rows, use_cache=False), (completion_mask,))]


def packed_states(policy: Policy, prompts: Sequence[list[int]], ids: Tensor, completion_mask: Tensor) -> list[Piece]:
    """The fast path: each distinct prompt and all completions in one row, without padding; see ``packed.Layout``."""
    distinct = list(dict.fromkeys(map(tuple, prompts)))
    index_of = {prompt: index for index, prompt in enumerate(distinct)}
    prompt_of = torch.tensor([index_of[tuple(prompt)] for prompt in prompts], device=ids.device)
    inputs = completion_mask[:, 1:]  # the last token of a completion predicts nothing
    order = inputs.sum(1).argsort(stable=True)
    inputs = inputs[order]
    lengths = torch.tensor([len(prompt) for prompt in distinct], device=ids.device)
    prompt_mask = torch.arange(int(lengths.max()), device=ids.device) < lengths[:, None]
    layout = Layout(prompt_of[order], prompt_mask, inputs)
    tokens = torch.cat([torch.tensor(list(chain.from_iterable(distinct)), device=ids.device), ids[order, :-1][inputs]])
    predicts = torch.ones_like(tokens, dtype=torch.bool)
    predicts[: int(lengths.sum())] = False
    predicts[lengths.cumsum(0) - 1] = True
    states = _model_states(
        policy,
        predicts[None],
        input_ids=tokens[None],
        position_ids=layout.positions[None],
        attention_mask=predicts.new_ones(1, 1, 1, 1),  # transformers leaves a mask of four dimensions unchanged
        use_cache=False,
        attend=layout.attend,
    )
    # First come the states of the prompts' last tokens, which predict the first token of each completion.
    firsts, rest = states[: len(distinct)][prompt_of[completion_mask[:, 0]]], states[len(distinct) :]
    not_empty, (row, column) = completion_mask[:, 0].nonzero()[:, 0], inputs.nonzero(as_tuple=True)
    return [(firsts, (not_empty, torch.zeros_like(not_empty))), (rest, (order[row], column + 1))]


def with_fast_paths(policy: Policy) -> Policy:
    """The policy with each fast path that gives the logits of the plain path for its model, on three short rows."""
    is_exact = policy.model.dtype == torch.float32 and not (policy.autocast and is_sharded(policy))
    exact = replace(policy, autocast=None) if is_exact else policy  # compares the computation, not its rounding
    tolerance = 1e-3 if is_exact else 0.1
    refusals: dict[str, str] = {}
    if is_sharded(policy):
        refusals["has_separate_head"] = "only the whole model gathers the weights of head and embedding"
    if not only_attends(policy.model):
        mixing = "its layers mix positions otherwise than by attention, so rows in one would read each other"
        refusals["shares_prompts"] = mixing
    for name in ("has_separate_head", "shares_prompts"):
        path: dict[str, Any] = {name: True}
        fast = replace(exact, **path)
        plain = partial(_probe_logits, exact)
        if why := refusals.get(name) or mismatch(plain, partial(_probe_logits, fast), tolerance):
            refusals[name] = why
        else:
            exact = fast
    return replace(exact, autocast=policy.autocast, refusals=refusals)


def mismatch(plain: Callable[[], Tensor], fast: Callable[[], Tensor], tolerance: float = 1e-3) -> str | None:
    """How ``fast`` fails, or differs from ``plain`` by more than a fraction of its largest number; else ``None``."""
    expected = plain()
    try:
        actual = fast()
    except Exception as error:  # model families and CUDA fail in many ways
        return f"{type(error).__name__}: {error}".strip().split("\n")[0]
    scale = float(expected.abs().max())
    if torch.allclose(actual, expected, rtol=tolerance, atol=tolerance * scale):
        return None
    return f"its result differs by up to {float((actual - expected).abs().max()):.2g}, where the largest is {scale:.2g}"


@torch.no_grad()  # not inference_mode, whose tensors FSDP would keep for training
def _probe_logits(policy: Policy) -> Tensor:
    """(rows, T, V) logits of three short rows, two of them with the same prompt; 0 where there is no token."""
    prompts = [[1, 2, 3], [1, 2, 3], [2, 1]]
    ids = torch.tensor([[1, 3, 2], [2, 0, 0], [3, 1, 0]], device=policy.device)
    mask = torch.tensor([[True] * 3, [True, False, False], [True, True, False]], device=policy.device)
    pieces, head = completion_states(policy, prompts, ids, mask), head_of(policy)
    flat = [(head(states).float(), index) for states, index in pieces]
    logits = torch.zeros(*mask.shape, flat[0][0].shape[-1], device=policy.device)
    for part, index in flat:
        logits = logits.index_put(index, part)
    return logits
