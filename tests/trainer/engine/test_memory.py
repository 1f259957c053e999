"""Settings that save memory do not change results."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from torch.utils._python_dispatch import TorchDispatchMode

from grpo_env.errors import RunError, UsageError, memory_ran_out
from grpo_env.trainer.commands.evaluate import run_eval
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.decoder import Decoder
from grpo_env.trainer.engine.forward import with_fast_paths
from grpo_env.trainer.engine.policy import Policy, checkpoint_activations, load_policy
from grpo_env.trainer.engine.sampling.own import OwnEngine
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import sample
from grpo_env.trainer.loop import train
from grpo_env.trainer.optimizer import make_optimizer
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.update import update

from ..shortcuts import loss_of, packed, roll_out


def test_recomputed_layers_have_no_dropout(model_folder: Path, make_task) -> None:
    """In evaluation mode, where transformers would not recompute."""
    task, norms = make_task(), []
    for recompute in (False, True):
        policy = load_policy(str(model_folder), device="cpu")
        if recompute:
            checkpoint_activations(policy.model)
        for layer in policy.model.model.layers:
            layer.self_attn.attention_dropout = 0.5
        config = TrainConfig(group_size=4, engine={"gradient_checkpointing": recompute})
        options = {"max_new_tokens": 6, "temperature": 1.0, "seed": "0"}
        rollouts = roll_out(policy, make_prompts(task, task.examples("train")[:2]), 4, **options)
        batch = packed(policy, rollouts, config)
        calls = count_calls(policy.model.model.layers[0].input_layernorm)
        norms.append(update(policy, make_optimizer(policy, config.optimizer), [batch], config, 0)["grad_norm"])
        assert calls() == len(batch.micro_batches) * (1 + recompute)
    assert norms[0] == pytest.approx(norms[1], rel=1e-5)


def test_a_model_that_cannot_recompute_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Linear does not support engine\.gradient_checkpointing"):
        checkpoint_activations(torch.nn.Linear(1, 1))


def count_calls(layer: torch.nn.Module):
    calls: list[None] = []
    layer.register_forward_hook(lambda *_: calls.append(None))
    return lambda: len(calls)


class CountCasts(TorchDispatchMode):
    """Counts copies of tensors of one shape to bfloat16."""

    def __init__(self, shape: torch.Size) -> None:
        super().__init__()
        self.shape, self.count = shape, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        to_bf16 = (kwargs or {}).get("dtype") == torch.bfloat16
        self.count += func == torch.ops.aten._to_copy.default and args[0].shape == self.shape and to_bf16
        return func(*args, **(kwargs or {}))


def test_the_heads_weight_is_cast_once_for_all_chunks(
    policy: Policy, make_task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the forward and the backward pass of a micro-batch; the gradient is that of one chunk, up to rounding."""
    task = make_task()
    policy = replace(policy, has_separate_head=True, autocast=torch.bfloat16)
    options = {"max_new_tokens": 6, "temperature": 1.0, "seed": "0"}
    batch = packed(policy, roll_out(policy, make_prompts(task, task.examples("train")[:2]), 4, **options), CONFIG)
    micro = batch.micro_batches[0]
    micro.advantages = torch.randn(micro.ids.shape, generator=torch.Generator().manual_seed(0))
    weight, gradients = policy.model.lm_head.weight, []
    for chunk in (2**23, 2 * policy.vocab_size):  # all tokens at once, and two
        monkeypatch.setattr("grpo_env.trainer.engine.logprobs.CHUNK", chunk)
        policy.model.zero_grad()
        with CountCasts(weight.shape) as casts:
            loss_of(policy, micro, CONFIG)[0].backward()
        assert casts.count == 1
        gradients.append(weight.grad.clone())
    assert (gradients[1] - gradients[0]).norm() < 0.01 * gradients[0].norm()


CONFIG = TrainConfig(
    group_size=4,
    engine={"micro_batch_tokens": 4 * (8 + 6)},  # a group
    optimizer={"max_grad_norm": 1e9, "updates_per_step": 2, "learning_rate": 1e-3},
    kl={"coef": 0.1},
    loss={"clip_low": 0.0, "clip_high": 0.0},
)


def limit_rows(monkeypatch: pytest.MonkeyPatch, rows: int) -> list[int]:
    """Makes decoding run out of memory with more rows, at its third token; returns the rows of each first step."""
    first_steps, append = [], Decoder.append

    def greedy(decoder: Decoder, tokens: torch.Tensor) -> None:
        count = decoder.width - getattr(decoder, "start", decoder.width)
        if not count:
            decoder.start = decoder.width
            first_steps.append(len(tokens))
        if count == 2 and len(tokens) > rows:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
        append(decoder, tokens)

    monkeypatch.setattr(Decoder, "append", greedy)
    return first_steps


def test_out_of_memory_while_sampling_halves_the_prompts_and_changes_no_completion(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = OwnEngine()
    policy = replace(with_fast_paths(policy), rollout_engine=engine)
    vars(policy)["end_ids"] = []
    prompts = [[40, 41, 42 + number] for number in range(6)]
    options = {"max_new_tokens": 8, "temperature": 1.0}
    expected = sample(policy, SamplingRequest(prompts, 3, **options))
    with monkeypatch.context() as patch:
        first_steps = limit_rows(patch, 8)
        done: list[int] = []
        actual = sample(policy, SamplingRequest(prompts, 3, **options), lambda number, _: done.append(number))
        assert actual == expected
        assert sorted(done) == list(range(6))
        assert first_steps == [18, 9, 3, 3, 3, 3, 3, 3]
        assert engine.rows == 3
        assert sample(policy, SamplingRequest(prompts[:2], 3, **options)) == expected[:6]
        assert first_steps[8:] == [3, 3]
    with monkeypatch.context() as patch:
        limit_rows(patch, 2)
        with pytest.raises(RunError, match="out of memory with the 3 completions of one prompt"):
            sample(policy, SamplingRequest(prompts, 3, **options))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("CUDA out of memory. Tried to allocate 20.00 MiB.", True),
        ("CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in https://docs.nvidia.com", True),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", True),
        ("CUDA error: an illegal memory access was encountered", False),
    ],
)
def test_errors_that_mean_that_memory_ran_out(message: str, expected: bool) -> None:
    """By torch's allocator, and by CUDA itself."""
    assert memory_ran_out(RuntimeError(message)) is expected


def test_a_run_samples_fewer_rows_after_memory_ran_out(
    make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    rows = []
    for name in ("plain", "limited"):
        if name == "limited":
            first_steps = limit_rows(monkeypatch, 7)
        run = train(make_task(), run_dir=tmp_path / name).run_dir
        rows.append([json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()])
    assert capsys.readouterr().err.count("out of memory while sampling: ") == 1
    assert first_steps.count(12) == 1  # 3 prompts x 4 completions
    assert [row["reward"] for row in rows[0]] == pytest.approx([row["reward"] for row in rows[1]], rel=1e-4)


def test_an_evaluation_remembers_that_memory_ran_out(make_task, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its batches of 12 rows the first alone is tried as a whole."""
    said = io.StringIO()
    first_steps = limit_rows(monkeypatch, 7)
    run_eval(make_task(), samples=6, console=Console(file=said, width=200))
    assert first_steps.count(12) == 1 < len(first_steps)
    assert said.getvalue().count("out of memory while sampling") == 1


def test_gradient_accumulation_of_accelerate_has_no_effect(
    make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``accelerate launch`` may set it; a step is divided by engine.micro_batch_tokens alone."""
    norms, settings = [], {"steps": 1, "eval": {"every": 0, "samples": 0, "examples": 1}}
    for value in ("1", "4"):
        monkeypatch.setenv("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", value)
        run = train(make_task(**settings), run_dir=tmp_path / value).run_dir
        rows = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
        norms += [row["grad_norm"] for row in rows if row["kind"] == "train"]
    assert norms[0] == norms[1] > 0
