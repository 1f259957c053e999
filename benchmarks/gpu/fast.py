"""The stage "fast": what the device can do, decoding, whole training steps, and fast paths on and off.

``ours`` and ``trl`` are the sides of ``benchmarks/trainer.py``; samplers are those of ``benchmarks/decoding.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import patch

import decoding
from plan import Measurement, Setup
from sides import Work, now

import trainer

PACKAGE = "grpo_env.trainer"
QWEN_1_5B = {  # the shape of Qwen2.5-1.5B
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "tie_word_embeddings": True,
    "max_position_embeddings": 32768,
}
TINY_SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


class Shape(NamedTuple):
    """Rows of a step, and what fits into 80 GB: tokens of our micro-batch, rows of TRL's."""

    prompts: int
    group: int
    tokens: int
    micro_batch_tokens: int
    trl_rows: int


class Variant(NamedTuple):
    """A fast path switched off, or a size changed: settings, and attributes of our package that are replaced."""

    settings: Mapping[str, Any] = MappingProxyType({})
    patches: Mapping[str, Any] = MappingProxyType({})


VARIANTS = {
    "padded attention": Variant(patches={"run.setup.with_varlen_attention": lambda policy: policy}),
    "prompts not shared in the loss": Variant({"engine.share_prompts": False}),
    "2^29 logits at once": Variant(patches={"engine.logprobs.CUDA_CHUNK": 2**29}),
}


def measurements(setup: Setup) -> list[Measurement]:
    """Ceilings first, then the headline figures, then what explains them; long completions, if time is left."""
    small, large, long = Shape(64, 16, 512, 16384, 32), Shape(16, 8, 512, 4096, 8), Shape(16, 8, 2048, 16384, 8)
    if setup.tiny:
        small = large = long = Shape(4, 4, 40, 4096, 16)
    real = partial(_work, setup, setup.model)
    random = partial(_work, setup, "random")
    rows = [Measurement("fast/ceilings", partial(ceilings, setup), 60)]
    samplers = ("ours", "generate")
    for name, work, shape, needs in (("real", real, small, ("model",)), ("1.5B", random, large, ())):
        for sampler in samplers:
            run = partial(decode, setup, work(shape), sampler)
            rows.append(Measurement(f"fast/decoding/{name}/{sampler}", run, 150, needs))
        for side, limit in (("ours", 150), ("trl", 240)):
            run = partial(step, setup, side, work(shape))
            also = ("trl",) if side == "trl" else ()
            rows.append(Measurement(f"fast/step/{name}/{side}", run, limit, needs + also))
        run = partial(profile, setup, work(shape._replace(tokens=min(shape.tokens, 128))), name)
        rows.append(Measurement(f"fast/profile/{name}", run, 150, needs))
    quarter = small._replace(prompts=max(2, small.prompts // 4))
    for name, variant in {"all fast paths": Variant(), **VARIANTS}.items():
        run = partial(step, setup, "ours", real(quarter, ours=variant.settings), variant.patches)
        rows.append(Measurement(f"fast/variants/{name}", run, 120, ("model",)))
    for side, needs in (("ours", ("model",)), ("trl", ("model", "trl"))):
        rows.append(Measurement(f"fast/step/long/{side}", partial(step, setup, side, real(long)), 300, needs))
    return rows


def _work(
    setup: Setup,
    model: str | None,
    shape: Shape,
    ours: Mapping[str, Any] = MappingProxyType({}),
    trl: Mapping[str, Any] = MappingProxyType({}),
) -> Work:
    settings = {
        "model": model or "bundled",
        "prompts_per_step": shape.prompts,
        "group_size": shape.group,
        "sampling.max_new_tokens": shape.tokens,
        "engine.precision": setup.precision,
        "engine.device": setup.device,
        "optimizer.learning_rate": 1e-9,
        "steps": 2 if setup.tiny else 3,
    }
    ours = {"engine.micro_batch_tokens": shape.micro_batch_tokens, **ours}
    return Work(
        "arithmetic", trainer.REPETITION, settings, ours, {"per_device_train_batch_size": shape.trl_rows, **trl}
    )


def _with_model(setup: Setup, work: Work) -> Work:
    """The work with the folder of the random model, which is made when it is first needed."""
    if work.settings["model"] != "random":
        return work
    folder = setup.out / "models" / "random"
    if not (folder / "tokenizer_config.json").exists():
        _make_random_model(folder, setup)
    return Work(**{**vars(work), "settings": {**work.settings, "model": str(folder)}})


def _make_random_model(folder: Path, setup: Setup) -> None:
    """A Qwen2 of random weights with the tokenizer of the real model, or of the bundled one."""
    import torch
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    from grpo_env.trainer.engine.bundled import BUNDLED

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(setup.model or BUNDLED)
    shape: dict[str, Any] = TINY_SHAPE if setup.tiny else QWEN_1_5B
    vocabulary = len(tokenizer) if setup.tiny else 151936
    ids = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    config = Qwen2Config(**shape, vocab_size=vocabulary, bos_token_id=None, **ids)
    with torch.device(setup.device):
        model = Qwen2ForCausalLM(config).bfloat16()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def ceilings(setup: Setup) -> dict[str, float]:
    """What the device reaches: bytes per second of a copy, read and written, and operations per second of a product."""
    import torch

    size = 2**10 if setup.tiny else 2**13
    numbers = torch.randn(2**16 if setup.tiny else 2**30, device=setup.device)
    target = torch.empty_like(numbers)
    bandwidth = 2 * numbers.nbytes / _seconds(partial(target.copy_, numbers))
    rates = {}
    for name, dtype in (("bf16", torch.bfloat16), ("fp32", torch.float32)):
        left, right = (torch.randn(size, size, device=setup.device, dtype=dtype) for _ in range(2))
        rates[name] = 2 * size**3 / _seconds(partial(torch.matmul, left, right)) / 1e12
    return {"copy_gb_per_s": bandwidth / 1e9, **{f"{name}_tflops": rate for name, rate in rates.items()}}


def _seconds(work: Any, rounds: int = 10) -> float:
    """Median seconds of a call, after three that are not counted."""
    times = []
    for _ in range(rounds + 3):
        start = now()
        work()
        times.append(now() - start)
    return median(times[3:])


def decode(setup: Setup, work: Work, sampler: str) -> dict[str, Any]:
    """Tokens per second where all rows have the full length, and the bytes that a step must at least read."""
    work = _with_model(setup, work)
    ((_, samplers),) = decoding.measure(work, 1, ["full"], [sampler]).items()
    ((seconds, _, lengths),) = samplers[sampler]
    tokens = work.settings["sampling.max_new_tokens"]
    result = {"tokens_per_s": sum(lengths) / seconds, "seconds": seconds, "rows": len(lengths), "tokens": tokens}
    return {**result, "step_bytes": least_bytes(work, len(lengths), tokens)}


def least_bytes(work: Work, rows: int, tokens: int) -> float:
    """Bytes of weights, and of each row's own keys and values on average, in the type that is computed in.

    The prompt's are left out: rows of a group can share them.
    """
    from transformers import AutoConfig

    from grpo_env.trainer.engine.bundled import BUNDLED

    model = work.settings["model"]
    config = AutoConfig.from_pretrained(BUNDLED if model == "bundled" else model)
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    cache = 2 * config.num_hidden_layers * config.num_key_value_heads * size * rows * tokens / 2
    return (2 if work.settings["engine.precision"] == "bf16" else 4) * (count_weights(config) + cache)


def count_weights(config: Any) -> int:
    """Weights that a token is multiplied by, so of tied embeddings only one copy and of others only the head."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    tied = config.tie_word_embeddings
    embedding = 0 if tied else model.get_input_embeddings().weight.numel()
    return sum(weight.numel() for weight in model.parameters()) - embedding


def step(setup: Setup, side: str, work: Work, patches: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Medians over steps, and the operations of the loss: six per weight and completion token, without attention.

    Ours leaves out groups with equal rewards.
    """
    work = _with_model(setup, work)
    with ExitStack() as stack:
        for name, value in patches.items():
            stack.enter_context(patch(f"{PACKAGE}.{name}", value))
        measured = trainer.measure(side, work)
    summary = trainer.summarize(measured["rows"])
    prompt = sum(map(len, measured["prompts"])) / len(measured["prompts"])
    rows = work.settings["prompts_per_step"] * work.settings["group_size"]
    tokens = summary["tokens"] * (1 - summary["uniform"] if side == "ours" else 1)
    return {**summary, "prompt": prompt, "rows": rows, "loss_flops": 6 * tokens * _weights(work)}


def _weights(work: Work) -> int:
    from transformers import AutoConfig

    from grpo_env.trainer.engine.bundled import BUNDLED

    model = work.settings["model"]
    return count_weights(AutoConfig.from_pretrained(BUNDLED if model == "bundled" else model))


def profile(setup: Setup, work: Work, name: str) -> dict[str, Any]:
    """The kernels that take most of a step's time, and the calls of CUDA that take most of the CPU's, such as those
    that allocate, wait and record. The whole table of kernels goes to ``OUT/profile-NAME.txt``.

    One step, and on CUDA none of torch's own operators: each is an event, and to sort a million of them takes minutes.
    """
    import torch
    from torch.profiler import ProfilerActivity

    work = _with_model(setup, work)
    work = Work(**{**vars(work), "settings": {**work.settings, "steps": 1}})
    cuda = setup.device == "cuda"
    with torch.profiler.profile(activities=[ProfilerActivity.CUDA if cuda else ProfilerActivity.CPU]) as profiler:
        trainer.measure("ours", work)
    kernels, calls = "self_device_time_total" if cuda else "self_cpu_time_total", "self_cpu_time_total"
    averages = profiler.key_averages()
    (setup.out / f"profile-{name}.txt").write_text(averages.table(sort_by=kernels, row_limit=60), encoding="utf-8")

    def top(key: str) -> list[dict[str, Any]]:
        events = sorted(averages, key=lambda event: -getattr(event, key))[:8]
        return [{"name": event.key[:60], "ms": getattr(event, key) / 1e3, "calls": event.count} for event in events]

    return {"kernels": top(kernels), "calls": top(calls)}
