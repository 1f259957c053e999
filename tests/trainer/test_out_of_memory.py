"""Memory that runs out in an update: micro-batches are halved, and nothing else changes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers.models.llama.modeling_llama import LlamaMLP

from grpo_env.errors import RunError
from grpo_env.trainer.batch import Batch, MicroBatch
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.loop import train
from grpo_env.trainer.out_of_memory import with_oom_retry
from grpo_env.trainer.reference import add_reference_logp
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.update import update

from .shortcuts import packed, roll_out

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
    add_reference_logp(policy, reference, [batch], CONFIG.sampling.temperature)
    update(policy, optimizer, [batch], CONFIG, CONFIG.optimizer.warmup(CONFIG.steps))
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


def test_a_single_row_beyond_the_budget_does_not_raise_it(policy: Policy) -> None:
    """Of 2100: three rows of 100 + 3 x 600 positions, and alone one of 3000 + 2000; two of the three: 100 + 2 x 600."""

    def micro_batch(rows: int, prompt: int, length: int) -> MicroBatch:
        ids = torch.zeros(rows, length, dtype=torch.long)
        return MicroBatch([[1] * prompt] * rows, ids, ids == 0, ids == 0, ids.float(), ids.float())

    batch = Batch(1.0, [micro_batch(3, 100, 600), micro_batch(1, 3000, 2000)])
    errors = iter([MemoryError()])

    def work() -> None:
        for error in errors:
            raise error

    with_oom_retry(replace(policy, shares_prompts=True), batch, work)
    assert [len(micro.prompts) for micro in batch.micro_batches] == [1, 2, 1]
    assert batch.reduced_tokens == 1300


def test_sharded_weights_are_not_retried_and_the_advice_names_the_size(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grpo_env.trainer.out_of_memory.is_sharded", lambda policy: True)
    ids = torch.zeros(3, 600, dtype=torch.long)
    micro = MicroBatch([[1] * 100] * 3, ids, ids == 0, ids == 0, ids.float(), ids.float())

    def work() -> None:
        raise MemoryError

    line = (
        r"^process 0: out of memory with micro-batches of 2100 token positions at a time; try "
        r"engine\.micro_batch_tokens=1050, engine\.gradient_checkpointing=true"
    )
    with pytest.raises(RunError, match=line):
        with_oom_retry(policy, Batch(1.0, [micro]), work)


def test_a_run_keeps_the_smaller_micro_batches(
    make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    """A layer runs out of memory when all completions of a step pass at once."""
    sizes, forward = [], LlamaMLP.forward

    def greedy(layer: LlamaMLP, states: torch.Tensor) -> torch.Tensor:
        if states.requires_grad:
            sizes.append(states.shape[:2].numel())
            if sizes[-1] == sizes[0]:
                torch.empty(2**62, dtype=torch.uint8)
        return forward(layer, states)

    monkeypatch.setattr(LlamaMLP, "forward", greedy)
    result = train(make_task(eval={"every": 0}, engine={"micro_batch_tokens": 512}), run_dir=tmp_path / "run")
    assert (
        capsys.readouterr().err.count("out of memory: micro-batches are halved; engine.micro_batch_tokens is now ") == 1
    )
    assert sizes.count(sizes[0]) == 1
    assert max(sizes[1:]) < sizes[0]
    rows = map(json.loads, (result.run_dir / "metrics.jsonl").read_text().splitlines())
    assert [row["step"] for row in rows if row["kind"] == "train"] == [0, 1, 2]
