"""vLLM in this process, with a stand-in for its ``LLM``. ``tests/vllm`` has vLLM itself, which sleeps on CUDA only."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampling import vllm
from grpo_env.trainer.engine.sampling.send_weights import save_weights
from grpo_env.trainer.engine.sampling.vllm import VllmEngine


class Llm:
    """Notes what it is told, and the weights that it is given."""

    def __init__(self, *, can_sleep: bool) -> None:
        self.model_config = SimpleNamespace(enable_sleep_mode=can_sleep)
        self.calls: list[str] = []
        self.weights: dict[str, torch.Tensor] = {}

    def sleep(self, level: int) -> None:
        self.calls.append(f"sleep {level}")

    def wake_up(self, tags: list[str]) -> None:
        self.calls.append(f"wake {' '.join(tags)}")

    def collective_rpc(self, method: str, kwargs: dict[str, Any]) -> None:
        self.calls.append(method)
        self.weights = {name: weight.clone() for name, weight in kwargs["weights_iterator"]}

    def reset_prefix_cache(self) -> None:
        self.calls.append("reset")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> VllmEngine:
    monkeypatch.setattr(vllm, "find_spec", lambda name: True)
    made = VllmEngine(0.3)
    made.llm = Llm(can_sleep=True)
    return made


def test_it_sleeps_during_the_update_and_wakes_with_the_new_weights(policy: Policy, engine: VllmEngine) -> None:
    """There is room for the cache only after the weights are in place."""
    llm = engine.llm
    engine.sleep()
    engine.sleep()
    assert llm.calls == ["sleep 2"]  # the weights are given up as well: new ones come
    with torch.no_grad():
        policy.model.model.norm.weight.fill_(3.0)
    engine.update_weights(policy, 1)
    woken = ["wake weights", "reload_weights", "reset", "wake kv_cache"]
    assert llm.calls[1:] == woken
    assert llm.weights["model.norm.weight"].eq(3.0).all()
    engine.update_weights(policy, 1)
    assert llm.calls[1:] == woken
    engine.sleep()
    engine.update_weights(policy, 1)  # a step that is sampled again: the weights it had are gone
    assert llm.calls[5:] == ["sleep 2", *woken]
    engine.update_weights(policy, 2)  # awake
    assert llm.calls[10:] == ["reload_weights", "reset"]


def test_below_an_adapter_the_weights_are_kept(engine: VllmEngine) -> None:
    engine._adapter = object()
    engine.sleep()
    assert engine.llm.calls == ["sleep 1"]


def test_on_a_cpu_it_stays_awake(policy: Policy, engine: VllmEngine) -> None:
    engine.llm = Llm(can_sleep=False)
    engine.sleep()
    engine.update_weights(policy, 1)
    assert engine.llm.calls == ["reload_weights", "reset"]


def test_a_server_gets_weights_in_the_precision_of_the_run(model_folder: Path, tmp_path: Path) -> None:
    policy = load_policy(str(model_folder), device="cpu", precision="bf16")
    save_weights(policy, tmp_path)
    saved = load_file(tmp_path / "model.safetensors")
    assert saved.keys() == policy.model.state_dict().keys()
    for name, weight in policy.model.state_dict().items():
        assert weight.dtype == torch.float32
        assert saved[name].equal(weight.bfloat16())
