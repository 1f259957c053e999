"""Packed rows by variable-length flash attention: its arguments with a stand-in, the kernel itself on CUDA."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from torch import Tensor
from torch._subclasses import FakeTensorMode

from grpo_env.trainer.engine.fast import varlen
from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.fast.varlen import VarlenLayout
from grpo_env.trainer.engine.forward import completion_states, with_fast_paths, with_varlen_attention
from grpo_env.trainer.engine.policy import Policy

from ..families import EAGER, FAMILIES, HYBRID
from .fake_cuda import FakeCuda, move_to_cuda
from .test_forward import IDS, MASK, PROMPTS, full_logits, tiny


def kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    query_starts: Tensor,
    key_starts: Tensor,
    longest_queries: int,
    longest_keys: int,
    *,
    scale: float | None,
    window_size: tuple[int, int],
    enable_gqa: bool,
) -> Tensor:
    """What ``torch.nn.attention.varlen`` documents, one sequence at a time.

    The diagonal joins the last query to the last key (https://github.com/pytorch/pytorch/pull/193630).
    """
    assert query.dtype == key.dtype == value.dtype
    assert enable_gqa == (query.shape[1] != key.shape[1])
    (left, right), parts = window_size, []
    queries, keys = query_starts.tolist(), key_starts.tolist()
    assert (len(query), len(key)) == (queries[-1], keys[-1])
    for row in range(len(queries) - 1):
        q = query[queries[row] : queries[row + 1]]
        k, v = (states[keys[row] : keys[row + 1]] for states in (key, value))
        assert 0 < len(q) <= longest_queries
        assert len(k) <= longest_keys
        k, v = (states.repeat_interleave(query.shape[1] // key.shape[1], 1) for states in (k, v))
        scores = torch.einsum("qhd,khd->hqk", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
        distance = torch.arange(len(q))[:, None] + len(k) - len(q) - torch.arange(len(k))
        hidden = (distance < -right) | ((distance > left) if left >= 0 else False)
        weights = scores.masked_fill(hidden.to(scores.device), -torch.inf).softmax(-1)
        parts.append(torch.einsum("hqk,khd->qhd", weights, v))
    return torch.cat(parts)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(varlen, "varlen_attn", kernel)


def test_sequences_end_where_they_should() -> None:
    """By hand: prompts of 2 and 4 tokens, completions of 3, 0 and 2; the first and the third have the second prompt."""
    prompt_of, prompts, completions = torch.tensor([1, 0, 1]), torch.tensor([2, 4]), torch.tensor([3, 0, 2])
    layout = VarlenLayout(prompt_of, torch.arange(4) < prompts[:, None], torch.arange(3) < completions[:, None])
    assert layout._queries.tolist() == [0, 2, 6, 9, 11]
    assert layout._key_ends.tolist() == [0, 2, 6, 13, 19]
    assert layout._keys.tolist() == [0, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 5, 9, 10]
    assert (layout._longest_queries, layout._longest_keys) == (4, 7)
    assert layout.positions.tolist() == [0, 1, 0, 1, 2, 3, 4, 5, 6, 4, 5]


def logits_and_gradient(policy: Policy) -> tuple[Tensor, Tensor]:
    policy.model.zero_grad()
    logits = full_logits(policy, completion_states(policy, PROMPTS, IDS, MASK))
    logits.log_softmax(-1).square().where(MASK[..., None], 0.0).sum().backward()
    return logits.detach(), torch.cat([weight.grad.flatten() for weight in policy.model.parameters()])


@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - HYBRID - EAGER - {"gemma2"}))
@pytest.mark.usefixtures("stand_in")
def test_it_gives_the_plain_logits_and_gradient(family: str) -> None:
    """Families with and without grouped queries, windows and layers of our own."""
    policy = tiny(family)
    expected = logits_and_gradient(policy)
    install_attention(policy.model)
    actual = logits_and_gradient(replace(policy, shares_prompts=True, has_separate_head=True, uses_varlen=True))
    torch.testing.assert_close(actual[0], expected[0], atol=1e-5, rtol=1e-5)
    assert (actual[1] - expected[1]).norm() < 1e-5 * expected[1].norm()


@pytest.mark.parametrize("family", ["llama", "qwen3", "phi3"])
@pytest.mark.usefixtures("stand_in")
def test_under_autocast_the_kernel_gets_one_dtype(family: str) -> None:
    policy = tiny(family)
    install_attention(policy.model)
    packed = replace(policy, shares_prompts=True, has_separate_head=True, autocast=torch.bfloat16)
    padded, own = (logits_and_gradient(replace(packed, uses_varlen=uses)) for uses in (False, True))
    assert (own[1] - padded[1]).norm() < 0.05 * padded[1].norm()


def test_torchs_kernel_takes_these_arguments() -> None:
    """Shapes and gradients of the operator of the installed torch, on fake tensors."""
    if varlen.varlen_attn is None:
        pytest.skip("this torch has no variable-length attention")
    masks = torch.ones(1, 3, dtype=torch.bool), torch.tensor([[True, True], [True, False]])
    layout = VarlenLayout(torch.tensor([0, 0]), *masks)
    with FakeTensorMode(allow_non_fake_inputs=True):
        query = torch.randn(6, 4, 8, dtype=torch.bfloat16, requires_grad=True)
        key, value = (torch.randn(6, 2, 8, dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
        attended = layout.attend(None, query, key, value, window=2, scaling=0.5, softcap=None)
        gradients = torch.autograd.grad(attended.sum(), (query, key, value))
    assert attended.shape == query.shape
    assert [gradient.shape for gradient in gradients] == [query.shape, key.shape, value.shape]


def on_fake_cuda(family: str, monkeypatch: pytest.MonkeyPatch, autocast: torch.dtype | None) -> Policy:
    """What ``with_varlen_attention`` makes of a family; computed in float32."""
    monkeypatch.setattr(Policy, "autocast_context", lambda _: nullcontext())
    policy = replace(tiny(family), autocast=autocast, shares_prompts=True)
    install_attention(policy.model)
    move_to_cuda(policy.model)
    with FakeCuda():
        return with_varlen_attention(policy)


@pytest.mark.usefixtures("stand_in")
def test_a_policy_in_16_bits_uses_it_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = on_fake_cuda("mistral", monkeypatch, torch.bfloat16)
    assert (policy.uses_varlen, policy.refusals) == (True, {})
    assert all(weight.requires_grad and weight.grad is None for weight in policy.model.parameters())


@pytest.mark.parametrize("family", ["llama", "mistral"])
def test_the_kernel_of_torch_2_11_is_not_told_that_heads_share_keys(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def older(query: Tensor, key: Tensor, *arguments: Any, scale: float, window_size: tuple[int, int]) -> Tensor:
        fewer = query.shape[1] != key.shape[1]
        return kernel(query, key, *arguments, scale=scale, window_size=window_size, enable_gqa=fewer)

    monkeypatch.setattr(varlen, "varlen_attn", older)
    policy = on_fake_cuda(family, monkeypatch, torch.bfloat16)
    assert (policy.uses_varlen, policy.refusals) == (True, {})


@pytest.mark.usefixtures("stand_in")
def test_why_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal(family: str, autocast: torch.dtype | None = torch.bfloat16) -> str:
        policy = on_fake_cuda(family, monkeypatch, autocast)
        assert not policy.uses_varlen
        return policy.refusals["uses_varlen"]

    assert refusal("llama", None) == "it computes in 16 bits, not in fp32"
    assert refusal("gemma2") == "ValueError: flash attention has no soft cap"

    def diagonal_from_the_first_key(*arguments: Any, enable_gqa: bool, **options: Any) -> Tensor:
        query, key, value, starts, _, longest, _ = arguments
        key, value = key[: len(query)], value[: len(query)]
        return kernel(query, key, value, starts, starts, longest, longest, enable_gqa=enable_gqa, **options)

    monkeypatch.setattr(varlen, "varlen_attn", diagonal_from_the_first_key)
    assert "differs" in refusal("llama")
    monkeypatch.setattr(varlen, "varlen_attn", None)
    assert "has no torch.nn.attention.varlen" in refusal("llama")


def test_a_policy_on_a_cpu_is_left_alone(policy: Policy) -> None:
    shared = with_fast_paths(policy, share_prompts=True)
    assert with_varlen_attention(shared) is shared


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("family", ["llama", "qwen2", "mistral", "phi3"])
def test_the_kernel_itself_is_taken_on_cuda(family: str) -> None:
    policy = replace(tiny(family), accelerator=Accelerator(), autocast=torch.bfloat16)
    policy.model.to("cuda")
    install_attention(policy.model)
    assert with_varlen_attention(with_fast_paths(policy, share_prompts=True)).refusals == {}
