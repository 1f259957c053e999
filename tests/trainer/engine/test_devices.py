"""Training and decoding keep their tensors on the model's device; tested without a GPU, on a fake CUDA device."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grpo_env.taskfile.task import load_task
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.forward import with_fast_paths
from grpo_env.trainer.engine.memory import default_tokens, position_bytes
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampling import own
from grpo_env.trainer.engine.sampling.own import decoding_context
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.optimizer import make_optimizer
from grpo_env.trainer.reference import add_reference_logp
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.update import update

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
        "advantage.truncated": "mask",
    },
    "micro-batches": {"kl.coef": 0.1, "engine.micro_batch_tokens": 64},
}


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


def one_step(policy: Policy, **settings: Any) -> tuple[list[str], dict[str, float]]:
    """The sampled texts and the statistics of the update."""
    config = TrainConfig.from_mapping(
        {"prompts_per_step": 4, "group_size": 2, "sampling.max_new_tokens": 24, **settings}
    )
    prompts = make_prompts(TASK, TASK.examples("train", 4), 0)
    rollouts = roll_out(policy, prompts, 2, max_new_tokens=24, temperature=1.0, seed="0")
    batch = packed(policy, rollouts, config)
    if config.kl.coef:
        add_reference_logp(policy, policy.snapshot(), [batch], config.sampling.temperature)
    stats = update(policy, make_optimizer(policy, config.optimizer), [batch], config, 0)
    return [row.rollout.text for row in rollouts], stats


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_step_of_training_stays_on_the_models_device(cuda_policy: Policy, settings: dict[str, Any]) -> None:
    cpu_policy = with_fast_paths(load_policy("bundled", device="cpu"))
    with FakeCuda():
        assert cuda_policy.device == CUDA
        policy = with_fast_paths(cuda_policy)
        assert (policy.shares_prompts, policy.has_separate_head) == (True, True)
        sampled, stats = one_step(policy, **settings)
    expected, plain = one_step(cpu_policy, **settings)
    assert plain["grad_norm"] > 0
    assert sampled == expected
    assert (stats["loss"], stats["grad_norm"]) == pytest.approx((plain["loss"], plain["grad_norm"]), rel=1e-3)


def test_a_checkpoint_is_restored_on_the_models_device(cuda_policy: Policy, tmp_path: Path) -> None:
    """Through main memory, since a GPU that training just fits on has no room for a second copy."""
    optimizer = make_optimizer(cuda_policy, TrainConfig().optimizer)
    folder = RunFolder(tmp_path)
    with FakeCuda():
        for weight in cuda_policy.trained.values():
            weight.grad = torch.ones_like(weight)
        optimizer.step()
        reference = cuda_policy.snapshot()
        run: Any = SimpleNamespace(policy=cuda_policy, optimizer=optimizer, updated_reference=reference)
        folder.save(run, 1)
        assert folder.load(run) == (1, [])
        moments = [state[name] for state in optimizer.state.values() for name in ("exp_avg", "exp_avg_sq")]
        assert {tensor.device for tensor in (*cuda_policy.trained.values(), *moments, *reference.values())} == {CUDA}


def test_micro_batches_are_as_large_as_memory_allows(cuda_policy: Policy) -> None:
    model, weights = cuda_policy.model.config, cuda_policy.model.num_parameters()
    with FakeCuda():
        policy = replace(cuda_policy, has_separate_head=True, autocast=torch.bfloat16)
        tokens = default_tokens(policy, TrainConfig())
        assert default_tokens(policy, TrainConfig(engine={"micro_batch_tokens": 77})) == 77
    free = 4_000_000_000 - 14 * weights - 2**26 * 24
    position = position_bytes(model, torch.bfloat16, False)
    assert tokens <= 0.8 * free / position < tokens + 1024
    assert 1024 < tokens < 65536


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
    policy, reads = cuda_policy, []
    vars(policy)["end_ids"] = []
    for tokens in (5, 10):
        limits = [2, tokens, tokens]  # the rows of the first prompt end earlier
        request = SamplingRequest([[40, 41, 42], [50], [51]], 4, tokens, temperature, list("abc"), limits)
        with CountingCuda() as cuda, decoding_context(policy):
            own.decode_stepwise(policy, request, lambda *_: None)
        reads.append(cuda.reads)
    assert reads[1] - reads[0] == 5


@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize("family", ["gemma3_text", "phi"])
def test_a_step_through_the_models_own_modules_stays_on_its_device(
    family: str, shares: bool, cuda_policy: Policy
) -> None:
    policy = replace(tiny(family), tokenizer=cuda_policy.tokenizer)
    policy.model.resize_token_embeddings(cuda_policy.vocab_size)
    install_attention(policy.model)
    move_to_cuda(policy.model)
    with FakeCuda():
        policy = with_fast_paths(policy)
        assert policy.shares_prompts
        policy = replace(policy, shares_prompts=shares)
        assert len(one_step(policy, kl={"coef": 0.1})[0]) == 8
