"""``engine.compile``: one compiled part for all layers gives the same gradient; what does not compile is dropped."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import torch
from accelerate import Accelerator
from torch._dynamo.utils import counters

from grpo_env.trainer.engine.fast import layers
from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.forward import with_compiled_layers, with_fast_paths
from grpo_env.trainer.engine.policy import Policy

from .test_forward import tiny
from .test_varlen import logits_and_gradient


def fast(family: str) -> Policy:
    policy = tiny(family)
    install_attention(policy.model)
    return with_fast_paths(policy, share_prompts=True)


@pytest.mark.skipif("GRPO_ENV_COMPILE" not in os.environ, reason="takes minutes; set GRPO_ENV_COMPILE=1")
@pytest.mark.filterwarnings("ignore")  # of torch.compile's own
def test_one_compiled_part_serves_all_layers_and_lengths_and_gives_the_same_gradient() -> None:
    counters.clear()
    policy = fast("qwen3")
    compiled = replace(policy, uses_compile=True)
    expected, actual = logits_and_gradient(policy), logits_and_gradient(compiled)
    torch.testing.assert_close(actual[0], expected[0], atol=1e-5, rtol=1e-5)
    assert (actual[1] - expected[1]).norm() < 1e-5 * expected[1].norm()
    assert counters["stats"]["unique_graphs"] == 2, "before and after attention"
    assert with_compiled_layers(policy) == compiled  # on other rows
    assert counters["stats"]["unique_graphs"] == 2


@pytest.mark.filterwarnings("ignore")
def test_what_is_traced_gives_the_same_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler, in seconds; torch 2.11 traces some functions wrongly."""
    monkeypatch.setattr(layers, "compile_part", lambda part: torch.compile(part, dynamic=True, backend="eager"))
    policy = fast("qwen3")
    expected, actual = logits_and_gradient(policy), logits_and_gradient(replace(policy, uses_compile=True))
    torch.testing.assert_close(actual[0], expected[0], atol=1e-5, rtol=1e-5)
    assert (actual[1] - expected[1]).norm() < 1e-5 * expected[1].norm()


def test_why_it_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(part: object) -> None:
        raise RuntimeError("no C++ compiler\nSet TORCHDYNAMO_VERBOSE=1")

    monkeypatch.setattr(layers, "compile_part", fail)
    assert with_compiled_layers(fast("llama")).refusals == {"uses_compile": "RuntimeError: no C++ compiler"}
    for policy in (fast("phi"), replace(fast("llama"), shares_prompts=False)):
        refused = with_compiled_layers(policy)
        assert not refused.uses_compile
        assert refused.refusals["uses_compile"].startswith("only the layers of")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="takes a minute on a CPU")
@pytest.mark.parametrize("dtype", [None, torch.bfloat16])
def test_compiled_layers_are_taken_on_cuda(dtype: torch.dtype | None) -> None:
    policy = replace(tiny("llama"), accelerator=Accelerator(), autocast=dtype)
    policy.model.to("cuda")
    install_attention(policy.model)
    assert with_compiled_layers(with_fast_paths(policy, share_prompts=True)).refusals == {}
