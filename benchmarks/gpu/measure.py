"""What ``run.py`` measures. Each function gets the setup and ``write``, which keeps a row of numbers at once."""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

import learning
from sides import SIDES, Work, now

from trainer import REPETITION, StepRecorder

Write = Callable[..., None]
# The largest accepted difference of bfloat16: of log-probabilities in nats (mean), of gradients relative to their norm.
LOGP, GRADIENT = 0.1, 0.1
QWEN_1_5B = {  # the shape of Qwen2.5-1.5B
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
}
BOXED = str(Path(__file__).parents[2] / "examples" / "gsm8k_boxed.yaml")
TINY_SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


@dataclass(frozen=True)
class Setup:
    """Options of the command. ``model`` is that of stage B, and ``data`` the folder with GSM8K.

    ``limit`` are the seconds that this measurement has.
    """

    out: Path
    device: str = "cuda"
    tiny: bool = False
    model: str = "bundled"
    data: Path | None = None
    limit: float = 60

    @property
    def precision(self) -> str:
        """What a run on this device computes in."""
        return "bf16" if self.device == "cuda" else "fp32"


def ceilings(setup: Setup, write: Write) -> None:
    """What the device reaches: bytes per second of a copy, read and written, and operations per second of a product."""
    import torch

    size = 2**9 if setup.tiny else 2**13
    numbers = torch.randn(2**16 if setup.tiny else 2**30, device=setup.device)
    target = torch.empty_like(numbers)
    write(copy_gb_per_s=2 * numbers.nbytes / _seconds(partial(target.copy_, numbers)) / 1e9)
    left, right = (torch.randn(size, size, device=setup.device, dtype=torch.bfloat16) for _ in range(2))
    write(bf16_tflops=2 * size**3 / _seconds(partial(torch.matmul, left, right)) / 1e12)


def _seconds(work: Callable[[], Any], rounds: int = 10) -> float:
    """Median seconds of a call, after three that are not counted."""
    times = []
    for _ in range(rounds + 3):
        start = now()
        work()
        times.append(now() - start)
    return median(times[3:])


def check(*conditions: tuple[bool, str]) -> None:
    """Fail with what does not hold."""
    if failed := [text for holds, text in conditions if not holds]:
        raise SystemExit("; ".join(failed))


def load(setup: Setup, precision: str, device: str) -> Any:
    """The bundled policy as a run would load it."""
    from grpo_env.trainer.engine.forward import with_fast_paths
    from grpo_env.trainer.engine.policy import load_policy

    # accelerate decides once per process whether there is a GPU, so the model is moved afterwards
    policy = load_policy("bundled", device="auto" if setup.device == "cuda" else "cpu", precision=precision)
    policy.model.to(device)
    return with_fast_paths(policy)


def gradient(setup: Setup, write: Write) -> None:
    """The gradient of one batch in bfloat16 on every path, against the plain path in float32 on the CPU."""
    import torch

    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.advantages import token_advantages
    from grpo_env.trainer.batch import pack_batches
    from grpo_env.trainer.config import SamplingConfig, TrainConfig
    from grpo_env.trainer.optimizer import make_optimizer
    from grpo_env.trainer.rollout import make_prompts, sample_rollouts
    from grpo_env.trainer.scored_groups import scored_groups
    from grpo_env.trainer.update import compute_gradient

    task = load_task("arithmetic", REPETITION)
    config = TrainConfig.from_mapping({"model": "bundled", "group_size": 4})
    reference = replace(load(setup, "fp32", "cpu"), shares_prompts=False)
    prompts = make_prompts(task, task.examples("train", 4))
    rollouts = sample_rollouts(reference, prompts, 4, SamplingConfig(max_new_tokens=32), "gradient")

    def measure(policy: Any) -> torch.Tensor:
        advantages = token_advantages(scored_groups(policy, rollouts, config), config)
        (batch,) = pack_batches(policy, rollouts, advantages, config, 10**6)
        compute_gradient(policy, make_optimizer(policy, config.optimizer), batch, config)
        return torch.cat([weight.grad.flatten().double().cpu() for weight in policy.trained.values()])

    expected = measure(reference)
    policy = load(setup, "bf16", setup.device)
    write(refusals=dict(policy.refusals))
    errors = {}
    for name, shares in {"plain": False, "shared prompts": True}.items():
        got = measure(replace(policy, shares_prompts=shares))
        errors[name] = float((got - expected).norm() / expected.norm())
        write(**{name: errors[name]})
    check(
        (policy.shares_prompts, "the run would not share prompts"),
        *((error < GRADIENT, f"{name}: another gradient") for name, error in errors.items()),
    )


def decoding(setup: Setup, write: Write) -> None:
    """Samples of our own sampler: their log-probabilities against a plain float32 forward pass on the CPU."""
    import torch

    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
    from grpo_env.trainer.engine.sampling.sampler import sample

    task, reference, policy = load_task("arithmetic"), load(setup, "fp32", "cpu"), load(setup, "bf16", setup.device)
    prompts = [policy.prompt_ids(example, task.format) for example in task.examples("train", 4)]

    def logps(rollout: Any) -> torch.Tensor:
        ids = torch.tensor([[*rollout.prompt_ids, *rollout.ids]])
        with torch.inference_mode():
            logits = reference.model(ids, use_cache=False).logits[0, len(rollout.prompt_ids) - 1 : -1]
        return logits.log_softmax(-1)[range(len(rollout.ids)), rollout.ids]

    rollouts = sample(policy, SamplingRequest(prompts, 4, max_new_tokens=12 if setup.tiny else 48, temperature=1.0))
    found = torch.cat([(logps(rollout) - torch.tensor(rollout.logps)).abs() for rollout in rollouts])
    write(mean=float(found.mean()), largest=float(found.max()))
    check((float(found.mean()) < LOGP, "the sampler draws from another distribution"))


@contextmanager
def trained(setup: Setup, settings: dict[str, Any]) -> Iterator[Path]:
    """A short run of the bundled model; what it printed goes to the log."""
    from grpo_env import load_task, train

    small = {"prompts_per_step": 4, "group_size": 4} if setup.tiny else {}
    common = {"engine.device": setup.device, "eval.every": 0, "eval.examples": 4, "eval.samples": 0}
    output = io.StringIO()
    task = load_task("arithmetic", {"dataset.limit": {"train": 200, "eval": 4}})
    with tempfile.TemporaryDirectory() as folder:
        with redirect_stderr(output):
            train(task, run_dir=Path(folder) / "run", **{**small, **common, **settings})
        print(output.getvalue())
        yield Path(folder) / "run"


def metrics(run: Path) -> list[dict[str, Any]]:
    """The training steps of a run."""
    rows = map(json.loads, (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row["kind"] == "train"]


def lora(setup: Setup, write: Write) -> None:
    """A few steps with LoRA; sampler and loss must give the same log-probabilities."""
    with trained(setup, {"lora.rank": 8, "engine.precision": setup.precision, "steps": 2 if setup.tiny else 4}) as run:
        for row in metrics(run):
            write(**{name: row[name] for name in ("reward", "loss", "grad_norm", "rollout_logprob_gap")})
        check((all(row["rollout_logprob_gap"] < LOGP for row in metrics(run)), "sampler and loss differ"))


def resume(setup: Setup, write: Write) -> None:
    """A run of which the second half is removed and repeated, against the whole run.

    In float32: in bfloat16 rounding differs from one run to the next, as the order of sums does.
    """
    import torch
    from safetensors.torch import load_file

    from grpo_env.trainer.engine.policy import load_model
    from grpo_env.trainer.loop import resume as resume_run

    with trained(setup, {"steps": 4, "checkpoint.every": 2, "engine.precision": "fp32"}) as run:
        expected = load_file(run / "model" / "model.safetensors")
        shutil.rmtree(run / "model")
        shutil.rmtree(run / "checkpoints" / "step-000004")
        resume_run(run)
        weights, steps = load_file(run / "model" / "model.safetensors"), len(metrics(run))
    start, _ = load_model("bundled")
    moved = torch.cat([(expected[name] - weight).flatten() for name, weight in start.named_parameters()]).norm()
    apart = torch.cat([(weights[name] - weight).flatten() for name, weight in expected.items()]).norm()
    write(apart_by_moved=float(apart / moved), steps=steps)
    check((steps == 4, "steps are missing"), (bool(apart < 0.05 * moved), "other weights"))


def random_model(setup: Setup, write: Write) -> None:
    """Make the model of random weights, with the bundled tokenizer, in ``OUT/random``; ``step`` trains it."""
    import torch
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    from grpo_env.trainer.engine.bundled import BUNDLED

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED)
    shape: dict[str, Any] = TINY_SHAPE if setup.tiny else QWEN_1_5B
    ids = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": None}
    shape |= {"tie_word_embeddings": True, "vocab_size": len(tokenizer) if setup.tiny else 151936}
    with torch.device(setup.device):
        model = Qwen2ForCausalLM(Qwen2Config(**shape, **ids)).bfloat16()
    model.save_pretrained(setup.out / "random")
    tokenizer.save_pretrained(setup.out / "random")
    write(parameters=sum(weight.numel() for weight in model.parameters()))


class WritingRecorder(StepRecorder):
    """Writes the numbers of each step but the first, and the rate of its loss: six operations per weight and token."""

    def __init__(self, group_size: int, write: Write) -> None:
        super().__init__(group_size, "wall")
        self.write = write

    def on_step(self, model: Any) -> bool:
        stop = super().on_step(model)
        if len(self.rows) > 1:
            row = self.rows[-1]
            operations = 6 * row["tokens"] * sum(weight.numel() for weight in model.parameters())
            rate = operations / max(row["forward"] + row["backward"], 1e-9) / 1e12
            self.write(**row, prompt=fmean(map(len, self.prompts)), loss_tflops=rate)
        return stop


def step(side: str, setup: Setup, write: Write) -> None:
    """Steps at the shape of Qwen2.5-1.5B with random weights, in parts."""
    prompts, group, tokens = (4, 4, 40) if setup.tiny else (16, 8, 512)
    settings = {
        "model": str(setup.out / "random"),
        "prompts_per_step": prompts,
        "group_size": group,
        "sampling.max_new_tokens": tokens,
        "optimizer.learning_rate": 1e-9,
        "engine.precision": setup.precision,
        "engine.device": setup.device,
        "steps": 3,
    }
    rows = {"per_device_train_batch_size": 16}
    work = Work("arithmetic", REPETITION, settings, {"engine.micro_batch_tokens": 8192}, rows)
    SIDES[side](work, WritingRecorder(group, write))


def _gsm8k(setup: Setup) -> Work:
    """What both sides do in stage B, with a constant learning rate after the warm-up."""
    prompts, group, tokens = (2, 2, 8) if setup.tiny else (16, 16, 256)
    settings = {
        "model": setup.model,
        "seed": 0,
        "prompts_per_step": prompts,
        "group_size": group,
        "sampling.max_new_tokens": tokens,
        "optimizer.learning_rate": 1e-5,
        "optimizer.warmup_steps": 2,
        "optimizer.lr_schedule": "constant",
        "engine.precision": setup.precision,
        "engine.device": setup.device,
        "steps": learning.MAX_STEPS,
    }
    if setup.tiny:
        settings["sampling.overlong_prompts"] = "drop"  # the bundled model has few positions
    task = {"dataset.path": f"{setup.data}/gsm8k_{{split}}.jsonl", "train.prompts_per_step": 4 * prompts}  # of evals
    return Work(BOXED, task, settings, {"engine.micro_batch_tokens": 16384}, {"per_device_train_batch_size": 32})


def _examples(setup: Setup) -> int:
    return 4 if setup.tiny else 200


def before(setup: Setup, write: Write) -> None:
    """Held-out accuracy before training, and the seconds that it took, by which ``curve`` plans."""
    start = time.perf_counter()
    point = learning.evaluate_apart(sys.executable, _gsm8k(setup), _examples(setup), setup.model)
    write(steps=0, seconds=0, **point)
    (setup.out / "evaluation_seconds").write_text(f"{time.perf_counter() - start}", encoding="utf-8")


def curve(side: str, setup: Setup, write: Write) -> None:
    """Held-out accuracy halfway and at the end of a training that, with loading and evaluations, fits its limit."""
    file = setup.out / "evaluation_seconds"
    evaluation = float(file.read_text(encoding="utf-8")) if file.exists() else 30.0
    seconds = setup.limit - 4 * evaluation  # two evaluations, loading, and a last step that is under way
    seconds = min(seconds, 6) if setup.tiny else seconds
    check((seconds > 0, f"no time for training: {setup.limit:.0f} s, of which an evaluation takes {evaluation:.0f}"))
    work = _gsm8k(setup)
    evaluated = partial(learning.evaluate_apart, sys.executable, work, _examples(setup))
    learning.train(side, work, (seconds / 2, seconds), evaluated, lambda point: write(**point))
