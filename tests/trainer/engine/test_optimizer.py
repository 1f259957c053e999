"""AdamW with its moments in 8 bits, which bitsandbytes also has for the CPU."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from grpo_env.errors import UsageError
from grpo_env.trainer.config import OptimizerConfig, TrainConfig
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.optimizer import make_optimizer
from grpo_env.trainer.run.checkpoint import RunFolder

CONFIG = TrainConfig(optimizer={"name": "adamw_8bit", "learning_rate": 1e-2, "weight_decay": 0.1})


def step(policy: Policy, optimizer: torch.optim.Optimizer, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for weight in policy.trained.values():
        weight.grad = torch.randn(weight.shape, generator=generator)
    optimizer.step()


def test_eight_bits_for_a_moment_and_the_step_of_adamw(policy: Policy, model_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    exact = load_policy(str(model_folder), device="cpu")
    optimizer, plain = (
        make_optimizer(policy, CONFIG.optimizer),
        make_optimizer(exact, OptimizerConfig(learning_rate=1e-2, weight_decay=0.1)),
    )
    start = policy.snapshot()
    for seed in range(3):
        step(policy, optimizer, seed)
        step(exact, plain, seed)
    embedding = policy.model.get_input_embeddings().weight
    assert optimizer.state[embedding]["state1"].dtype == optimizer.state[embedding]["state2"].dtype == torch.uint8
    name = "model.embed_tokens.weight"
    moved = policy.trained[name] - start[name]
    assert (moved - (exact.trained[name] - start[name])).norm() < 0.05 * moved.norm()

    RunFolder(tmp_path).save(SimpleNamespace(policy=policy, optimizer=optimizer, updated_reference=None), step=3)
    again = load_policy(str(model_folder), device="cpu")
    restored = make_optimizer(again, CONFIG.optimizer)
    run = SimpleNamespace(policy=again, optimizer=restored, updated_reference=None)
    assert RunFolder(tmp_path).load(run) == (3, [])
    step(policy, optimizer, 3)
    step(again, restored, 3)
    assert all(torch.equal(again.trained[name], weight) for name, weight in policy.trained.items())


def test_missing_bitsandbytes_is_reported(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes.optim", None)
    with pytest.raises(UsageError, match="adamw_8bit needs bitsandbytes: in a copy of grpo_env, pip install"):
        make_optimizer(policy, CONFIG.optimizer)
    paged = TrainConfig(optimizer={"name": "paged_adamw_8bit"})
    with pytest.raises(UsageError, match="paged_adamw_8bit needs bitsandbytes: in a copy of grpo_env, pip install"):
        make_optimizer(policy, paged.optimizer)


def test_pages_need_cuda(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    stub = SimpleNamespace(AdamW8bit=None, PagedAdamW8bit=None)
    monkeypatch.setitem(sys.modules, "bitsandbytes.optim", stub)
    paged = TrainConfig(optimizer={"name": "paged_adamw_8bit"})
    with pytest.raises(UsageError, match="paged_adamw_8bit needs CUDA, and the model is on cpu; use adamw_8bit"):
        make_optimizer(policy, paged.optimizer)
