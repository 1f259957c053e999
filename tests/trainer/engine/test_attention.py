"""Attention by products: against torch's implementation in float64, and in whole models of many families."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from grpo_env.trainer.engine.fast.attention import NAME, attention_forward, install_attention
from grpo_env.trainer.engine.fast.packed import Layout
from grpo_env.trainer.engine.forward import completion_states
from grpo_env.trainer.engine.policy import load_policy

from ..families import EAGER, FAMILIES, HYBRID
from .test_forward import IDS, MASK, PROMPTS, full_logits, tiny

GROUPED = SimpleNamespace(is_causal=True, num_key_value_groups=2)


def test_completions_are_padded_to_the_longest_of_their_chunk() -> None:
    lengths = torch.tensor([0, 0, 1, 2, 3, 5, 7, 40])
    layout = Layout(
        torch.zeros(8, dtype=torch.long), torch.ones(1, 3, dtype=torch.bool), torch.arange(40) < lengths[:, None]
    )
    parts = layout.split(torch.randn(3 + int(lengths.sum()), 2, 4))
    assert [tuple(part.shape) for part in parts] == [(1, 2, 3, 4), (2, 2, 2, 4), (2, 2, 5, 4), (2, 2, 40, 4)]


def test_a_packed_row_equals_each_sequence_alone() -> None:
    """Two prompts, three completions, one of them empty; a window of three positions or none."""
    prompt_rows, prompts, lengths = torch.tensor([1, 0, 1]), [2, 4], [3, 0, 2]
    layout = Layout(
        prompt_rows, *(torch.arange(max(counts)) < torch.tensor(counts)[:, None] for counts in (prompts, lengths))
    )
    assert layout.positions.tolist() == [0, 1, 0, 1, 2, 3, 4, 5, 6, 4, 5]
    draw = torch.Generator().manual_seed(0)
    states = [torch.randn(1, heads, 11, 8, generator=draw, dtype=torch.float64) for heads in (4, 2, 2)]
    where = {0: [0, 1], 1: [2, 3, 4, 5]}, {0: [6, 7, 8], 1: [], 2: [9, 10]}
    for window in (None, 3):
        actual, _ = attention_forward(GROUPED, *states, None, attend=layout.attend, sliding_window=window)
        for number, positions in (
            *where[0].items(),
            *((int(prompt_rows[row]), places) for row, places in where[1].items()),
        ):
            row = positions if positions == where[0][number] else where[0][number] + positions
            query, key, value = (state[:, :, row].repeat_interleave(4 // state.shape[1], 1) for state in states)
            back = torch.arange(len(row))[:, None] - torch.arange(len(row))
            alone = scaled_dot_product_attention(query, key, value, (back >= 0) & (back < (window or 99)))
            torch.testing.assert_close(actual[0, positions], alone[0].transpose(0, 1)[len(row) - len(positions) :])


@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - HYBRID - EAGER))
def test_whole_models_give_the_same_logits_and_gradient(family: str) -> None:
    """With padded rows and with shared prompts."""
    policy = tiny(family)
    results = []
    for installed, shared in ((False, False), (True, False), (True, True)):
        if installed:
            install_attention(policy.model)
        policy.model.zero_grad()
        variant = replace(policy, shares_prompts=shared, has_separate_head=True)
        logits = full_logits(variant, completion_states(variant, PROMPTS, IDS, MASK))
        logits.log_softmax(-1).square().where(MASK[..., None], 0.0).sum().backward()
        results.append((logits.detach(), torch.cat([weight.grad.flatten() for weight in policy.model.parameters()])))
    assert policy.model.config._attn_implementation == NAME
    for logits, gradient in results[1:]:
        torch.testing.assert_close(logits, results[0][0], atol=1e-5, rtol=1e-5)
        assert (gradient - results[0][1]).norm() < 1e-5 * results[0][1].norm()


def test_a_loaded_model_uses_this_attention_and_its_saved_config_does_not_name_it(tmp_path) -> None:
    model = load_policy("bundled", device="cpu").model
    assert model.config._attn_implementation == NAME
    model.save_pretrained(tmp_path)
    assert NAME not in (tmp_path / "config.json").read_text()


def test_cudnns_kernel_is_not_used() -> None:
    """On Hopper GPUs torch prefers it to the others; with masks its gradient can be NaN (pytorch#196678)."""
    torch.backends.cuda.enable_cudnn_sdp(True)
    install_attention(tiny("llama").model)
    assert not torch.backends.cuda.cudnn_sdp_enabled()
