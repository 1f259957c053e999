"""Both paths to the logits of completion tokens: against a row by itself, and compared on many families."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from accelerate import Accelerator
from transformers import AutoConfig, AutoModelForCausalLM

from grpo_env.trainer.engine.cache import only_attends
from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.forward import (
    Piece,
    completion_states,
    head_of,
    mismatch,
    packed_states,
    with_fast_paths,
)
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling import sampler
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.loop import train

from ..families import EAGER, FAMILIES, HYBRID, tiny_model

PROMPTS = [[5, 6, 7, 8], [9, 3], [5, 6, 7, 8], [9, 3], [5, 6, 7, 8], [11] * 7]
COMPLETIONS = [[4], [20, 21, 22, 23, 24, 25, 26, 27], [12, 13], [14, 15, 16], [17, 18, 19, 4, 5], [30, 31]]
LENGTHS = torch.tensor([len(row) for row in COMPLETIONS])
MASK = torch.arange(8) < LENGTHS[:, None]
IDS = torch.tensor([row + [0] * (8 - len(row)) for row in COMPLETIONS])

WORDS = SimpleNamespace(decode=lambda ids, **options: " ".join(map(str, ids)))  # these tests ignore the text


def tiny(family: str) -> Policy:
    return Policy(family, tiny_model(family), None, Accelerator(cpu=True))


def full_logits(policy: Policy, pieces: list[Piece]) -> torch.Tensor:
    """(rows, T, V) logits, 0 where there is no token; each token must be covered exactly once."""
    covered, logits = torch.zeros(MASK.shape), torch.zeros(*MASK.shape, policy.vocab_size)
    for states, where in pieces:
        covered.index_put_(where, torch.ones(()), accumulate=True)
        logits = logits.index_put(where, head_of(policy)(states).float())
    assert covered.equal(MASK.float())
    return logits


@pytest.mark.parametrize("family", FAMILIES)
def test_shared_prompts_give_the_plain_logits_and_gradient(family: str) -> None:
    """In float32 to five digits; most families compute some of their layers in float32 whatever their weights."""
    policy = tiny(family)
    assert only_attends(policy.model) == (family not in HYBRID)
    weight = torch.randn(*MASK.shape, 64, generator=torch.Generator().manual_seed(1))
    results = []
    for fast in (False, True):
        if fast:
            install_attention(policy.model)
            policy = with_fast_paths(policy)
            assert policy.shares_prompts == (family not in HYBRID | EAGER)
            assert policy.has_separate_head
        logits = full_logits(policy, completion_states(policy, PROMPTS, IDS, MASK))
        policy.model.zero_grad()
        (logits.log_softmax(-1) * weight).where(MASK[..., None], 0.0).sum().backward()
        results.append((logits.detach(), torch.cat([weight.grad.flatten() for weight in policy.model.parameters()])))
    torch.testing.assert_close(results[1][0], results[0][0], atol=1e-5, rtol=1e-5)
    assert (results[1][1] - results[0][1]).norm() < 1e-5 * results[0][1].norm()


@pytest.mark.parametrize("family", FAMILIES)
def test_decoding_draws_with_the_probabilities_of_plain_forward_passes(family: str) -> None:
    """Rows end at different times, so that those that share a prompt become fewer."""
    policy = replace(tiny(family), tokenizer=WORDS)
    install_attention(policy.model)
    vars(policy)["end_ids"] = list(range(8))
    prompts = [[5, 6, 7, 8], [9, 3], [11] * 7]
    rollouts = sampler.sample(policy, SamplingRequest(prompts, 4, max_new_tokens=10, temperature=1.0))
    assert len({len(rollout.ids) for rollout in rollouts}) > 3
    with torch.inference_mode():
        for rollout in rollouts:
            ids = torch.tensor([rollout.prompt_ids + rollout.ids])
            logits = policy.model(ids, use_cache=False).logits[0, len(rollout.prompt_ids) - 1 : -1]
            expected = logits.log_softmax(-1)[range(len(rollout.ids)), rollout.ids]
            torch.testing.assert_close(torch.tensor(rollout.logps), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shared", [False, True])
def test_logits_are_those_before_the_tokens(policy: Policy, shared: bool) -> None:
    policy = replace(policy, shares_prompts=shared, has_separate_head=shared)
    logits = full_logits(policy, completion_states(policy, PROMPTS, IDS, MASK))
    for row, (prompt, ids) in enumerate(zip(PROMPTS, COMPLETIONS, strict=True)):
        alone = policy.model(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1]
        torch.testing.assert_close(logits[row, : len(ids)], alone, atol=1e-5, rtol=1e-5)


def test_the_prompt_goes_through_the_model_once(policy: Policy) -> None:
    token_counts: list[int] = []
    layer = policy.model.get_submodule("model.layers.0.mlp")
    hook = layer.register_forward_hook(lambda _, inputs, __: token_counts.append(inputs[0].shape[:2].numel()))
    packed_states(policy, PROMPTS, IDS, MASK)
    hook.remove()
    # Three distinct prompts, and of each completion all tokens but the last: no padding.
    assert token_counts == [4 + 2 + 7 + sum(len(row) - 1 for row in COMPLETIONS)]


def test_a_model_without_a_key_value_cache_takes_the_plain_path() -> None:
    """Mamba has a recurrent state instead of keys and values."""
    torch.manual_seed(0)
    config = AutoConfig.for_model("mamba", vocab_size=64, hidden_size=16, state_size=4, num_hidden_layers=1)
    policy = Policy("mamba", AutoModelForCausalLM.from_config(config).eval(), None, Accelerator(cpu=True))
    assert not with_fast_paths(policy).shares_prompts


def test_the_run_reports_missing_fast_paths(
    make_task, tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    train(make_task(steps=1), run_dir=tmp_path / "fast")
    assert "loss" not in {line.split(" ")[0] for line in capsys.readouterr().err.splitlines()}

    def fail(*arguments: object) -> None:
        raise ValueError("no such mask\nin this model")

    monkeypatch.setattr("grpo_env.trainer.engine.forward.packed_states", fail)
    monkeypatch.setattr("transformers.LlamaForCausalLM.get_decoder", fail)
    train(make_task(steps=1), run_dir=tmp_path / "run")
    messages = capsys.readouterr().err
    assert "this model cannot share it (ValueError: no such mask)\n" in messages
    assert "this model's head cannot be applied by itself (ValueError: no such mask)\n" in messages


def test_what_differs_is_said() -> None:
    plain = torch.tensor([[4.0, -8.0]])
    assert mismatch(lambda: plain, lambda: plain + 0.007) is None
    assert mismatch(lambda: plain, lambda: plain + 0.5) == "its result differs by up to 0.5, where the largest is 8"
    assert "differs by up to nan" in str(mismatch(lambda: plain, lambda: plain * torch.nan))
