"""What a run prints at its start: what will run, on what, and where its files are."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from grpo_env.errors import install
from grpo_env.taskfile.kinds_of_golds import gold_warning

from ..config import FIELDS, TrainConfig, flatten
from ..config.presets import PRESETS
from ..engine.bundled import TASKS
from ..engine.policy import Policy
from ..engine.sharding import is_sharded
from .run import Run

ALGORITHM = ("loss", "advantage", "kl")
FALLBACKS = {
    "has_separate_head": "with the logits of all tokens at once: this model's head cannot be applied by itself",
    "shares_prompts": "each completion with its own copy of the prompt: this model cannot share it",
}
"""What a run does instead of a fast path (``Policy.refusals``)."""


def print_start(run: Run, folder: Path, start: int) -> None:
    """Print the lines; those that warn are yellow."""
    config, say = run.config, run.console.print
    for sampler in run.samplers if not start else ():
        if line := gold_warning(sampler.task, sampler.examples):
            say(f"{sampler.task.name}: {line}", "yellow")
    for sampler in run.samplers:
        weight = f", weight {sampler.weight:g}" if len(run.samplers) > 1 else ""
        say(f"task       {sampler.task.name}: {len(sampler.examples)} examples, metric {sampler.task.metric}{weight}")
    say(f"model      {model_line(run.policy)}")
    say(f"sampling   {run.engine.description}{_why_own(run)}")
    say(
        f"algorithm  {settings_text(config)}, {config.supervision} supervision, {config.steps} steps of "
        f"{config.prompts_per_step} x {config.group_size} = {config.prompts_per_step * config.group_size} completions"
    )
    if config.engine.micro_batch_tokens is None and run.policy.device.type == "cuda":
        say(f"memory     engine.micro_batch_tokens is {run.micro_batch_tokens}, by the free memory of this GPU")
    for name, why in run.policy.refusals.items():
        say(f"loss       {FALLBACKS[name]} ({why})")
    say(f"run        {folder}" + (f", resumed after {start} steps" if start else ""))


def model_line(policy: Policy) -> str:
    """Name, size, precision and device."""
    processes = policy.accelerator.num_processes
    known = f" (knows only problems like those of {TASKS[policy.name]})" if policy.name in TASKS else ""
    weights, trained = (policy.model.num_parameters(only_trainable=trainable) for trainable in (False, True))
    line = f"{policy.name}{known}: {weights:,} parameters"
    if trained < weights:
        line += f" ({trained:,} trained)"
    line += f", {'bf16' if policy.autocast else 'fp32'} on {policy.device}"
    if processes > 1:
        line += f", {processes} processes"
    return f"{line} with sharded weights" if is_sharded(policy) else line


def _why_own(run: Run) -> str:
    """Why the library's own sampler was taken, as far as the machine tells."""
    if run.config.sampling.engine != "own":
        return ""
    if run.policy.device.type != "cuda":
        return f": the device is {run.policy.device.type}"
    return ": sampling.engine=own" if find_spec("vllm") else f": vLLM is not installed ({install('vllm')})"


def settings_text(config: TrainConfig) -> str:
    """The preset, and the settings of the loss, the advantages and the KL penalty that differ from it."""
    values, preset = flatten(config.model_dump()), PRESETS.get(str(config.preset), {})
    usual = {name: preset.get(name, FIELDS[name].default) for name in values}
    changed = [name for name in values if name.partition(".")[0] in ALGORITHM and values[name] != usual[name]]
    return f"{config.preset or 'default'} settings" + (f" except {', '.join(changed)}" if changed else "")
