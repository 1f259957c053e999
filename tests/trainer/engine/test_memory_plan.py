"""Memory: what a token is counted to store against what models store, and a run's plan by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import torch
from peft import LoraConfig
from transformers import AutoConfig, Qwen2Config

from grpo_env.errors import RunError, UsageError
from grpo_env.taskfile.mixture import load_mixture
from grpo_env.trainer.commands.plan import plan_lines
from grpo_env.trainer.config import OptimizerConfig, TrainConfig
from grpo_env.trainer.engine.memory import (
    coming_bytes,
    default_tokens,
    fitting_tokens,
    plan_memory,
    position_bytes,
)
from grpo_env.trainer.engine.policy import Policy

from ..families import EAGER, FAMILIES, tiny_model

LENGTH = 512


def stored(model: torch.nn.Module) -> float:
    """Bytes a position that autograd keeps of a real row of a model below its head, weights left out."""
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in weights:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    ids = torch.randint(64, (1, LENGTH), generator=torch.Generator().manual_seed(0))
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model.get_decoder()(ids, use_cache=False)
    return sum(storage.nbytes() for storage in kept.values()) / LENGTH


@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - EAGER))
def test_what_a_token_stores_is_counted_for_every_family(family: str) -> None:
    """Without memory as with it, but for what does not grow with the length.

    A window as wide as the row leaves out the mask of CPU kernels. Models that may have experts count up to twice.
    """
    wide = {"sliding_window": 1024} if "sliding_window" in FAMILIES[family] else {}
    model = tiny_model(family, max_position_embeddings=1024, **wide)
    least = 0.5 if type(model)._can_set_experts_implementation() else 0.9
    assert least < stored(model) / position_bytes(model.config, None, False) < 1.15


SHAPES = {  # Qwen2.5's, with the numbers of weights that their model cards give: 0.49, 1.54 and 7.61 billion
    "0.5B": (896, 4864, 24, 14, 2, 151936, True, 494_032_768),
    "1.5B": (1536, 8960, 28, 12, 2, 151936, True, 1_543_714_304),
    "7B": (3584, 18944, 28, 28, 4, 152064, False, 7_615_616_512),
}


def shape_folder(name: str, folder: Path) -> str:
    hidden, intermediate, layers, heads, kv_heads, vocabulary, tied, _ = SHAPES[name]
    Qwen2Config(
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        vocab_size=vocabulary,
        tie_word_embeddings=tied,
    ).save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("name", SHAPES)
def test_a_plan_by_hand(name: str, tmp_path: Path) -> None:
    """All weights in float32 with AdamW, computed in bfloat16; 4 x 8 completions of 512 tokens after prompts of 100."""
    hidden, intermediate, layers, heads, kv_heads, *_, count = SHAPES[name]
    settings = {"model": shape_folder(name, tmp_path), "prompts_per_step": 4, "group_size": 8, "kl.coef": 0.04}
    config = TrainConfig.from_mapping({**settings, "sampling.max_new_tokens": 512})
    plan = plan_memory(config, 80e9, 100)
    assert plan.parameters == plan.trained == count
    assert plan.held == {"weights": 4 * count, "moments": 8 * count, "reference": 4 * count}
    assert plan.update == {"gradients": 4 * count, "logits": 24 * 2**26, "rounded weights": 2 * count}
    cached = 4 * 8 * (512 + 100) * 2 * layers * kv_heads * (hidden // heads) * 2
    assert plan.sampling == {"keys and values": cached, "rounded weights": 2 * count}
    # A layer keeps at least the inputs of its products: of queries, keys and values, of the output, of the MLP.
    least = layers * 2 * (hidden + hidden + hidden + 3 * intermediate)
    assert least < plan.per_position < 4 * least
    free = 80e9 - sum(plan.held.values()) - sum(plan.update.values())
    assert plan.tokens == (0 if name == "7B" else min(65536, int(0.8 * free / plan.per_position) // 1024 * 1024))
    assert plan.fits == (name != "7B")


def test_an_adapter_of_7b_on_24_gb(tmp_path: Path) -> None:
    """QLoRA's 4.127 bits a weight of the linear layers; rank x (in + out) weights of an adapter in each of them."""
    settings = {"model": shape_folder("7B", tmp_path), "lora.rank": 16, "sampling.max_new_tokens": 512}
    settings["engine.gradient_checkpointing"] = True
    in_own_dtype = plan_memory(TrainConfig.from_mapping(settings), 24e9, 100)
    adapter = 16 * 28 * (2 * (3584 + 3584) + 2 * (3584 + 512) + 3 * (3584 + 18944))
    assert in_own_dtype.trained == adapter
    assert in_own_dtype.held["weights"] == 2 * 7_615_616_512
    assert in_own_dtype.fits
    in_4_bits = plan_memory(TrainConfig.from_mapping({**settings, "lora.quantize": "nf4"}), 24e9, 100)
    inner = 28 * (2 * 3584 * 3584 + 2 * 3584 * 512 + 3 * 3584 * 18944)
    assert in_4_bits.held["weights"] == pytest.approx(4.127 / 8 * inner + 2 * (7_615_616_512 - inner), rel=1e-3)
    assert in_4_bits.tokens > in_own_dtype.tokens


def test_a_plan_keeps_to_precision_and_micro_batches(tmp_path: Path) -> None:
    settings = {"model": shape_folder("0.5B", tmp_path), "lora.rank": 16}
    half, full = (
        plan_memory(TrainConfig.from_mapping({**settings, "engine.precision": precision}), 24e9, 100)
        for precision in ("bf16", "fp32")
    )
    assert (full.held["weights"], full.held["adapter"]) == (2 * half.held["weights"], half.held["adapter"])
    assert full.sampling["keys and values"] == 2 * half.sampling["keys and values"]
    assert "rounded weights" not in full.update
    assert 1.4 < full.per_position / half.per_position < 2.1  # some of it is float32 anyway
    asked = TrainConfig.from_mapping({**settings, "engine.micro_batch_tokens": 100})
    assert plan_memory(asked, 24e9, 100).tokens == 100
    most = sum(half.held.values()) + sum(half.update.values()) + 100 * half.per_position / 0.8
    assert [plan_memory(asked, most * factor, 100).tokens for factor in (0.999, 1.001)] == [0, 100]


def test_a_plan_of_an_adapter_is_that_of_its_weights(tmp_path: Path) -> None:
    """It is trained as it is, so no advice names lora.rank."""
    base = shape_folder("0.5B", tmp_path / "base")
    LoraConfig(r=4, target_modules=["q_proj"], base_model_name_or_path=base).save_pretrained(tmp_path / "adapter")
    plan = plan_memory(TrainConfig.from_mapping({"model": str(tmp_path / "adapter")}), 24e9, 100)
    assert (plan.parameters, plan.trained) == (494_032_768, 24 * 4 * (896 + 896))
    assert plan.held["weights"] == 2 * 494_032_768
    lines = plan_lines(load_mixture("arithmetic"), None, {"model": str(tmp_path / "adapter"), "group_size": 4096})
    assert not any("lora.rank" in line for line in lines)


def test_a_model_without_a_config(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no config that can be read"):
        plan_memory(TrainConfig(model=str(tmp_path)), 24e9, 100)


# Of a weight's gradient and two moments; the copies of weights that autocast rounds are 2 more.
STATE = {"adamw": 4 + 8 + 2, "adamw_8bit": 4 + 2 + 2, "paged_adamw_8bit": 4 + 2 + 2}


@pytest.mark.parametrize("name", get_args(OptimizerConfig.model_fields["name"].annotation))
def test_the_arithmetic_of_every_optimizer(name: str, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = replace(policy, autocast=torch.bfloat16, has_separate_head=True)
    config = TrainConfig(optimizer={"name": name})
    needed = STATE[name] * policy.model.num_parameters() + 2**26 * 24
    assert coming_bytes(policy, config) == needed
    monkeypatch.setattr("grpo_env.trainer.engine.memory.free_bytes", lambda device: needed + 10**8)
    stored = position_bytes(policy.model.config, torch.bfloat16, False)
    assert default_tokens(policy, config) == int(0.8 * 1e8 / stored) // 1024 * 1024


def test_what_is_computed_again_is_not_stored() -> None:
    config = AutoConfig.for_model("llama", hidden_size=64, intermediate_size=128, num_hidden_layers=4, vocab_size=32)
    everything = position_bytes(config, None, False)
    assert position_bytes(config, None, True) == 4 * 4 * 64 + everything / 4
    assert position_bytes(config, None, False, separate_head=False) == everything + 24 * 32


def test_tokens_that_fit() -> None:
    assert fitting_tokens(10_000_000_000, 1_000_000) == 7168  # 8,000 with the margin
    assert fitting_tokens(-5e9, 1_000_000) == 1024
    assert fitting_tokens(1e15, 1_000_000) == 65536


def test_the_setting_and_other_devices(policy: Policy) -> None:
    assert default_tokens(policy, TrainConfig()) == 4096
    assert default_tokens(policy, TrainConfig(engine={"micro_batch_tokens": 77})) == 77


def test_a_plan_says_how_many_steps_epochs_are() -> None:
    settings = {"model": "bundled", "epochs": 2, "prompts_per_step": 16}
    mixture = load_mixture("arithmetic", {"dataset.limit": {"train": 100, "eval": 1}})
    assert "epochs     2 of 100 examples, 16 a step: 13 steps" in plan_lines(mixture, 24, settings)


def test_a_plan_that_does_not_fit_fails_after_its_lines_if_the_gpu_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grpo_env.trainer.commands.plan.GPU", 5)  # where none is given
    Qwen2Config(hidden_size=896, intermediate_size=4864, num_hidden_layers=1).save_pretrained(tmp_path)
    mixture, settings = load_mixture("arithmetic"), {"model": str(tmp_path)}
    unasked, asked = list(plan_lines(mixture, None, settings)), []
    planned = plan_lines(mixture, 5, settings)
    with pytest.raises(RunError, match=r"^the run does not fit on a GPU of 5 GB$"):
        asked.extend(planned)
    assert asked == unasked
    assert "5 GB" in asked[0]
    assert [line[:9] for line in asked[-2:]] == ["too large", "would fit"]
    assert list(plan_lines(mixture, 240, settings))[-1].startswith("fits ")
