"""What ``run.py`` measures. Each function gets the command's options and ``write``, which keeps a row of numbers."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from statistics import fmean, median
from typing import Any

import learning
from sides import Work, now

import trainer

Row = dict[str, Any]
Write = Callable[[Row], None]
PACKAGES = ("grpo_env", "torch", "triton", "transformers", "accelerate", "peft", "trl")
# The largest accepted difference of bfloat16: of log-probabilities in nats (mean), of gradients relative to their norm.
LOGP, GRADIENT = 0.1, 0.1
QWEN_1_5B = {  # the shape of Qwen2.5-1.5B
    "vocab_size": 151936,
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "tie_word_embeddings": True,
}
TINY = {"vocab_size": 1000, "hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 2}
RESULTS = "results.jsonl"
BOXED = str(Path(__file__).parents[2] / "examples" / "gsm8k_boxed.yaml")


def ceilings(options: Namespace, write: Write) -> None:
    """Device and versions; bytes per second of a copy, read and written, and operations per second of a product."""
    import torch

    device = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    versions = {found.name: found.version for found in distributions() if found.name in PACKAGES}
    write({"device": device, "cuda": torch.version.cuda, "python": sys.version.split()[0], **versions})
    numbers = torch.randn(2**16 if options.tiny else 2**30, device=options.device)
    target = torch.empty_like(numbers)
    write({"copy_gb_per_s": 2 * numbers.nbytes / _seconds(partial(target.copy_, numbers)) / 1e9})
    size = 2**9 if options.tiny else 2**13
    left, right = (torch.randn(size, size, device=options.device, dtype=torch.bfloat16) for _ in range(2))
    write({"bf16_tflops": 2 * size**3 / _seconds(partial(torch.matmul, left, right)) / 1e12})


def _seconds(work: Callable[[], Any]) -> float:
    """Median seconds of ten calls, after three that are not counted."""
    times = []
    for _ in range(13):
        start = now()
        work()
        times.append(now() - start)
    return median(times[3:])


def gradient(options: Namespace, write: Write) -> None:
    """Samples in bfloat16, and their gradient on both paths, against the padded path in float32 on the CPU."""
    import torch

    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.advantages import token_advantages
    from grpo_env.trainer.batch import pack_batches
    from grpo_env.trainer.config import TrainConfig
    from grpo_env.trainer.optimizer import make_optimizer
    from grpo_env.trainer.rollout import make_prompts, sample_rollouts
    from grpo_env.trainer.run.run import load_trained_policy
    from grpo_env.trainer.scored_groups import scored_groups
    from grpo_env.trainer.update import SUMS, compute_gradient

    settings = {"model": "bundled", "group_size": 4, "sampling.max_new_tokens": 48, "engine.device": options.device}
    config = TrainConfig.from_mapping({**settings, "engine.precision": "bf16"})
    policy = load_trained_policy(config)
    reference = replace(policy, model=deepcopy(policy.model).cpu(), autocast=None, shares_prompts=False)
    task = load_task("arithmetic", trainer.REPETITION)
    rollouts = sample_rollouts(policy, make_prompts(task, task.examples("train", 4)), 4, config.sampling, "gradient")

    def measure(policy: Any) -> tuple[torch.Tensor, dict[str, float]]:
        advantages = token_advantages(scored_groups(policy, rollouts, config), config)
        (batch,) = pack_batches(policy, rollouts, advantages, config, 10**6)
        sums = compute_gradient(policy, make_optimizer(policy, config.optimizer), batch, config)
        gradient = torch.cat([weight.grad.flatten().double().cpu() for weight in policy.trained.values()])
        return gradient, dict(zip(SUMS, sums.tolist(), strict=True))

    expected, sums = measure(reference)
    gap = sums["rollout_logprob_gap"] / sums["tokens"]
    write({"decoding": gap})
    errors = {}
    for name, shares in {"padded": False, "shared_prompts": True}.items():
        found, _ = measure(replace(policy, shares_prompts=shares))
        errors[name] = float((found - expected).norm() / expected.norm())
        write({name: errors[name]})
    assert policy.shares_prompts, policy.refusals
    assert gap < LOGP, "the sampler draws from another distribution"
    assert max(errors.values()) < GRADIENT, "another gradient"


def lora(options: Namespace, write: Write) -> None:
    """A few steps with LoRA; sampler and loss must give the same log-probabilities."""
    from grpo_env.trainer.run.folder import RunFiles

    with tempfile.TemporaryDirectory() as folder:
        run = _train(Path(folder) / "run", {"lora.rank": 8, **_engine(options)})
        rows = [row for row in RunFiles(run).metrics() if row["kind"] == "train"]
    for row in rows:
        write({name: row[name] for name in ("reward", "loss", "grad_norm", "rollout_logprob_gap")})
    assert max(row["rollout_logprob_gap"] for row in rows) < LOGP, "sampler and loss differ"


def resume(options: Namespace, write: Write) -> None:
    """A run of which the second half is removed and repeated, against the whole run.

    In float32: in bfloat16 rounding differs from one run to the next, as the order of sums does.
    """
    import torch
    from safetensors.torch import load_file

    from grpo_env.trainer.engine.policy import load_model
    from grpo_env.trainer.loop import resume

    with tempfile.TemporaryDirectory() as folder:
        fp32 = {**_engine(options), "engine.precision": "fp32"}
        run = _train(Path(folder) / "run", {"checkpoint.every": 2, **fp32})
        expected = load_file(run / "model" / "model.safetensors")
        shutil.rmtree(run / "model")
        shutil.rmtree(run / "checkpoints" / "step-000004")
        resume(run)
        weights = load_file(run / "model" / "model.safetensors")
    start, _ = load_model("bundled")
    moved = torch.cat([(expected[name] - weight).flatten() for name, weight in start.named_parameters()]).norm()
    apart = torch.cat([(weights[name] - weight).flatten() for name, weight in expected.items()]).norm()
    write({"apart_by_moved": float(apart / moved)})
    assert apart < 0.05 * moved, "other weights"


def _train(run: Path, settings: Row) -> Path:
    """Four steps of the bundled model; returns the run's folder."""
    from grpo_env import train

    train("arithmetic", run_dir=run, **{"steps": 4, "eval.every": 0, "eval.examples": 4, "eval.samples": 0, **settings})
    return run


def _engine(options: Namespace) -> Row:
    return {"engine.device": options.device, "engine.precision": "bf16" if options.device == "cuda" else "fp32"}


def random_model(options: Namespace, write: Write) -> None:
    """Make the model of random weights, with the bundled tokenizer, in ``OUT/random``; ``step`` trains it."""
    import torch
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    from grpo_env.trainer.engine.bundled import BUNDLED

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED)
    ids = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": None}
    config = Qwen2Config(**{**QWEN_1_5B, **ids, **(TINY if options.tiny else {})})
    with torch.device(options.device):
        model = Qwen2ForCausalLM(config).bfloat16()
    model.save_pretrained(options.out / "random")
    tokenizer.save_pretrained(options.out / "random")
    write({"parameters": model.num_parameters()})


def step(side: str, options: Namespace, write: Write) -> None:
    """A step at the shape of Qwen2.5-1.5B with random weights, in parts, after one that is not counted.

    The rate of its loss counts six operations per weight and sampled token.
    """
    prompts, group, tokens = (4, 4, 40) if options.tiny else (16, 8, 512)
    settings = {
        "model": str(options.out / "random"),
        "prompts_per_step": prompts,
        "group_size": group,
        "sampling.max_new_tokens": tokens,
        "optimizer.learning_rate": 1e-9,
        **_engine(options),
        "steps": 2,
    }
    rows = {"per_device_train_batch_size": 16}
    work = Work("arithmetic", trainer.REPETITION, settings, {"engine.micro_batch_tokens": 8192}, rows)
    measured = trainer.measure(side, work)
    weights = (options.out / "random" / "model.safetensors").stat().st_size / 2
    for row in measured["rows"]:
        rate = 6 * row["tokens"] * weights / (row["forward"] + row["backward"]) / 1e12
        write({**row, "prompt": fmean(map(len, measured["prompts"])), "loss_tflops": rate})


def _gsm8k(options: Namespace) -> Work:
    """What both sides do in stage B, with a constant learning rate after the warm-up."""
    prompts, group, tokens = (2, 2, 8) if options.tiny else (16, 16, 256)
    settings = {
        "model": options.model,
        "seed": 0,
        "prompts_per_step": prompts,
        "group_size": group,
        "sampling.max_new_tokens": tokens,
        "optimizer.learning_rate": 1e-5,
        "optimizer.warmup_steps": 2,
        "optimizer.lr_schedule": "constant",
        **_engine(options),
        "steps": learning.MAX_STEPS,
    }
    if options.tiny:
        settings["sampling.overlong_prompts"] = "drop"  # the bundled model has few positions
    task = {"dataset.path": f"{options.data}/gsm8k_{{split}}.jsonl", "train.prompts_per_step": 4 * prompts}  # of evals
    return Work(BOXED, task, settings, {"engine.micro_batch_tokens": 16384}, {"per_device_train_batch_size": 32})


def _evaluated(options: Namespace) -> Callable[[str], learning.Point]:
    """The held-out accuracy of a model, in a new process."""
    return partial(learning.evaluate_apart, sys.executable, _gsm8k(options), 4 if options.tiny else 200)


def before(options: Namespace, write: Write) -> None:
    """Held-out accuracy before training."""
    write({"steps": 0, "seconds": 0, **_evaluated(options)(options.model)})


def curve(side: str, options: Namespace, write: Write) -> None:
    """Held-out accuracy halfway and at the end of a training that, with loading and evaluations, fits its limit."""
    took = {row["measurement"]: row["took"] for row in read(options.out) if "took" in row}
    # Two evaluations, loading, and a last step that is under way.
    seconds = options.limit - 4 * took["curve/before"]
    assert seconds > 0, f"no time to train in {options.limit:.0f} s: an evaluation takes {took['curve/before']:.0f} s"
    seconds = min(seconds, 6) if options.tiny else seconds
    learning.train(side, _gsm8k(options), (seconds / 2, seconds), _evaluated(options), write)


def read(out: Path) -> list[Row]:
    """All rows that were written."""
    return [json.loads(line) for line in (out / RESULTS).read_text(encoding="utf-8").splitlines()]
