"""``grpo_env train --plan``: what a run takes on one GPU, before there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grpo_env.errors import RunError
from grpo_env.taskfile.mixture import Mixture

from ..config import TrainConfig
from ..engine.memory import MemoryPlan, plan_memory
from ..engine.policy import is_adapter

GPU = 24  # GB
PROMPT_TOKENS = 512  # where sampling.max_prompt_tokens does not say

# What is tried, in this order, where a run does not fit.
SAVERS: tuple[dict[str, Any], ...] = (
    {"engine.gradient_checkpointing": True},
    {"engine.gradient_checkpointing": True, "optimizer.name": "adamw_8bit"},
    {"engine.gradient_checkpointing": True, "lora.rank": 16},
    {"engine.gradient_checkpointing": True, "lora.rank": 16, "lora.quantize": "nf4"},
)


def plan_lines(mixture: Mixture, given: float | None, settings: Mapping[str, Any]) -> Iterator[str]:
    """The plan of a run on a GPU of so many GB, by default 24, as lines.

    Raises ``UsageError``, and ``RunError`` after the last line if the run does not fit on a GPU that is given.
    """
    gpu = given or GPU
    config = TrainConfig.from_mapping(settings, defaults=mixture.defaults)
    prompt = config.sampling.max_prompt_tokens or PROMPT_TOKENS
    plan = plan_memory(config, gpu * 1e9, prompt)
    precision = config.engine.precision.replace("auto", "bf16")
    weights = f"{plan.parameters:,} parameters ({plan.trained:,} trained)"
    yield f"plan       {config.model}: {weights}, {precision}, {gpu:g} GB"
    for phase, parts in (("always", plan.held), ("update", plan.update), ("sampling", plan.sampling)):
        for name, size in parts.items():
            yield f"{phase:10} {size / 1e9:7.2f} GB  {name}"
    if config.epochs is not None:
        lines: list[str] = []
        config.in_steps(sum(len(task.examples("train")) for task in mixture.tasks), lines.append)
        yield from lines
    rows = config.prompts_per_step * config.group_size
    sampled = f"{rows} completions of {config.sampling.max_new_tokens} tokens after prompts of {prompt}"
    if plan.fits:
        batch = f"{plan.tokens:,} tokens ({plan.per_position / 1e6:.2f} MB a token)"
        yield f"fits       micro-batches of {batch}; {sampled}"
        return
    yield f"too large  {sampled}"
    yield next(_savings(settings, mixture, gpu, prompt), "None of the settings that save memory is enough.")
    if given is not None:
        raise RunError(f"the run does not fit on a GPU of {gpu:g} GB")


def _savings(settings: Mapping[str, Any], mixture: Mixture, gpu: float, prompt: int) -> Iterator[str]:
    """The settings that make it fit; an adapter is trained as it is."""
    savers = [saver for saver in SAVERS if not (is_adapter(str(settings.get("model"))) and "lora.rank" in saver)]
    for saver in savers:
        config = TrainConfig.from_mapping({**settings, **saver}, defaults=mixture.defaults)
        plan: MemoryPlan = plan_memory(config, gpu * 1e9, prompt)
        if plan.fits:
            words = " ".join(f"{name}={str(value).lower()}" for name, value in saver.items())
            yield f"would fit  {words}: micro-batches of {plan.tokens:,} tokens"
