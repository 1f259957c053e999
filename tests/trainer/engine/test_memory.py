"""Settings that save memory do not change results."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
import torch

from grpo_env.errors import RunError
from grpo_env.trainer.batch import Batch
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.layers import SwiGLU
from grpo_env.trainer.engine.policy import load_policy
from grpo_env.trainer.loop import train
from grpo_env.trainer.optimizer import make_optimizer
from grpo_env.trainer.prompts import make_prompts
from grpo_env.trainer.reference_model import add_reference_logp
from grpo_env.trainer.update import update

from ..shortcuts import packed, roll_out


def test_recomputed_layers_have_no_dropout(model_folder: Path, make_task) -> None:
    """Although transformers recomputes only in training mode, dropout stays off."""
    task, norms = make_task(), []
    for recompute in (False, True):
        policy = load_policy(str(model_folder), device="cpu", gradient_checkpointing=recompute)
        for layer in policy.model.model.layers:
            layer.self_attn.attention_dropout = 0.5
        config = TrainConfig(group_size=4, engine={"gradient_checkpointing": recompute})
        options = {"max_new_tokens": 6, "temperature": 1.0, "seed": "0"}
        rollouts = roll_out(policy, make_prompts(task, task.examples("train")[:2]), 4, **options)
        batch = packed(policy, rollouts, config)
        calls = count_calls(policy.model.model.layers[0].input_layernorm)
        norms.append(update(policy, make_optimizer(policy, config.optimizer, config.seed), batch, config, 0).grad_norm)
        assert calls() == len(batch.micro_batches) * (1 + recompute)
    assert norms[0] == pytest.approx(norms[1], rel=1e-5)


def count_calls(layer: torch.nn.Module):
    calls: list[None] = []
    layer.register_forward_hook(lambda *_: calls.append(None))
    return lambda: len(calls)


CONFIG = TrainConfig(
    group_size=4,
    engine={"micro_batch_tokens": 4 * (8 + 6)},  # a group
    optimizer={"max_grad_norm": 1e9, "updates_per_step": 2, "learning_rate": 1e-3},
    kl={"coef": 0.1},
    loss={"clip_low": 0.0, "clip_high": 0.0},
)


def updated(model_folder: Path, task, failing: Collection[int]) -> tuple[dict[str, torch.Tensor], Batch, int]:
    """The weights after an update in which these backward passes run out of memory; its batch; and its passes."""
    policy = load_policy(str(model_folder), device="cpu")
    options = {"max_new_tokens": 6, "temperature": 1.0, "seed": "0"}
    batch = packed(policy, roll_out(policy, make_prompts(task, task.examples("train")[:2]), 4, **options), CONFIG)
    assert [len(micro.prompts) for micro in batch.micro_batches] == [4, 4]
    passes = itertools.count(1)

    def take_memory(*_: object) -> None:
        if next(passes) in failing:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")

    policy.model.lm_head.register_full_backward_pre_hook(take_memory)
    reference = {name: weight + 0.01 for name, weight in policy.snapshot().items()}
    optimizer = torch.optim.SGD(policy.trained.values(), lr=1.0)
    add_reference_logp(policy, reference, batch, CONFIG.sampling.temperature)
    update(policy, optimizer, batch, CONFIG, CONFIG.optimizer.warmup_steps)
    return policy.snapshot(), batch, next(passes) - 1


def test_out_of_memory_halves_the_micro_batches_and_nothing_else(model_folder: Path, make_task) -> None:
    """The first attempt has half of the gradient when it fails; the second update fails too."""
    task = make_task()
    plain, batch, passes = updated(model_folder, task, failing=())
    assert (batch.reduced_tokens, passes) == (None, 2 + 2)
    halved, batch, passes = updated(model_folder, task, failing=(2, 2 + 4 + 3))
    assert [len(micro.prompts) for micro in batch.micro_batches] == [1] * 8
    assert passes == 2 + 4 + 3 + 8
    assert batch.reduced_tokens == 8 + 6
    start = load_policy(str(model_folder), device="cpu").snapshot()
    for name, weight in plain.items():
        assert (weight - halved[name]).norm() < 1e-4 * (weight - start[name]).norm(), name
    with pytest.raises(RunError, match="out of memory with one completion at a time"):
        updated(model_folder, task, failing=range(100))


def test_a_run_keeps_the_smaller_micro_batches(
    make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    """A layer runs out of memory when all completions of a step pass at once."""
    sizes, forward = [], SwiGLU.forward

    def greedy(context: Any, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        if gate.requires_grad:
            sizes.append(len(gate))
            if len(gate) == sizes[0]:
                torch.empty(2**62, dtype=torch.uint8)
        return forward(context, gate, up)

    monkeypatch.setattr(SwiGLU, "forward", greedy)
    result = train(make_task(eval={"every": 0}, engine={"micro_batch_tokens": 512}), run_dir=tmp_path / "run")
    assert (
        capsys.readouterr().err.count("out of memory: micro-batches are halved; engine.micro_batch_tokens is now ") == 1
    )
    assert sizes.count(sizes[0]) == 1
    assert max(sizes[1:]) < sizes[0]
    rows = map(json.loads, (result.run_dir / "metrics.jsonl").read_text().splitlines())
    assert [row["step"] for row in rows if row["kind"] == "train"] == [0, 1, 2]


def test_gradient_accumulation_of_accelerate_has_no_effect(
    make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    """``accelerate launch`` may set it; a step is divided by engine.micro_batch_tokens alone."""
    norms, settings = [], {"steps": 1, "eval": {"every": 0, "samples": 0, "examples": 1}}
    for value in ("1", "4"):
        monkeypatch.setenv("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", value)
        run = train(make_task(**settings), run_dir=tmp_path / value).run_dir
        rows = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
        norms += [row["grad_norm"] for row in rows if row["kind"] == "train"]
        ignored = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS=4 has no effect" in capsys.readouterr().err
        assert ignored == (value == "4")
    assert norms[0] == norms[1] > 0
