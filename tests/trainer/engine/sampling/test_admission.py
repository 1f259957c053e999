"""How many prompts are sampled at once: the estimate against what decoding allocates, and the arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from types import SimpleNamespace

import pytest
import torch
from accelerate import Accelerator
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoConfig, AutoModelForCausalLM

from grpo_env.trainer.engine.decoder import Decoder, FusedDecoder
from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.fast.cuda_graph import CudaGraphDecoder
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.prefix_cache import PrefixCache
from grpo_env.trainer.engine.sampling import own
from grpo_env.trainer.engine.sampling.admission import fitting_prompts, group_bytes
from grpo_env.trainer.engine.sampling.own import OwnEngine
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import sample

SIZES = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,  # of size 16: 3 layers x 2 x 2 heads x 16 x 4 bytes = 768 bytes a position
}


def model_policy(vocab_size: int = 64, **changes: int) -> Policy:
    torch.manual_seed(0)
    config = AutoConfig.for_model("llama", vocab_size=vocab_size, **(SIZES | changes))
    model = AutoModelForCausalLM.from_config(config).eval()
    install_attention(model)
    tokenizer = SimpleNamespace(eos_token_id=None, decode=lambda ids, **_: str(ids))
    policy = Policy("llama", model, tokenizer, Accelerator(cpu=True))
    vars(policy)["end_ids"] = []
    return policy


def request_of(prompts: int, length: int, group_size: int, max_new_tokens: int) -> SamplingRequest:
    seeds = [str(number) for number in range(prompts)]
    return SamplingRequest(
        [[5] * (length - 1) + [number] for number in range(prompts)], group_size, max_new_tokens, 1.0, seeds
    )


def peak_bytes(policy: Policy, request: SamplingRequest) -> int:
    """The most that is allocated at a time while a request is sampled, less what was allocated before."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        OwnEngine().generate(policy, request, lambda *_: None)
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    return max(accumulate(event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())))


@pytest.mark.parametrize(
    ("model_sizes", "request_sizes"),
    [
        ({}, (4, 8, 8, 64)),
        ({}, (2, 100, 4, 30)),
        ({"num_hidden_layers": 6, "num_key_value_heads": 4}, (4, 64, 2, 20)),
        ({"vocab_size": 5000}, (4, 8, 8, 64)),
        ({"vocab_size": 5000}, (4, 64, 2, 20)),
    ],
)
@pytest.mark.parametrize("kind", [FusedDecoder, CudaGraphDecoder, Decoder])
def test_the_estimate_is_a_close_upper_bound(
    kind: type[Decoder],
    model_sizes: dict[str, int],
    request_sizes: tuple[int, int, int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of all memory that sampling takes, with nothing ending early; ``Decoder`` copies prompts to every row."""
    policy, request = model_policy(**model_sizes), request_of(*request_sizes)
    if kind is Decoder:
        policy.model.set_attn_implementation("sdpa")
    monkeypatch.setattr(own, "decoder_for", lambda policy: kind)
    estimate = len(request.prompts) * group_bytes(policy, kind, request)
    assert 0.65 < peak_bytes(policy, request) / estimate <= 1


@pytest.mark.parametrize("kind", [FusedDecoder, CudaGraphDecoder, Decoder])
@pytest.mark.parametrize("dtype", [None, torch.bfloat16])
def test_keys_and_values_of_a_row(kind: type[Decoder], dtype: torch.dtype | None) -> None:
    """``row_positions`` are those that the decoder has allocated before the last token."""
    policy = replace(model_policy(), autocast=dtype)
    vars(policy)["end_ids"] = []
    if kind is Decoder:
        policy.model.set_attn_implementation("sdpa")
    for new_tokens in (2, 10, 11, 24):
        with own.decoding_context(policy):
            decoder = kind(policy, [[5] * 7, [6] * 4], 3, new_tokens)
            for _ in range(new_tokens - 1):
                decoder.append(torch.zeros(6, dtype=torch.long))
        if kind is CudaGraphDecoder:
            tensors = [states for layer in decoder.key_values for states in layer]
            assert {states.shape[2] % 8 for states in tensors} == {0}, "products need rows of whole 16 bytes"
        else:
            tensors = [buffer for layer in decoder.cache.layers for buffer in layer._buffers]
        row = 768 // (1 if dtype is None else 2) * kind.row_positions(policy, 7, new_tokens)
        assert sum(tensor.untyped_storage().nbytes() for tensor in tensors) == 6 * row


def test_the_arithmetic() -> None:
    """Prompts of 100 tokens in 108 places, and four rows of 29 tokens in 36, three of whose layers are copied; with
    recorded steps, rows of 130 tokens in 136.
    """
    policy, request = model_policy(), request_of(2, 100, 4, 30)
    state = 4 * (6 * 64 + 4 * 128)
    logits = 12 * 64
    assert group_bytes(policy, FusedDecoder, request) == 108 * 768 + 100 * state  # more than the rows
    request = request_of(2, 100, 16, 30)
    assert group_bytes(policy, FusedDecoder, request) == 108 * 768 + 16 * (36 * (768 + 256) + state + logits)
    recorded = group_bytes(policy, CudaGraphDecoder, request)
    assert recorded == 108 * 768 + 16 * (136 * (768 + 256) + state + logits)
    kept = replace(request, prefix_cache=PrefixCache(), keys="ab")
    copies = 16 * 130 * 768
    assert group_bytes(policy, CudaGraphDecoder, kept) == recorded + copies
    in_bf16 = replace(policy, autocast=torch.bfloat16)
    assert group_bytes(in_bf16, FusedDecoder, request) == 108 * 384 + 16 * (36 * (384 + 128) + state + logits)


def test_prompts_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, request = model_policy(), request_of(8, 100, 16, 30)
    group, weights = group_bytes(policy, FusedDecoder, request), policy.parameters
    assert fitting_prompts(policy, FusedDecoder, request) is None, "not known on a CPU"
    for free, expected in ((100 * group, 80), (4 * group, 3), (group // 2, 1), (-group, 1)):
        monkeypatch.setattr("grpo_env.trainer.engine.sampling.admission.free_bytes", lambda device, free=free: free)
        assert fitting_prompts(policy, FusedDecoder, request) == expected
    rounded = replace(policy, autocast=torch.bfloat16)
    group = group_bytes(rounded, FusedDecoder, request)
    free = 2 * weights + 2 * group
    monkeypatch.setattr("grpo_env.trainer.engine.sampling.admission.free_bytes", lambda device: free)
    assert fitting_prompts(rounded, FusedDecoder, request) == 1
    rounded.model.bfloat16()  # there is nothing to round
    assert fitting_prompts(rounded, FusedDecoder, request) == int(0.8 * free / group) == 2


def test_waves_have_the_completions_of_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every group depends on its own seed alone; a message says once that there are waves."""
    policy, messages, sizes = model_policy(), [], []
    policy = replace(policy, rollout_engine=OwnEngine())
    vars(policy)["end_ids"] = list(range(0, 64, 8))
    policy.rollout_engine.report = messages.append
    prompts = [[40, 41, 42 + number][: 1 + number % 3] for number in range(7)]
    expected = sample(policy, prompts, 3, max_new_tokens=20, temperature=1.0)
    monkeypatch.setattr(own, "fitting_prompts", lambda *_: 3)
    decode = own.decode_stepwise
    monkeypatch.setattr(own, "decode_stepwise", lambda *args: sizes.append(len(args[1].prompts)) or decode(*args))
    for _ in range(2):
        actual = sample(policy, prompts, 3, max_new_tokens=20, temperature=1.0)
        assert actual == expected
        for row, other in zip(actual, expected, strict=True):
            assert row.logps == pytest.approx(other.logps, abs=1e-5)
    assert sizes == [3, 3, 1] * 2
    assert len(messages) == 1
    assert "9 of 21 completions" in messages[0]


@pytest.mark.parametrize("at_once", [1, 3])
def test_refilled_rows_have_the_completions_of_one_batch(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As rows end, whole groups of waiting prompts take their places; there are fewer steps than with waves."""
    policy, sizes, waves = replace(model_policy(), rollout_engine=OwnEngine()), [], []
    vars(policy)["end_ids"] = list(range(0, 64, 8))
    policy.rollout_engine.report = waves.append
    prompts = [[40, 41, 42 + number][: 1 + number % 3] for number in range(9)]
    expected = sample(policy, prompts, 3, max_new_tokens=20, temperature=1.0)
    monkeypatch.setattr(own, "fitting_prompts", lambda *_: at_once)
    monkeypatch.setattr(own, "decoder_for", lambda policy: CudaGraphDecoder)
    step = CudaGraphDecoder.step
    monkeypatch.setattr(CudaGraphDecoder, "step", lambda self, ids: sizes.append(len(ids)) or step(self, ids))
    actual = sample(policy, prompts, 3, max_new_tokens=20, temperature=1.0)
    assert actual == expected
    for row, other in zip(actual, expected, strict=True):
        assert row.logps == pytest.approx(other.logps, abs=1e-5)
    lengths = [len(row.ids) for row in expected]
    longest_of_waves = [max(lengths[start : start + 3 * at_once]) for start in range(0, 27, 3 * at_once)]
    assert len(sizes) < sum(longest_of_waves)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 3 * at_once
    assert waves == [
        f"sampling with refills: the free memory is estimated to hold {3 * at_once} of 27 completions of maximum length"
    ]


class CountCasts(TorchDispatchMode):
    """Counts how often a weight is cast to bfloat16, as autocast does outside and inside of inference mode."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight, self.count = weight, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        casts = (torch.ops.aten._to_copy.default, torch.ops.aten.to.dtype)
        self.count += func in casts and args[0] is self.weight
        return func(*args, **(kwargs or {}))


def test_weights_are_rounded_once_for_all_tokens() -> None:
    policy = replace(model_policy(), autocast=torch.bfloat16)
    vars(policy)["end_ids"] = []
    with CountCasts(policy.model.lm_head.weight) as casts:
        OwnEngine().generate(policy, request_of(2, 5, 2, 12), lambda *_: None)
    assert casts.count == 1
