"""The size of micro-batches by free memory: the estimate against what models store, and the arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
import torch
from accelerate import Accelerator
from transformers import AutoConfig, AutoModelForCausalLM

from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.config.algorithm import OptimizerConfig
from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.forward import completion_states, with_fast_paths
from grpo_env.trainer.engine.micro_batch_size import coming_bytes, default_tokens, fitting_tokens, position_bytes
from grpo_env.trainer.engine.policy import Policy

ROWS, LENGTH, PROMPT = 16, 64, 16


def model_policy(family: str, hidden: int, intermediate: int, *, shares: bool = True) -> Policy:
    torch.manual_seed(0)
    sizes = {"hidden_size": hidden, "intermediate_size": intermediate, "num_hidden_layers": 3}
    heads = {"num_attention_heads": 8, "num_key_value_heads": 2}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, vocab_size=64, **sizes, **heads)).eval()
    install_attention(model)
    return with_fast_paths(Policy(family, model, None, Accelerator(cpu=True)), share_prompts=shares)


@pytest.mark.parametrize("dtype", [None, torch.bfloat16])
@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize(("hidden", "intermediate"), [(64, 128), (128, 128), (64, 256)])
@pytest.mark.parametrize("family", ["llama", "qwen2"])
def test_the_estimate_is_a_close_upper_bound(
    family: str, hidden: int, intermediate: int, shares: bool, dtype: torch.dtype | None
) -> None:
    """Of the bytes that autograd keeps, counted once for each piece of memory, weights left out."""
    policy = replace(model_policy(family, hidden, intermediate, shares=shares), autocast=dtype)
    weights = {weight.untyped_storage().data_ptr() for weight in policy.model.parameters()}
    stored: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in weights:
            stored[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    prompts = [[1 + row % 2] * PROMPT for row in range(ROWS)]
    ids = torch.randint(64, (ROWS, LENGTH))
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        completion_states(policy, prompts, ids, torch.ones_like(ids, dtype=torch.bool))
    positions = 2 * PROMPT + ROWS * (LENGTH - 1) if shares else ROWS * (PROMPT + LENGTH)
    actual = sum(storage.nbytes() for storage in stored.values()) / positions
    assert 0.55 < actual / position_bytes(policy, TrainConfig()) < 1.05


def test_the_arithmetic() -> None:
    policy = model_policy("llama", 64, 128)
    count = policy.parameters
    config = TrainConfig()
    assert policy.has_separate_head
    assert position_bytes(policy, config) == 3 * (64 * 64 + 16 * 128)
    assert coming_bytes(policy, config) == 12 * count + 2**26 * 24
    in_bf16 = replace(policy, autocast=torch.bfloat16)
    assert coming_bytes(in_bf16, config) == 12 * count + 2 * count + 2**26 * 24
    assert position_bytes(replace(policy, has_separate_head=False), config) == 3 * (64 * 64 + 16 * 128) + 64 * 24
    saving = TrainConfig(engine={"gradient_checkpointing": True})
    assert position_bytes(policy, saving) == 3 * 4 * 64 + (64 * 64 + 16 * 128)


# Of a weight's gradient and two moments; the copies of weights that autocast rounds are 2 more, if they are float32.
STATE = {"adamw": 4 + 8 + 2, "adamw_8bit": 4 + 2 + 2, "paged_adamw_8bit": 4 + 2 + 2}


@pytest.mark.parametrize("name", get_args(OptimizerConfig.model_fields["name"].annotation))
def test_the_arithmetic_of_every_optimizer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = replace(model_policy("llama", 64, 128), autocast=torch.bfloat16)
    config = TrainConfig(optimizer={"name": name})
    needed = STATE[name] * policy.parameters + 2**26 * 24
    assert coming_bytes(policy, config) == needed
    monkeypatch.setattr("grpo_env.trainer.engine.micro_batch_size.free_bytes", lambda device: needed + 10**8)
    assert default_tokens(policy, config) == int(0.8 * 1e8 / (3 * (56 * 64 + 9 * 128))) // 1024 * 1024


def test_tokens_that_fit() -> None:
    assert fitting_tokens(10_000_000_000, 1_000_000) == 7168  # 8,000 with the margin
    assert fitting_tokens(-5e9, 1_000_000) == 1024
    assert fitting_tokens(1e15, 1_000_000) == 65536


def test_the_setting_and_other_devices(policy: Policy) -> None:
    assert default_tokens(policy, TrainConfig()) == 4096
    assert default_tokens(policy, TrainConfig(engine={"micro_batch_tokens": 77})) == 77
