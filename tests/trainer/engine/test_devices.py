"""Training and decoding keep their tensors on the model's device; tested without a GPU, on a fake CUDA device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grpo_env.taskfile.task import load_task
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.fast import cuda_graph, layers
from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.fast.cuda_graph import CudaGraphDecoder, _recording_stream
from grpo_env.trainer.engine.forward import with_fast_paths
from grpo_env.trainer.engine.micro_batch_size import default_tokens
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampling import own
from grpo_env.trainer.engine.sampling.own import decoding_context, with_cuda_graphs
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import sample
from grpo_env.trainer.optimizer import make_optimizer
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.run.recording import _print_fallbacks
from grpo_env.trainer.update import UpdateStats, add_reference_logp, update

from ..shortcuts import packed, roll_out
from .fake_cuda import CUDA, INDEXES, READS, FakeCuda, device_of, leaves_of, move_to_cuda
from .test_forward import tiny

TASK = load_task("arithmetic")
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "outcome and process": {
        "supervision": "both",
        "kl.coef": 0.1,
        "optimizer.updates_per_step": 2,
        "loss.tis_cap": 2.0,
    },
    "sequences": {
        "loss.importance_level": "sequence",
        "loss.aggregation": "sequence",
        "loss.entropy_coef": 0.01,
        "advantage.truncated": "mask",
    },
    "cispo": {"loss.surrogate": "cispo", "kl.coef": 0.1, "kl.bias_correction": True, "engine.micro_batch_tokens": 64},
}


RECORD = CudaGraphDecoder._record  # before it is replaced below


class FakeGraph:
    """A recorded graph that computes the step again, provided that no tensor moved since it was recorded."""

    def __init__(self, decoder: CudaGraphDecoder) -> None:
        self.decoder, self.addresses = decoder, addresses(decoder)
        FakeCuda.recording = True
        try:
            decoder._forward()
        finally:
            FakeCuda.recording = False

    def replay(self) -> None:
        assert addresses(self.decoder) == self.addresses
        self.decoder.graph_logits = self.decoder._forward()


def addresses(decoder: CudaGraphDecoder) -> list[int]:
    state = [value for value in vars(decoder).values() if isinstance(value, torch.Tensor)]
    state = [tensor for tensor in state if tensor is not decoder.logits and tensor is not decoder.graph_logits]
    return [tensor.data_ptr() for tensor in (*state, *chain.from_iterable(decoder.key_values))]


@pytest.fixture(autouse=True)
def _fake_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CudaGraphDecoder, "_record", lambda decoder: FakeGraph(decoder))


@pytest.fixture(autouse=True)
def _fake_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 GB are free, and torch holds another that it does not use."""
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda device: (3_000_000_000, 8_000_000_000))
    monkeypatch.setattr("torch.cuda.memory_reserved", lambda device: 2_000_000_000)
    monkeypatch.setattr("torch.cuda.memory_allocated", lambda device: 1_000_000_000)


@pytest.fixture
def cuda_policy() -> Policy:
    policy = load_policy("bundled", device="cpu")
    move_to_cuda(policy.model)
    return policy


def one_step(policy: Policy, **settings: Any) -> tuple[list[str], UpdateStats]:
    """The sampled texts and the statistics of the update."""
    config = TrainConfig.from_mapping(
        {"prompts_per_step": 4, "group_size": 4, "sampling.max_new_tokens": 24, **settings}
    )
    prompts = make_prompts(TASK, TASK.examples("train", 4), 0)
    rollouts = roll_out(policy, prompts, 4, max_new_tokens=24, temperature=1.0, seed="0")
    batch = packed(policy, rollouts, config)
    if config.kl.coef:
        add_reference_logp(policy, policy.snapshot(), [batch], config.sampling.temperature)
    stats = update(policy, make_optimizer(policy, config.optimizer), [batch], config, 0)
    return [row.rollout.text for row in rollouts], stats


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_step_of_training_stays_on_the_models_device(cuda_policy: Policy, settings: dict[str, Any]) -> None:
    cpu_policy = with_fast_paths(load_policy("bundled", device="cpu"), share_prompts=True)
    with FakeCuda():
        assert cuda_policy.device == CUDA
        policy = with_cuda_graphs(with_fast_paths(cuda_policy, share_prompts=True))
        assert (policy.shares_prompts, policy.has_separate_head, policy.uses_cuda_graphs) == (True, True, True)
        sampled, stats = one_step(policy, **settings)
    expected, plain = one_step(cpu_policy, **settings)
    assert plain.grad_norm > 0
    assert sampled == expected, "recorded steps must sample the same tokens as plain steps"
    assert (stats.loss, stats.grad_norm) == pytest.approx((plain.loss, plain.grad_norm), rel=1e-3)


def test_a_checkpoint_is_restored_on_the_models_device(cuda_policy: Policy, tmp_path: Path) -> None:
    """Through main memory, since a GPU that training just fits on has no room for a second copy."""
    optimizer = make_optimizer(cuda_policy, TrainConfig().optimizer)
    folder = RunFolder(tmp_path)
    with FakeCuda():
        for weight in cuda_policy.trained.values():
            weight.grad = torch.ones_like(weight)
        optimizer.step()
        reference = cuda_policy.snapshot()
        folder.save(cuda_policy, optimizer, reference, 1, 1)
        assert folder.load(cuda_policy, optimizer, reference) == (1, [])
        moments = [state[name] for state in optimizer.state.values() for name in ("exp_avg", "exp_avg_sq")]
        assert {tensor.device for tensor in (*cuda_policy.trained.values(), *moments, *reference.values())} == {CUDA}


@pytest.mark.parametrize("family", layers.FAMILIES)
def test_a_decoding_step_of_each_family_can_be_recorded(family: str) -> None:
    policy = tiny(family)
    install_attention(policy.model)
    move_to_cuda(policy.model)
    with FakeCuda():
        assert with_cuda_graphs(policy).uses_cuda_graphs


def test_micro_batches_are_as_large_as_memory_allows(cuda_policy: Policy) -> None:
    model, weights = cuda_policy.model.config, cuda_policy.parameters
    with FakeCuda():
        policy = replace(cuda_policy, has_separate_head=True, autocast=torch.bfloat16)
        tokens = default_tokens(policy, TrainConfig())
        assert default_tokens(policy, TrainConfig(engine={"micro_batch_tokens": 77})) == 77
    free = 4_000_000_000 - 14 * weights - 2**26 * 24
    position = model.num_hidden_layers * (56 * model.hidden_size + 9 * model.intermediate_size)
    assert tokens <= 0.8 * free / position < tokens + 1024
    assert 1024 < tokens < 65536


def test_a_refused_recording_says_why(cuda_policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(decoder: CudaGraphDecoder) -> None:
        raise RuntimeError("operation not permitted when stream is capturing\nCUDA kernel errors might be")

    monkeypatch.setattr(CudaGraphDecoder, "_record", refuse)
    with FakeCuda():
        policy = with_cuda_graphs(cuda_policy)
    assert not policy.uses_cuda_graphs
    why = "RuntimeError: operation not permitted when stream is capturing"
    assert policy.refusals == {"uses_cuda_graphs": why}
    lines: list[str] = []
    _print_fallbacks(SimpleNamespace(policy=policy, console=SimpleNamespace(print=lines.append)))  # type: ignore[arg-type]
    assert f"sampling   without CUDA graphs, which do not work here ({why})" in lines


class Streams:
    """Stands in for ``torch.cuda``: what is computed and recorded on which stream, and what waits for what."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, free: int = 3) -> None:
        self.current, self.events, self.failed, streams = ["main"], list[str](), False, self

        class Stream:
            def __init__(self, device: object = None, name: str = "side") -> None:
                self.name = name

            def wait_stream(self, other: Any) -> None:
                streams.events.append(f"{self.name} waits for {other.name}")

        class Graph:
            def capture_begin(self, *, capture_error_mode: str) -> None:
                streams.events.append(f"begin {capture_error_mode} on {streams.current[-1]}")

            def capture_end(self) -> None:
                streams.events.append("end")
                if streams.failed:
                    raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

        @contextmanager
        def on(stream: Stream) -> Iterator[None]:
            self.current.append(stream.name)
            try:
                yield
            finally:
                self.current.pop()

        forward = CudaGraphDecoder._forward

        def step(decoder: CudaGraphDecoder) -> torch.Tensor:
            self.events.append(f"step on {self.current[-1]}")
            return forward(decoder)

        monkeypatch.setattr(CudaGraphDecoder, "_forward", step)
        stand_ins = {"Stream": Stream, "stream": on, "CUDAGraph": Graph, "mem_get_info": lambda _: (free, 8)}
        stand_ins["current_stream"] = lambda _: Stream(name=self.current[-1])
        stand_ins["empty_cache"] = lambda: self.events.append("empty the cache")
        for name, stand_in in stand_ins.items():
            monkeypatch.setattr(f"torch.cuda.{name}", stand_in)
        _recording_stream.cache_clear()

    def record(self) -> None:
        policy = tiny("llama")
        install_attention(policy.model)
        try:
            with decoding_context(policy):
                RECORD(CudaGraphDecoder(policy, [[1, 2], [3]], 2, 4))
        finally:
            _recording_stream.cache_clear()


def test_a_recording_waits_for_the_main_stream_and_that_for_its_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """And other threads may use CUDA meanwhile."""
    streams = Streams(monkeypatch)
    streams.record()
    recorded = ["step on side", "begin thread_local on side", "step on side", "end"]
    assert streams.events == ["side waits for main", *recorded, "main waits for side"]


def test_all_recordings_use_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuBLAS keeps memory for each stream."""
    monkeypatch.setattr("torch.cuda.Stream", lambda device: object())
    _recording_stream.cache_clear()
    assert _recording_stream(CUDA) is _recording_stream(CUDA)
    _recording_stream.cache_clear()


def test_memory_that_torch_keeps_is_given_back_only_where_little_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(monkeypatch, free=1)
    streams.record()
    assert streams.events[0] == "empty the cache"


def test_a_recording_that_fails_ends_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """And torch's stream is the one from before."""
    streams = Streams(monkeypatch)
    forward, calls = CudaGraphDecoder._forward, []

    def fail_when_recorded(decoder: CudaGraphDecoder) -> torch.Tensor:
        calls.append(1)
        if len(calls) == 2:
            streams.failed = True
            raise torch.OutOfMemoryError("CUDA out of memory. (a stand-in)")
        return forward(decoder)

    monkeypatch.setattr(CudaGraphDecoder, "_forward", fail_when_recorded)
    with pytest.raises(torch.OutOfMemoryError):
        streams.record()
    assert streams.events[-1] == "end"
    assert streams.current == ["main"]


@pytest.mark.parametrize(
    ("ended", "left", "drops"), [(2, 10**5, False), (4, 10**5, True), (4, 9000, False), (6, 9000, True)]
)
def test_rows_are_dropped_where_that_saves_more_than_a_recording_takes(
    ended: int, left: int, drops: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 8 rows with 8 places for 2 x 8 float32 keys and values each, 8192 bytes, some have ended."""
    policy = tiny("llama")
    install_attention(policy.model)
    move_to_cuda(policy.model)
    monkeypatch.setattr(cuda_graph, "RECORDING_BYTES", 5e7)
    with FakeCuda(), decoding_context(policy):
        decoder = CudaGraphDecoder(policy, [[1, 2, 3], [3]], 4, 5)
        assert decoder.drops(ended, left) == drops


@pytest.mark.parametrize("rope", ["dynamic", "longrope"])
def test_frequencies_that_change_are_not_recorded(
    rope: str, cuda_policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To record them fails, and leaves torch in a state in which other calls fail too."""
    monkeypatch.setattr(CudaGraphDecoder, "_record", lambda decoder: pytest.fail("recorded"))
    cuda_policy.model.get_decoder().rotary_emb.rope_type = rope
    with FakeCuda():
        policy = with_cuda_graphs(cuda_policy)
    assert not policy.uses_cuda_graphs
    assert policy.refusals == {"uses_cuda_graphs": f"rope_type {rope} changes its frequencies with the longest row"}


def test_rows_are_refilled_without_another_recording(cuda_policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """``FakeGraph`` refuses to replay with other tensors than those that it was recorded with."""
    recorded = replace(cuda_policy, uses_cuda_graphs=True)
    for policy in (cuda_policy, recorded):
        vars(policy)["end_ids"] = list(range(0, 280, 12))
    prompts, options = [[40, 41, 42], [50], [60, 61, 62, 63], [70, 71]], {"max_new_tokens": 20, "temperature": 1.0}
    expected = sample(cuda_policy, prompts, 4, **options)
    monkeypatch.setattr(own, "fitting_prompts", lambda *_: 1)
    monkeypatch.setattr(cuda_graph, "RECORDING_BYTES", 0)
    recordings, record = [], CudaGraphDecoder._record
    monkeypatch.setattr(CudaGraphDecoder, "_record", lambda self: recordings.append(len(self.rows)) or record(self))
    with FakeCuda():
        actual = sample(recorded, prompts, 4, **options)
    assert actual == expected
    assert recordings == sorted(set(recordings), reverse=True), "one for each number of rows"
    assert recordings[0] == 4


class CountingCuda(FakeCuda):
    """Counts how often the fake device is read, which on CUDA waits until all kernels have run."""

    reads = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        on_cuda = [leaf for leaf in leaves_of(args) if isinstance(leaf, torch.Tensor) and device_of(leaf) == CUDA]
        by_mask = func in INDEXES and any(tensor.dtype == torch.bool for tensor in on_cuda[1:])
        self.reads += bool(on_cuda) and (func in READS or by_mask)
        return super().__torch_function__(func, types, args, kwargs)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_token_reads_the_gpu_once(cuda_policy: Policy, temperature: float) -> None:
    policy, reads = replace(cuda_policy, uses_cuda_graphs=True), []
    vars(policy)["end_ids"] = []
    for tokens in (10, 30):
        limits = [2, tokens, tokens]  # the rows of the first prompt end earlier
        request = SamplingRequest([[40, 41, 42], [50], [51]], 4, tokens, temperature, list("abc"), limits)
        with CountingCuda() as cuda, decoding_context(policy):
            own.decode_stepwise(policy, request, lambda *_: None)
        reads.append(cuda.reads)
    assert reads[1] - reads[0] == 20


@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize("family", ["gemma2", "phi"])
def test_a_step_through_the_models_own_modules_stays_on_its_device(
    family: str, shares: bool, cuda_policy: Policy
) -> None:
    policy = replace(tiny(family), tokenizer=cuda_policy.tokenizer)
    policy.model.resize_token_embeddings(cuda_policy.vocab_size)
    install_attention(policy.model)
    move_to_cuda(policy.model)
    with FakeCuda():
        policy = with_cuda_graphs(with_fast_paths(policy, share_prompts=shares))
        assert (policy.shares_prompts, policy.uses_cuda_graphs) == (shares, False)
        assert len(one_step(policy, kl={"coef": 0.1})[0]) == 16
