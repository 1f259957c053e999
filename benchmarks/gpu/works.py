"""The stage "works": what only CUDA can show, each compared with the CPU in float32.

Shapes are small, since nothing here is timed. A difference above its tolerance fails the measurement, after its numbers
were printed to the log. With ``--device cpu`` everything runs too, with stand-ins where a CPU has no equivalent.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from plan import Measurement, Setup

from trainer import REPETITION, peak

if TYPE_CHECKING:
    import torch

ROOT = Path(__file__).parent.parent.parent
OWN = "grpo_env.trainer.engine.sampling.own"
# The largest accepted difference: of log-probabilities in nats (mean), of gradients relative to their norm.
LOGP = {"fp32": 1e-4, "bf16": 0.1}
GRADIENT = {"fp32": 1e-3, "bf16": 0.1}

TRAININGS: dict[str, dict[str, Any]] = {
    "float32": {"engine.precision": "fp32"},
    "bfloat16": {"engine.precision": "bf16"},
    "prompts not shared": {"engine.share_prompts": False},
    "gradient checkpointing": {"engine.gradient_checkpointing": True},
    "KL penalty, two updates": {"kl.coef": 0.04, "optimizer.updates_per_step": 2},
    "process supervision": {"supervision": "both"},
    "values of steps by rollouts": {"supervision": "process", "step_values.rollouts": 2},
    "adamw_8bit": {"optimizer.name": "adamw_8bit"},
    "LoRA": {"lora.rank": 8},
    "vLLM": {"sampling.engine": "vllm"},
}
NEEDS = {"adamw_8bit": ("bitsandbytes",), "LoRA": ("peft",), "vLLM": ("vllm",)}


def measurements(setup: Setup) -> list[Measurement]:
    """Single parts first, then whole runs."""
    models = {"bundled": "bundled", **({"real": setup.model} if setup.model and not setup.tiny else {})}
    rows = [Measurement("works/CUDA tests", partial(cuda_tests, setup), 180, ("pytest",))]
    rows += [Measurement(f"works/attention/{kind}", partial(attention, setup, kind), 60) for kind in ("fp32", "bf16")]
    for name, model in models.items():
        for precision in ("fp32", "bf16"):
            for kind, function in (("decoding", decoding), ("gradient", gradient)):
                run = partial(function, setup, model, precision)
                rows.append(Measurement(f"works/{kind}/{name} {precision}", run, 120))
    for name, settings in TRAININGS.items():
        run = partial(training, setup, settings)
        limit = 300 if name == "vLLM" else 120  # vLLM compiles and records when it starts
        rows.append(Measurement(f"works/training/{name}", run, limit, NEEDS.get(name, ())))
    rows += [
        Measurement("works/resume", partial(resume, setup), 120),
        Measurement("works/out of memory/sampling", partial(out_of_memory, setup, "sampling"), 120),
        Measurement("works/out of memory/loss", partial(out_of_memory, setup, "loss"), 120),
        Measurement("works/torchrun", partial(launched, setup), 150),
    ]
    return rows


def check(result: dict[str, Any], *conditions: tuple[bool, str]) -> dict[str, Any]:
    """The result; raises, with it, if a condition does not hold."""
    failed = [text for holds, text in conditions if not holds]
    if failed:
        raise SystemExit(f"{'; '.join(failed)}: {json.dumps(result)}")
    return result


def cuda_tests(setup: Setup) -> dict[str, Any]:
    """The tests of the engine with those that need CUDA; what is compiled is tested by a training."""
    chosen = ["-k", "recorded"] if setup.tiny else []
    files = ["tests/trainer/engine/test_forward.py", "tests/trainer/engine/test_varlen.py"]
    files += ["tests/trainer/engine/sampling/test_sampler.py"]
    command = [sys.executable, "-P", "-m", "pytest", "-rs", "-W", "default", "-p", "no:cacheprovider", *chosen, *files]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    print(process.stdout)
    summary = process.stdout.strip().split("\n")[-1]
    return check({"summary": summary}, (process.returncode in (0, 5), "tests failed"))


def attention(setup: Setup, precision: str) -> dict[str, Any]:
    """Each of torch's kernels on a padded batch with a mask and fewer key heads, against float64 products.

    A kernel that does not take these arguments is reported by its message. The kernel that torch chooses by itself must
    be right, and so must our products.
    """
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    from grpo_env.trainer.engine.fast.attention import matmul_attention

    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
    torch.manual_seed(0)
    rows, heads, kv_heads, queries, keys, size = 4, 8, 2, 48, 64, 64
    exact = [torch.randn(rows, count, length, size, dtype=torch.float64) for count, length in
             ((heads, queries), (kv_heads, keys), (kv_heads, keys))]  # fmt: skip
    mask = torch.arange(keys) <= torch.arange(queries)[:, None] + keys - queries
    mask = mask & (torch.arange(keys) >= torch.arange(rows)[:, None, None])
    expected = matmul_attention(*exact, mask[:, None], size**-0.5, None)
    inputs, mask = [states.to(setup.device, dtype) for states in exact], mask[:, None].to(setup.device)

    def fused() -> torch.Tensor:
        return scaled_dot_product_attention(*inputs, attn_mask=mask, enable_gqa=True).transpose(1, 2)

    def error(output: torch.Tensor) -> float:
        return float((output.double().cpu() - expected).norm() / expected.norm())

    result: dict[str, Any] = {
        "default": error(fused()),
        "products": error(matmul_attention(*inputs, mask, size**-0.5, None)),
    }
    for name in ("MATH", "EFFICIENT_ATTENTION", "FLASH_ATTENTION", "CUDNN_ATTENTION"):
        try:
            with sdpa_kernel(getattr(SDPBackend, name)):
                result[name] = error(fused())
        except RuntimeError as reason:
            result[name] = str(reason).split("\n")[0][:80]
    tolerance = {"fp32": 1e-3, "bf16": 2e-2}[precision]
    return check(result, *((result[name] < tolerance, f"{name} is wrong") for name in ("default", "products")))


def load(setup: Setup, model: str, precision: str, device: str) -> Any:
    """A policy as a run would load it, without CUDA graphs."""
    from grpo_env.trainer.engine.forward import with_fast_paths, with_varlen_attention
    from grpo_env.trainer.engine.policy import load_policy

    # accelerate decides once per process whether there is a GPU, so the model is moved afterwards
    policy = load_policy(model, device="auto" if setup.device == "cuda" else "cpu", precision=precision)
    policy.model.to(device)
    return with_varlen_attention(with_fast_paths(policy, share_prompts=True))


def decoding(setup: Setup, model: str, precision: str) -> dict[str, Any]:
    """Samples of every decoder: their log-probabilities against a plain float32 forward pass on the CPU."""
    import torch

    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.engine.decoder import Decoder, FusedDecoder
    from grpo_env.trainer.engine.sampling.sampler import sample

    task, reference = load_task("arithmetic"), load(setup, model, "fp32", "cpu")
    policy = load(setup, model, precision, setup.device)
    prompts = [policy.prompt_ids(example, task.format) for example in task.examples("train", 4)]
    rows: dict[str, Any] = {}
    result: dict[str, Any] = {}
    for kind in (Decoder, FusedDecoder):
        with patch(f"{OWN}.decoder_for", lambda _, kind=kind: kind):
            rollouts = sample(policy, prompts, 4, max_new_tokens=12 if setup.tiny else 48, temperature=1.0)
        gaps = torch.cat([(logps(reference, rollout) - torch.tensor(rollout.logps)).abs() for rollout in rollouts])
        rows[kind.__name__] = [rollout.ids for rollout in rollouts]
        result[kind.__name__] = {"mean gap": float(gaps.mean()), "largest gap": float(gaps.max())}
    plain = rows["Decoder"]
    for name, ids in rows.items():
        result[name]["rows as plain"] = sum(a == b for a, b in zip(ids, plain, strict=True)) / len(plain)
    close = [(result[name]["mean gap"] < LOGP[precision], f"{name} samples from another distribution") for name in rows]
    return check(result, *close)


def logps(policy: Any, rollout: Any) -> torch.Tensor:
    """Log-probabilities of a completion by a plain forward pass."""
    import torch

    ids = torch.tensor([[*rollout.prompt_ids, *rollout.ids]])
    with torch.inference_mode():
        logits = policy.model(ids, use_cache=False).logits[0, len(rollout.prompt_ids) - 1 : -1]
    return logits.log_softmax(-1)[range(len(rollout.ids)), rollout.ids]


def gradient(setup: Setup, model: str, precision: str) -> dict[str, Any]:
    """The gradient of one batch on both paths, against the plain path in float32 on the CPU."""
    import torch

    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.advantages import token_advantages
    from grpo_env.trainer.batch import pack_batches
    from grpo_env.trainer.config import TrainConfig
    from grpo_env.trainer.optimizer import make_optimizer
    from grpo_env.trainer.rollout import make_prompts, sample_rollouts, score_rollouts
    from grpo_env.trainer.update import compute_gradient

    task = load_task("arithmetic", REPETITION)
    config = TrainConfig.from_mapping({"model": model, "group_size": 4})
    reference = replace(load(setup, model, "fp32", "cpu"), shares_prompts=False)
    prompts = make_prompts(task, task.examples("train", 4))
    sampled = sample_rollouts(reference, prompts, 4, max_new_tokens=32, temperature=1.0, seed="gradient")
    rollouts = score_rollouts(reference, sampled)

    def measure(policy: Any) -> torch.Tensor:
        advantages = token_advantages(policy, rollouts, config)
        (batch,) = pack_batches(policy, rollouts, advantages, config, 10**6)
        compute_gradient(policy, make_optimizer(policy, config.optimizer), batch, config, float(len(rollouts)))
        return torch.cat([weight.grad.flatten().double().cpu() for weight in policy.trained.values()])

    expected = measure(reference)
    policy = load(setup, model, precision, setup.device)
    result = {}
    paths = {"shared prompts": (True, False), "plain": (False, False)}
    if policy.uses_varlen:
        paths["variable-length attention"] = (True, True)
    for name, (shares, varlen) in paths.items():
        got = measure(replace(policy, shares_prompts=shares, uses_varlen=varlen))
        result[name] = float((got - expected).norm() / expected.norm())
    wrong = [(value < GRADIENT[precision], f"{name}: another gradient") for name, value in result.items()]
    refusal = policy.refusals.get("uses_varlen", "")
    takes_varlen = setup.device == "cpu" or precision == "fp32" or policy.uses_varlen
    return check(
        {**result, "refusals": dict(policy.refusals)},
        (policy.shares_prompts, "the run would not share prompts"),
        (takes_varlen, f"the run would not use variable-length attention: {refusal}"),
        *wrong,
    )


@contextmanager
def trained(setup: Setup, device: str, settings: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """A short run of the bundled model: its folder and what it printed."""
    from grpo_env import load_task, train

    small = {"prompts_per_step": 4, "group_size": 4, "steps": 2} if setup.tiny else {"steps": 4}
    common = {"engine.device": device, "eval.every": 0, "eval.examples": 4, "eval.samples": 0}
    output = io.StringIO()
    task = load_task("arithmetic", {"dataset.limit": {"train": 200, "eval": 4}})
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        with redirect_stderr(output):
            train(task, run_dir=run, **{**small, **common, **settings})
        print(output.getvalue())
        yield run, output.getvalue()


def metrics(run: Path) -> list[dict[str, Any]]:
    """The training steps of a run."""
    rows = map(json.loads, (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row["kind"] == "train"]


def first_step(run: Path) -> dict[str, float]:
    """Numbers of a run's first step."""
    return {name: metrics(run)[0][name] for name in ("reward", "length", "loss", "grad_norm", "rollout_logprob_gap")}


def training(setup: Setup, settings: dict[str, Any]) -> dict[str, Any]:
    """A few steps on the device; in float32 the first one must be that of the CPU."""
    settings = {"engine.precision": "fp32", **settings}
    with trained(setup, setup.device, settings) as (run, output):
        result = {"first step": first_step(run), "steps": len(metrics(run)), "peak_gb": peak()}
    messages = [line for line in output.splitlines() if line.startswith(("loss", "layers", "sampling", "warning"))]
    result["messages"] = messages
    own_sampler = settings.get("sampling.engine", "own") == "own"
    if settings["engine.precision"] != "fp32" or not own_sampler:
        compiled = not any("not compiled" in line for line in messages)
        return check(
            result,
            (result["first step"]["rollout_logprob_gap"] < 0.1, "sampler and loss differ"),
            (compiled, "the loss is not compiled"),
        )
    expected = result["first step on the CPU"] = first_step_on_the_cpu(setup, settings)
    same = [abs(result["first step"][name] - expected[name]) <= 2e-2 * abs(expected[name]) + 1e-4 for name in expected]
    return check(result, (all(same), "not the first step of the CPU"))


def first_step_on_the_cpu(setup: Setup, settings: dict[str, Any]) -> dict[str, float]:
    """The first step of the same run, in a process that sees no GPU."""
    code = (
        "import json, sys; from pathlib import Path; sys.path[:0] = json.loads(sys.argv[1]); import plan, works\n"
        "setup = plan.Setup(Path(), 'cpu', json.loads(sys.argv[2]))\n"
        "with works.trained(setup, 'cpu', json.loads(sys.argv[3])) as (run, _): answer = works.first_step(run)\n"
        "print(json.dumps(answer))"
    )
    folders = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
    arguments = map(json.dumps, (folders, setup.tiny, {**settings, "steps": 1}))
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-P", "-c", code, *arguments]  # -P: the package in the root folder is incomplete
    process = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return result


def resume(setup: Setup) -> dict[str, Any]:
    """A run of which the second half is removed and repeated, against the whole run."""
    import torch
    from safetensors.torch import load_file

    from grpo_env.trainer.engine.policy import load_model
    from grpo_env.trainer.loop import resume as resume_run

    # In bfloat16, rounding differs from one run to the next, as the order of sums does.
    settings = {"steps": 4, "checkpoint.every": 2, "engine.precision": "fp32"}
    with trained(setup, setup.device, settings) as (run, _):
        expected, steps = load_file(run / "model" / "model.safetensors"), metrics(run)
        shutil.rmtree(run / "model")
        shutil.rmtree(run / "checkpoints" / "step-000004")
        resume_run(run)
        weights, repeated = load_file(run / "model" / "model.safetensors"), metrics(run)
    start, _ = load_model("bundled")
    moved = torch.cat([(expected[name] - weight).flatten() for name, weight in start.named_parameters()]).norm()
    apart = torch.cat([(weights[name] - weight).flatten() for name, weight in expected.items()]).norm()
    rewards = [[row["reward"] for row in rows] for rows in (steps, repeated)]
    result = {"apart / moved": float(apart / moved), "rewards": rewards[0], "repeated": rewards[1]}
    return check(result, (len(repeated) == 4, "steps are missing"), (apart < 0.05 * moved, "other weights"))


def out_of_memory(setup: Setup, part: str) -> dict[str, Any]:
    """A step with less memory than it took the first time: it must say so, and give the same numbers."""
    shape = {"prompts_per_step": 4, "group_size": 2} if setup.tiny else {"prompts_per_step": 32, "group_size": 32}
    tokens = 1024 if part == "sampling" else 10**7  # so that this part needs the most memory
    settings = {"steps": 1, **shape, "engine.precision": "fp32", "engine.micro_batch_tokens": tokens}
    with trained(setup, setup.device, settings) as (run, _):
        expected = first_step(run)
    with limited_memory(setup, part), trained(setup, setup.device, settings) as (run, output):
        got = first_step(run)
    messages = [line for line in output.splitlines() if "out of memory" in line]
    same = all(abs(got[name] - expected[name]) <= 2e-2 * abs(expected[name]) + 1e-4 for name in ("reward", "loss"))
    result = {"messages": messages, "first step": got, "with all memory": expected}
    word = {"sampling": "while sampling", "loss": "micro-batches are halved"}[part]
    return check(result, (any(word in line for line in messages), "nothing was halved"), (same, "other numbers"))


@contextmanager
def limited_memory(setup: Setup, part: str) -> Iterator[None]:
    """Six tenths of the memory that tensors took so far, without what torch only kept for later. On a CPU, more than
    half of the rows raise an error instead.
    """
    import torch

    if setup.device == "cuda":
        used = torch.cuda.max_memory_allocated()
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(0.6 * used / torch.cuda.get_device_properties(0).total_memory)
        yield
        return
    name = {"sampling": f"{OWN}.decode_stepwise", "loss": "grpo_env.trainer.batch.completion_logp"}[part]
    module, _, attribute = name.rpartition(".")
    function, largest = getattr(importlib.import_module(module), attribute), {"sampling": 2, "loss": 4}[part]

    def limited(policy: Any, work: Any, *args: Any) -> Any:
        if len(getattr(work, "prompts", work)) > largest:
            raise torch.OutOfMemoryError("CUDA out of memory. (a stand-in)")
        return function(policy, work, *args)

    with patch(name, limited):
        yield


def launched(setup: Setup) -> dict[str, Any]:
    """``torchrun`` with one process, which on CUDA communicates by NCCL, against the same run without it.

    FSDP2 would be the same run: weights are sharded only between several processes.
    """
    settings = {"engine.precision": "fp32", "eval.every": 0, "eval.examples": 4, "eval.samples": 0, "steps": 2}
    settings |= {"engine.device": setup.device, "prompts_per_step": 4, "group_size": 4}
    arguments = [f"{name}={value}" for name, value in settings.items()]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "1"]
    torchrun += ["--local-addr", "localhost", "-m", "--"]  # the machine's own name may not resolve without a network
    cpu = {"ACCELERATE_USE_CPU": "true"} if setup.device == "cpu" else {}
    steps = []
    for launcher in ([sys.executable, "-m"], torchrun):
        with tempfile.TemporaryDirectory() as folder:
            command = [*launcher, "grpo_env", "train", "arithmetic", "--run", "run", *arguments]
            subprocess.run(command, cwd=folder, env={**os.environ, **cpu}, check=True)
            steps.append([(row["reward"], row["loss"], row["grad_norm"]) for row in metrics(Path(folder) / "run")])
    pairs = zip(sum(steps[0], ()), sum(steps[1], ()), strict=True)
    same = all(abs(a - b) <= 2e-2 * abs(a) + 1e-4 for a, b in pairs)
    return check({"alone": steps[0], "torchrun": steps[1]}, (same, "other numbers"))
