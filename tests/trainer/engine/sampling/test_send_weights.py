"""The weights that vLLM servers get: what is written, and which calls let a server load it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from safetensors.torch import load_file

from grpo_env.errors import RunError
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.lora import prepare_adapter
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.send_weights import save_weights
from grpo_env.trainer.engine.sampling.vllm_server import VllmServer


def recording(model: str, refuses: str = "") -> Any:
    """A server that keeps the calls that it gets."""
    calls: list[tuple[str, Any]] = []

    def call(path: str, body: Any) -> None:
        calls.append((path, body))
        if path == refuses:
            raise RunError("no")

    return SimpleNamespace(model=model, call=call, calls=calls)


def test_a_server_loads_the_file_then_forgets_its_cache_and_is_told_the_version(policy: Policy, tmp_path: Path) -> None:
    save_weights(policy, tmp_path)
    written = load_file(tmp_path / "model.safetensors")
    state = policy.model.state_dict()
    assert written.keys() == state.keys()
    assert all(written[name].equal(weight) for name, weight in state.items())
    server = recording("the-model")
    VllmServer.load(server, policy, tmp_path, "abc-3")
    assert server.model == "the-model"
    assert server.calls == [
        ("/collective_rpc", {"method": "reload_weights", "kwargs": {"weights_path": str(tmp_path)}}),
        ("/reset_prefix_cache", {}),
        ("/update_weight_version", {"new_version": "abc-3"}),
    ]


@pytest.mark.parametrize(("before", "unloads"), [("the-model", False), ("xyz-2", False), ("abc-2", True)])
def test_an_adapter_takes_the_place_of_the_one_before(
    policy: Policy, tmp_path: Path, before: str, unloads: bool
) -> None:
    """That of this run; a server that was started anew does not have it, and refuses to unload it."""
    pytest.importorskip("peft")
    prepare_adapter(policy, TrainConfig(lora={"rank": 2}))
    save_weights(policy, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= {"adapter_config.json", "adapter_model.safetensors"}
    server = recording(before, refuses="/v1/unload_lora_adapter")
    VllmServer.load(server, policy, tmp_path, "abc-3")
    assert server.model == "abc-3"
    first = ("/v1/load_lora_adapter", {"lora_name": "abc-3", "lora_path": str(tmp_path)})
    then = [("/v1/unload_lora_adapter", {"lora_name": before})] if unloads else []
    last = [("/reset_prefix_cache", {}), ("/update_weight_version", {"new_version": "abc-3"})]
    assert server.calls == [first, *then, *last]
